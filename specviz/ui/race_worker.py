"""Runs a race in its own thread: the first round is drawn live, later rounds are only counted.

The lanes run one after the other, so live they are not on one clock; the replay afterwards is.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, Protocol, cast

from specviz.comparison import Comparison, Lane, Refused, Tick
from specviz.config import RunRequest
from specviz.events import Drafted, Finished, Prefilled, Verified
from specviz.ui import race, worker
from specviz.ui.protocol import Record
from specviz.ui.registry import Item, Run
from specviz.ui.worker import Follower

NEWS_S = 0.2  # how often a later round tells how far it is


class Engine(Protocol):
    """The functions of ``specviz.comparison`` that a race needs; tests hand in a stand-in."""

    def lanes_of(self, requests: Sequence[RunRequest]) -> tuple[Lane, ...]:
        """Who runs, plain decoding first, refusals with a reason."""

    def compare_stream(
        self, lanes: Sequence[Lane], *, repeats: int, stop: Any, status: Any
    ) -> Iterator[Tick]:
        """All runs of all rounds, event by event."""


class Race:
    """One race of one session.

    Args:
        run: where the live view is kept, with one lane per method.
        lanes: who runs.
        infos: what the viewer has to know of each lane.
        repeats: number of rounds.
    """

    def __init__(
        self, run: Run, lanes: Sequence[Lane], infos: Sequence[dict[str, Any]], repeats: int
    ) -> None:
        self.run = run
        self.lanes = tuple(lanes)
        self.infos = list(infos)
        self.repeats = repeats
        self.ticks: list[Tick] = []
        self._tokens = 0
        self._told_at = 0.0

    def start(self, engine: Engine) -> None:
        """Begin to run, in a thread of its own."""
        worker.spawn(self.run, lambda: self._decode(engine))

    def comparison(self) -> Comparison:
        """The table of what has finished so far."""
        return Comparison.of(self.lanes, self.ticks)

    def _decode(self, engine: Engine) -> None:
        stream = engine.compare_stream(
            self.lanes,
            repeats=self.repeats,
            stop=self.run.stop,
            status=lambda text: self.run.put(Item("status", value=text)),
        )
        with closing(cast(Generator[Tick, None, None], stream)) as ticks:
            for tick in ticks:
                self._take(tick)

    def _take(self, tick: Tick) -> None:
        event = tick.event
        if not isinstance(event, Drafted):
            self.ticks.append(tick)
        if isinstance(event, Refused):
            self._tell(tick, refused=event.reason)
            return
        if isinstance(event, Prefilled):
            self._tokens = 0
            self._tell(tick, n=0)
        if tick.repeat == 0:
            self.run.put(Item("event", tick.lane, event))
        if isinstance(event, Verified):
            self._tokens += len(event.committed_ids)
            if tick.repeat and time.monotonic() - self._told_at > NEWS_S:
                self._tell(tick, n=self._tokens)
        if isinstance(event, Finished):
            self._tell(tick, n=self._tokens, done=True)

    def _tell(self, tick: Tick, **more: Any) -> None:
        self._told_at = time.monotonic()
        self.run.put(Item("round", tick.lane, {"r": tick.repeat + 1} | more))


class RaceFollower(Follower):
    """Drains a race's inbox: like a run's, with the rounds of each lane."""

    def __init__(self, race_: Race) -> None:
        super().__init__(race_.run, race_.infos, lambda run: self._outcomes())
        self.race = race_

    def end(self) -> str:
        """How the race ended: done, cancelled or error."""
        if self.error:
            return "error"
        return "cancelled" if self.run.stop.is_set() else "done"

    def _outcomes(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """What is known of a race that was stopped; one that is over is shown anew."""
        if self.end() != "cancelled":
            return
        found = self.race.comparison()
        for row in found.rows if len(found.rows) > 1 else ():
            yield row.lane.index, race.outcome(row, found.repeats)

    def _take(self, item: Item) -> None:
        if item.kind == "round":
            self._add(["round", item.lane, item.value], item.at)
        else:
            super()._take(item)

    def _add(self, record: Record, at: float | None = None) -> None:
        if not self._opened:
            self._opened = True
            given = self.race
            self.outbox.add(race.race_record(given.lanes, self.lanes, repeats=given.repeats))
        super()._add(record, at)
