"""The outcome of a comparison, as a pure function of its ticks.

Speed-ups pair a run with the plain run of the same round, so a slow minute of the machine cancels.
The median is that of a run that took place (the lower one of two); everything else of a row is of
that run, so that its figures and its sentence fit together. Runs that did not finish do not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any

from specviz.comparison.lanes import Lane
from specviz.events import Drafted, Event, Finished, Prefilled, Verified
from specviz.metrics import PlainTiming, explain_speed, speed_sentence
from specviz.trace import Trace, baseline_of, verdict_text

Rounds = Mapping[int, tuple[Event, ...]]  # repeat -> events of a finished run


@dataclass(frozen=True, slots=True)
class Refused:
    """A lane turned out not to run; ``reason`` is a sentence for the user."""

    reason: str


@dataclass(frozen=True, slots=True)
class Tick:
    """One event of the race: of which lane, in which round (0, 1, …)."""

    lane: int
    repeat: int
    event: Event | Refused


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle one, the lowest and the highest of some measured values."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The spread of at least one value; the median is one of them."""
        return cls(median_low(values), min(values), max(values))


@dataclass(frozen=True, slots=True)
class Row:
    """One method of the table.

    Attributes:
        lane: which one.
        trace: the run with the median speed-up, the plain run of its round as its baseline.
        tokens_per_second: new tokens over decoding time, prompt processing apart.
        speedup: plain seconds per token over those of this method, round by round.
        same_ids: whether all its runs gave the same ids; None for sampled or single runs.
    """

    lane: Lane
    trace: Trace
    tokens_per_second: Spread
    speedup: Spread
    same_ids: bool | None

    @property
    def verdict(self) -> str:
        """``identical``, or the first difference from plain decoding, in words."""
        assert self.trace.baseline is not None
        return verdict_text(self.trace.baseline, not self.lane.request.config.greedy)

    @property
    def sentence(self) -> str:
        """Why it is faster or slower, in words."""
        plain = PlainTiming.of_baseline(self.trace.baseline)
        return speed_sentence(explain_speed(self.trace.steps, plain))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Methods beside plain decoding.

    Attributes:
        lanes: all that were asked for, plain first.
        rows: those that ran, in the order of the lanes.
        refused: label -> reason of those that could not.
        repeats: rounds of which plain decoding finished.
    """

    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]
    refused: Mapping[str, str]
    repeats: int

    @classmethod
    def of(cls, lanes: Sequence[Lane], ticks: Iterable[Tick]) -> Comparison:
        """The table of all runs among ``ticks`` that have finished."""
        refused = {lane.label: lane.refusal for lane in lanes if lane.refusal is not None}
        runs: dict[int, dict[int, list[Event]]] = defaultdict(lambda: defaultdict(list))
        for tick in ticks:
            if isinstance(tick.event, Refused):
                refused[lanes[tick.lane].label] = tick.event.reason
            elif not isinstance(tick.event, Drafted):
                runs[tick.lane][tick.repeat].append(tick.event)
        done = {lane: _finished(rounds) for lane, rounds in runs.items()}
        plain = done.get(0, {})
        rows = tuple(
            row
            for lane in lanes
            if lane.label not in refused
            and (row := _row(lane, done.get(lane.index, {}), plain)) is not None
        )
        return cls(tuple(lanes), rows, refused, len(plain))

    @property
    def plain(self) -> Row | None:
        """The baseline, None if no round of it has finished."""
        return next((row for row in self.rows if row.lane.index == 0), None)

    def row(self, label: str) -> Row:
        """The row of a lane.

        Raises:
            KeyError: it did not run.
        """
        found = next((row for row in self.rows if row.lane.label == label), None)
        if found is None:
            raise KeyError(label)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; times in seconds, sizes in bytes, unknown figures None."""
        from specviz.comparison.document import document_of

        return document_of(self)


def _finished(rounds: Mapping[int, Sequence[Event]]) -> dict[int, tuple[Event, ...]]:
    """The rounds that came to their own end, with at least one token."""
    return {
        repeat: tuple(events)
        for repeat, events in rounds.items()
        if isinstance(events[0], Prefilled)
        and isinstance(events[-1], Finished)
        and events[-1].finish_reason not in ("cancelled", "error")
        and events[-1].ids
    }


def _row(lane: Lane, rounds: Rounds, plain: Rounds) -> Row | None:
    both = sorted(rounds.keys() & plain.keys())
    per_token = {repeat: _seconds_per_token(rounds[repeat]) for repeat in both}
    speedups = {r: _seconds_per_token(plain[r]) / per_token[r] for r in both if per_token[r]}
    if not speedups:
        return None
    speedup = Spread.of(list(speedups.values()))
    shown = next(repeat for repeat in both if speedups.get(repeat) == speedup.median)
    known = lane.request.config.greedy and len(both) > 1
    return Row(
        lane=lane,
        trace=Trace.from_events(rounds[shown], baseline_of(plain[shown], _ids(rounds[shown]))),
        tokens_per_second=Spread.of([1 / per_token[repeat] for repeat in speedups]),
        speedup=speedup,
        same_ids=len({_ids(rounds[repeat]) for repeat in both}) == 1 if known else None,
    )


def _ids(events: Sequence[Event]) -> tuple[int, ...]:
    last = events[-1]
    assert isinstance(last, Finished)
    return last.ids


def _seconds_per_token(events: Sequence[Event]) -> float:
    seconds = sum(event.seconds for event in events if isinstance(event, Verified))
    return seconds / len(_ids(events))
