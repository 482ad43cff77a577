"""Errors that specviz shows to its users, and nothing else.

    SpecvizError
    ├── SettingError      a setting is out of range or of the wrong kind
    ├── PromptError       the prompt cannot be decoded from (empty, too long, not text)
    ├── MethodError       the method does not exist or does not serve this target
    ├── ModelError        a model cannot be found, loaded or used
    │   └── PairError     target and draft model do not fit each other
    ├── TraceError        a trace file is broken, too new or inconsistent
    ├── BusyError         the models are in use by another run
    └── GpuError          a shared GPU was not granted, or not for long enough

Every message follows one formula: what was wrong (with its value), what is allowed, what to do.
``ValueError`` and ``TypeError`` are for callers, ``assert`` is for our own invariants; only the
classes below reach the page and the command line.
"""


class SpecvizError(Exception):
    """Base of all errors whose message is a sentence for the user."""


class SettingError(SpecvizError):
    """A setting is out of range or of the wrong kind."""


class PromptError(SpecvizError):
    """The prompt cannot be decoded from."""


class MethodError(SpecvizError):
    """The method does not exist, or cannot run on the chosen target."""


class ModelError(SpecvizError):
    """A model cannot be found, loaded or used."""


class PairError(ModelError):
    """Target and draft model do not fit each other."""


class TraceError(SpecvizError):
    """A trace file is broken, too new, or contradicts itself."""


class BusyError(SpecvizError):
    """The models are in use by another run."""


class GpuError(SpecvizError):
    """A shared GPU was not granted, or not for long enough."""
