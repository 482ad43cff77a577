"""A trace as the same stream of events that the run yielded, with or without its pacing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from specviz.events import Drafted, Event, Prefilled, Verified
from specviz.trace.decode import drafted_of, finished_of, prefilled_of, steps_of

MAX_WAIT_S = 10.0


def events_of(document: Mapping[str, Any]) -> Iterator[Event]:
    """The events of a validated document: Prefilled, (Drafted, Verified)*, Finished."""
    yield prefilled_of(document)
    for step in steps_of(document):
        yield drafted_of(step)
        yield step
    yield finished_of(document)


def paced(
    events: Iterable[Event], *, speed: float = 1.0, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Event]:
    """The events at the pace of the run.

    Args:
        events: recorded events.
        speed: 1 = as fast as the run was, 2 = twice as fast; above 0.
        sleep: waits for so many seconds; never asked for more than ``MAX_WAIT_S`` at a time.

    Raises:
        ValueError: the speed is not above 0.
    """
    if not speed > 0:
        raise ValueError(f"speed must be above 0, got {speed!r}")
    return _paced(events, speed, sleep)


def duration_s(event: Event) -> float:
    """Seconds of the run that passed right before this event."""
    if isinstance(event, Prefilled):
        return event.prefill_s
    if isinstance(event, Drafted):
        return event.draft_s
    if isinstance(event, Verified):
        return event.verify_s + event.other_s
    return 0.0


def _paced(
    events: Iterable[Event], speed: float, sleep: Callable[[float], None]
) -> Iterator[Event]:
    for event in events:
        wait_s = min(duration_s(event) / speed, MAX_WAIT_S)
        if wait_s > 0:
            sleep(wait_s)
        yield event
