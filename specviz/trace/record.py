"""``Trace``: a recorded run, as a frozen wrapper around its JSON document."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from specviz.events import Event, Verified
from specviz.trace import replay, store
from specviz.trace.decode import steps_of
from specviz.trace.encode import document_of


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded run.

    Attributes:
        document: the JSON document, unknown fields included; read it, do not change it.
        steps: its steps as events.

    ``Trace.from_document`` and ``Trace.load`` validate the shape; whether the parts agree with
    each other is verified by ``specviz.trace.check``.
    """

    document: Mapping[str, Any]
    steps: tuple[Verified, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", steps_of(self.document))

    @classmethod
    def from_events(
        cls, events: Iterable[Event], baseline: Mapping[str, Any] | None = None
    ) -> Trace:
        """Record a run; see ``encode.document_of``.

        Raises:
            ValueError: there is no ``Prefilled`` event with a header.
        """
        return cls(document_of(events, baseline))

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Trace:
        """Wrap a copy of a parsed document of this or an older version.

        Raises:
            TraceError: it is no trace that this program knows.
        """
        return cls(store.accept(document))

    @classmethod
    def loads(cls, text: str | bytes, *, max_bytes: int = store.MAX_BYTES) -> Trace:
        """Read a trace from JSON text.

        Raises:
            TraceError: it is no trace that this program knows, or too large.
        """
        return cls(store.loads(text, max_bytes=max_bytes))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_bytes: int = store.MAX_BYTES) -> Trace:
        """Read a trace from a file.

        Raises:
            TraceError: the file cannot be read, is too large or no trace that this program knows.
        """
        return cls(store.load(path, max_bytes=max_bytes))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a file, unknown fields included."""
        store.save(self.document, path)

    def dumps(self) -> str:
        """The trace as JSON text in ASCII, ending with a newline."""
        return store.dumps(self.document)

    def events(self) -> Iterator[Event]:
        """The run as the event stream that it was: Prefilled, (Drafted, Verified)*, Finished."""
        return replay.events_of(self.document)

    @property
    def output_ids(self) -> tuple[int, ...]:
        """All new ids."""
        return tuple(self.document["output"]["ids"])

    @property
    def text(self) -> str:
        """The new text."""
        return str(self.document["output"]["text"])

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The figures of the run, by the names of the metrics table."""
        figures: Mapping[str, Any] = self.document["metrics"]
        return figures

    @property
    def baseline(self) -> Mapping[str, Any] | None:
        """The plain run beside it, None where there was none."""
        beside: Mapping[str, Any] | None = self.document.get("baseline")
        return beside
