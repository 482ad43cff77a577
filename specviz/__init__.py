"""specviz: assisted (speculative) decoding, shown step by step.

    for event in specviz.stream("speculative", prompt="...", gamma=4): ...
    trace = specviz.run("early_exit", prompt="...", exit_layer=2)
    table = specviz.compare(["speculative", "prompt_lookup"], prompt="...")

Importing this package loads neither torch nor gradio; the first run does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from specviz.config import DecodeConfig, MethodCard, RunRequest
from specviz.errors import SpecvizError
from specviz.events import Event
from specviz.trace import Trace
from specviz.version import __version__

if TYPE_CHECKING:
    from specviz.comparison import Comparison

__all__ = [
    "DecodeConfig",
    "MethodCard",
    "RunRequest",
    "SpecvizError",
    "Trace",
    "__version__",
    "compare",
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

    request = runs.request_of(method, prompt, **options)
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

    request = runs.request_of(method, prompt, **options)
    return runs.run(request, baseline=baseline, stop=stop_event, status=status)


def compare(
    methods: Sequence[str],
    prompt: str,
    *,
    repeats: int = 3,
    stop_event: threading.Event | None = None,
    status: Callable[[str], None] | None = None,
    **options: Any,
) -> Comparison:
    """Decode a prompt with several methods and plainly, interleaved, and compare the runs.

    Args:
        methods: keys, such as ``["speculative", "prompt_lookup"]``; plain decoding is added.
        prompt, stop_event, status, options: as in ``stream``.
        repeats: how often each method runs; speeds are medians with their spread.

    Raises:
        SpecvizError: the request is refused, or none of the methods can run on the target.
    """
    from specviz import comparison

    return comparison.compare(
        methods, prompt, repeats=repeats, stop_event=stop_event, status=status, **options
    )
