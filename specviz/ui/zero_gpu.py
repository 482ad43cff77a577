"""Runs on a ZeroGPU Space of Hugging Face, where a GPU is lent for seconds: one GPU task per click.

The package ``spaces`` runs a function that it has decorated in a process forked off the server,
with a GPU. Arguments and yields are pickled, so requests and events cross, and no event, lock or
model does. That process finds the models where the server has placed them at start; what it loads
and learns itself stays there, and the server relies on none of it. Stop: the server closes the
task's generator, which ends the run in the other process after the step at hand.

Outside ZeroGPU nothing of this is used. It follows the source of ``spaces`` 0.51, is tested with a
stand-in for it, and was tried by hand with the package itself, an invented scheduler and no GPU; it
has never run on ZeroGPU.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol, cast

import gradio as gr

from specviz import comparison, runs
from specviz.comparison import Lane, Tick
from specviz.config import RunRequest
from specviz.errors import GpuError, SpecvizError
from specviz.events import Event
from specviz.ui.source import Source, in_turn

MAX_DURATION_S = 60  # never ask for more; what a visitor has left per day may be less than two
START_S = 5.0  # the process, the weights on their way to the GPU, the warm-up
LOAD_S = 15.0  # more for each model that was not placed at start
PLAIN_TOKEN_S = 0.03  # guessed, for models of some billion parameters
DRAFTED_TOKEN_S = 0.045  # the same where every draft is rejected

Status = Callable[[str], None]

logger = logging.getLogger(__name__)


class Job(Protocol):
    """What a GPU task does; crosses over by pickle."""

    @property
    def requests(self) -> Sequence[RunRequest]:
        """All runs of the task, in any order."""

    def stream(self, status: Status) -> Iterator[Any]:
        """Do it, in the task."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Requests, one after the other."""

    requests: tuple[RunRequest, ...]

    def stream(self, status: Status) -> Iterator[tuple[int, Event]]:
        """Each event with the place of its request."""
        yield from in_turn(runs, self.requests, stop=threading.Event(), status=status)


@dataclass(frozen=True, slots=True)
class Race:
    """All rounds of a race."""

    lanes: tuple[Lane, ...]
    repeats: int

    @property
    def requests(self) -> Sequence[RunRequest]:
        """One per lane that runs and round."""
        return [lane.request for lane in self.lanes if lane.refusal is None] * self.repeats

    def stream(self, status: Status) -> Iterator[Tick]:
        """The ticks of ``comparison.compare_stream``."""
        yield from comparison.compare_stream(self.lanes, repeats=self.repeats, status=status)


def work(job: Job) -> Generator[tuple[str, Any], None, None]:
    """The one GPU task: yields ("item", …), ("status", text), and ("error", …) for a refusal.

    A status is told together with the item after it, because only yields cross. A refusal is
    yielded, because ``spaces`` keeps no more of an exception than the name of its class.
    """
    told: list[str] = []
    try:
        with closing(cast(Generator[Any, None, None], job.stream(told.append))) as stream:
            for item in stream:
                if told:
                    yield "status", told[-1]
                    told.clear()
                yield "item", item
    except SpecvizError as error:
        yield "error", error


class ZeroRuns:
    """``specviz.runs`` on ZeroGPU: lists are answered here, whatever decodes is a GPU task.

    Args:
        gpu: ``spaces.GPU``, the decorator. It wants to be applied, and models to be on the GPU,
            before the page is launched, and in the thread that imported ``spaces``.
    """

    def __init__(self, gpu: Callable[..., Callable[..., Any]]) -> None:
        self.placed = frozenset(model for model in runs.at_hand() if placed(model))
        self.engine = SimpleNamespace(
            lanes_of=comparison.lanes_of, compare_stream=self.compare_stream
        )
        self._task = gpu(work, duration=self.duration)

    def __getattr__(self, name: str) -> Any:
        return getattr(runs, name)

    def warm_up(self) -> None:
        """Nothing: models were loaded at start, and no first run in the server would help."""

    def duration(self, job: Job) -> int:
        """Seconds to ask for: an estimate that is rather too long than too short."""
        models = {m for request in job.requests for m in (request.target, request.draft) if m}
        seconds = START_S + LOAD_S * len(models - self.placed)
        for request in job.requests:
            each = PLAIN_TOKEN_S if request.method == "plain" else DRAFTED_TOKEN_S
            seconds += each * request.config.max_new_tokens
        return min(MAX_DURATION_S, math.ceil(seconds))

    def stream(
        self,
        request: RunRequest,
        *,
        stop: threading.Event | None = None,
        status: Status | None = None,
    ) -> Iterator[Event]:
        """As ``runs.stream``; a run that is stopped ends without ``Finished``."""
        runs.stream(request)  # refuses at once what needs no model
        stop, status = stop or threading.Event(), status or (lambda text: None)
        return only_events(self.in_turn([request], stop=stop, status=status))

    def in_turn(
        self, requests: Sequence[RunRequest], *, stop: threading.Event, status: Status
    ) -> Generator[tuple[int, Event], None, None]:
        """All requests in one GPU task; what must be downloaded is, before it is asked for."""
        for request in requests:
            runs.fetch(request, status=status)
        yield from self._items(Runs(tuple(requests)), stop, status)

    def compare_stream(
        self, lanes: Sequence[Lane], *, repeats: int, stop: threading.Event, status: Status
    ) -> Iterator[Tick]:
        """As ``comparison.compare_stream``, all rounds in one GPU task."""
        for lane in lanes:
            with suppress(SpecvizError):  # the task meets it again, and makes it the lane's refusal
                runs.fetch(lane.request, status=status)
        yield from self._items(Race(tuple(lanes), repeats), stop, status)

    def _items(self, job: Job, stop: threading.Event, status: Status) -> Iterator[Any]:
        status("Waiting for a GPU")
        with closing(self._task(job)) as items:
            while not stop.is_set():
                try:
                    kind, value = next(items)
                except StopIteration:
                    return
                except Exception as error:
                    raise refusal(error, self.duration(job)) from error
                if kind == "error":
                    raise value
                if kind == "status":
                    status(value)
                else:
                    yield value


def only_events(stream: Generator[tuple[int, Event], None, None]) -> Iterator[Event]:
    """The events without their places; closing it closes the stream."""
    with closing(stream):
        for _, event in stream:
            yield event


def placed(model_id: str) -> bool:
    """Load a model where GPU tasks look for it; without it a task loads its own, and is slower."""
    try:
        runs.preload(model_id)
    except Exception:
        logger.exception("%s could not be placed; GPU tasks load it themselves", model_id)
        return False
    return True


def refusal(error: Exception, seconds: int) -> GpuError:
    """What ``spaces`` raised, as a sentence; it says in a ``gr.Error`` what a visitor may read."""
    reason = type(error).__name__
    if isinstance(error, gr.Error):
        reason = str(error.message).strip(" .")
    else:
        logger.error("the GPU task failed", exc_info=error)
    return GpuError(
        f"ZeroGPU did not finish this run ({reason}); {seconds} seconds of a GPU were asked for; "
        "choose fewer tokens, methods or rounds, or try again later"
    )


def here() -> bool:
    """Whether this is a ZeroGPU Space, as ``spaces`` decides it."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def source() -> Source:
    """What the page runs on: ``specviz.runs`` itself, but on ZeroGPU."""
    if not here():
        return runs
    try:
        import spaces  # before anything touches CUDA: it changes torch
    except ImportError:
        logger.error("this is a ZeroGPU Space without the package spaces: runs have no GPU")
        return runs
    return cast(Source, ZeroRuns(spaces.GPU))
