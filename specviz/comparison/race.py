"""The race: every lane in every round, interleaved, so that a slow minute hits all of them alike.

A generator of ticks; the page draws them as they come, ``compare`` collects them. Each run waits
for its own turn at the models, is warmed up outside its timing, and draws from its own seed, so no
lane depends on its place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, cast

from specviz import runs
from specviz.comparison.lanes import Lane, lanes_of, with_hint
from specviz.comparison.result import Comparison, Refused, Tick
from specviz.config import RunRequest, whole
from specviz.errors import MethodError, SettingError, SpecvizError
from specviz.events import Event
from specviz.plans import request_of

DEFAULT_REPEATS, MAX_REPEATS = 3, 100
Status = Callable[[str], None]


def compare_stream(
    lanes: Sequence[Lane],
    *,
    repeats: int = DEFAULT_REPEATS,
    stop: threading.Event | None = None,
    status: Status | None = None,
) -> Iterator[Tick]:
    """Run all lanes ``repeats`` times, event by event.

    Args:
        lanes: of ``lanes_of``; those with a refusal are left out.
        repeats: rounds, 1 to 100. Round r starts with lane r, the others follow in order.
        stop: once set, the run in progress ends as cancelled within one step, and no other starts.
        status: is told in words what takes time.

    Yields:
        ``Tick(lane, repeat, event)`` with the events of ``runs.stream``. A lane that turns out
        not to run, once its models are loaded, gets one tick with ``Refused`` and no more runs.

    Raises:
        SpecvizError: plain decoding is refused.
    """
    whole("repeats", repeats, 1, MAX_REPEATS)
    tell = status or _silent
    refused = {lane.index for lane in lanes if lane.refusal is not None}
    for repeat in range(repeats):
        start = repeat % len(lanes)
        for lane in (*lanes[start:], *lanes[:start]):
            if lane.index in refused:
                continue
            tell(f"Round {repeat + 1} of {repeats}: {lane.label}")
            for tick in _run(lane, repeat, stop, tell):
                yield tick
                if isinstance(tick.event, Refused):
                    refused.add(lane.index)
            if stop is not None and stop.is_set():
                return


def compare(
    methods: Sequence[str],
    prompt: str,
    *,
    repeats: int = DEFAULT_REPEATS,
    stop_event: threading.Event | None = None,
    status: Status | None = None,
    **options: Any,
) -> Comparison:
    """Run methods and plain decoding on one prompt and compare them.

    Args:
        methods: keys, such as ``["speculative", "prompt_lookup"]``.
        prompt: the text to continue.
        repeats: how often each is run, interleaved.
        stop_event, status: as in ``compare_stream``.
        **options: the long options of ``python -m specviz compare``, with underscores.

    Raises:
        SpecvizError: the prompt, an option or a method is no good, or no method can run.
    """
    if isinstance(methods, str):
        raise SettingError(
            f"methods must be a list of keys, got the text {methods!r:.60}; write [{methods!r:.60}]"
        )
    lanes = lanes_of([request_of(method, prompt, **options) for method in methods])
    ticks = compare_stream(lanes, repeats=repeats, stop=stop_event, status=status)
    found = Comparison.of(lanes, ticks)
    check_any(found)
    return found


def check_any(comparison: Comparison) -> None:
    """Refuse a comparison of which only the baseline is left.

    Raises:
        MethodError: no method that was asked for can run; holds all reasons.
    """
    reasons = comparison.refused
    if reasons and len(reasons) == len(comparison.lanes) - 1:
        raise MethodError("none of the methods can run: " + " · ".join(reasons.values()))


def _run(lane: Lane, repeat: int, stop: threading.Event | None, tell: Status) -> Iterator[Tick]:
    try:
        stream = runs.stream(_seeded(lane.request, repeat), stop=stop, status=tell)
        with closing(cast(Generator[Event, None, None], stream)) as events:
            for event in events:
                yield Tick(lane.index, repeat, event)
    except SpecvizError as error:
        if lane.index == 0:
            raise
        yield Tick(lane.index, repeat, Refused(with_hint(lane.request, str(error))))


def _seeded(request: RunRequest, repeat: int) -> RunRequest:
    """Sampled runs draw anew in each round, all lanes of a round from the same seed."""
    seed = (request.config.seed + repeat) % 2**63
    return replace(request, config=replace(request.config, seed=seed))


def _silent(text: str) -> None:
    """Status lines that nobody reads."""
