"""Invented runs that stream side by side and do not end: more than a real race asks of the page."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from specviz.comparison import Lane, Tick
from specviz.config import MAX_NEW_TOKENS, RunRequest
from specviz.events import Event, Verified
from tests.ui.fake_race import FakeEngine, RacingRuns
from tests.ui.fake_runs import FakeRuns


class AbreastEngine(FakeEngine):
    """A race whose lanes take turns, a step each."""

    def compare_stream(
        self,
        lanes: Sequence[Lane],
        *,
        repeats: int,
        stop: threading.Event,
        status: Callable[[str], None],
    ) -> Iterator[Tick]:
        """All lanes at ``source.rate`` steps per second each, in one round."""
        runs = [FakeRuns(num_steps=self.source.num_steps) for _ in lanes]
        asked = [endless(lane.request) for lane in lanes]
        streams = [run.stream(one, stop=stop) for run, one in zip(runs, asked, strict=True)]
        begin, turns = time.perf_counter(), 0
        while not stop.is_set() and turns < self.source.num_steps * len(lanes):
            place = turns % len(lanes)
            for event in streams[place]:
                yield Tick(lanes[place].index, 0, event)
                if isinstance(event, Verified):
                    break
            turns += 1
            due = begin + turns / (self.source.rate * len(lanes))
            time.sleep(max(0.0, due - time.perf_counter()))


class AbreastRuns(RacingRuns):
    """Invented runs of ``num_steps`` steps, whatever number of tokens was asked for."""

    @property
    def engine(self) -> Any:
        return AbreastEngine(self)

    def stream(self, request: RunRequest, **options: Any) -> Iterator[Event]:
        return super().stream(endless(request), **options)


def endless(request: RunRequest) -> RunRequest:
    """The request without a limit that the invented runs obey."""
    return replace(request, config=replace(request.config, max_new_tokens=MAX_NEW_TOKENS))
