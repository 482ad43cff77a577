"""specviz: assisted (speculative) decoding, shown step by step.

    for event in specviz.stream("speculative", prompt="...", gamma=4): ...
    trace = specviz.run("early_exit", prompt="...", exit_layer=2)

Importing this package loads neither torch nor gradio; the first run does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from specviz.config import DecodeConfig, MethodCard, RunRequest
from specviz.errors import SpecvizError
from specviz.events import Event
from specviz.trace import Trace
from specviz.version import __version__

__all__ = [
    "DecodeConfig",
    "MethodCard",
    "RunRequest",
    "SpecvizError",
    "Trace",
    "__version__",
    "run",
    "stream",
]


def stream(
    method: str,
    prompt: str,
    *,
    stop_event: threading.Event | None = None,
    status: Callable[[str], None] | None = None,
    **options: Any,
) -> Iterator[Event]:
    """Decode a prompt, event by event.

    Args:
        method: key of a method, such as ``"speculative"``.
        prompt: the text to continue.
        stop_event: once set, the run ends as cancelled within one step.
        status: is told in words what takes time.
        **options: the long options of ``python -m specviz run``, with underscores.

    Raises:
        SpecvizError: the request is refused; the message is a sentence for the user.
    """
    from specviz import runs

    request = RunRequest.of(method, prompt, **options)
    return runs.stream(request, stop=stop_event, status=status)


def run(
    method: str,
    prompt: str,
    *,
    baseline: bool = False,
    stop_event: threading.Event | None = None,
    status: Callable[[str], None] | None = None,
    **options: Any,
) -> Trace:
    """Decode a prompt to the end.

    Args:
        method, prompt, stop_event, status, options: as in ``stream``.
        baseline: decode the same prompt plainly too and put the comparison into the trace.

    Raises:
        SpecvizError: the request is refused; the message is a sentence for the user.
    """
    from specviz import runs

    request = RunRequest.of(method, prompt, **options)
    return runs.run(request, baseline=baseline, stop=stop_event, status=status)
