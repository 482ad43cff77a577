"""A stand-in for ``specviz.comparison`` over invented runs: lanes, and rounds of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from specviz.comparison import Lane, Refused, Tick
from specviz.config import RunRequest
from specviz.errors import PromptError
from tests.ui.fake_runs import FakeRuns

REFUSED = "refused"  # a prompt with this word makes prompt lookup turn out not to run


@dataclass
class FakeEngine:
    """The functions of ``specviz.comparison`` that a race needs."""

    source: FakeRuns

    def lanes_of(self, requests: Sequence[RunRequest]) -> tuple[Lane, ...]:
        if not requests[0].prompt.strip():
            raise PromptError("the prompt is empty; type some text")
        return tuple(Lane(i, one.method, one) for i, one in enumerate(requests))

    def compare_stream(
        self,
        lanes: Sequence[Lane],
        *,
        repeats: int,
        stop: threading.Event,
        status: Callable[[str], None],
    ) -> Iterator[Tick]:
        for repeat in range(repeats):
            start = repeat % len(lanes)
            for lane in (*lanes[start:], *lanes[:start]):
                if lane.label == "prompt_lookup" and REFUSED in lane.request.prompt:
                    if repeat == 0:
                        yield Tick(lane.index, repeat, Refused("no cache that can be cropped"))
                    continue
                status(f"Round {repeat + 1} of {repeats}: {lane.label}")
                for event in self.source.stream(lane.request, stop=stop, status=status):
                    yield Tick(lane.index, repeat, event)
                if stop.is_set():
                    return


@dataclass
class RacingRuns(FakeRuns):
    """Invented runs that can also race."""

    @property
    def engine(self) -> Any:
        return FakeEngine(self)
