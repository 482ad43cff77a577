"""Runs a request in its own thread and hands its messages to the page, a few per second.

Gradio calls ``next()`` of one generator from changing threads and closes it on the event loop, so
decoding has a thread of its own, and closing the generator only sets the stop event. The thread
starts in a copy of the caller's context, which carries a visitor's quota on ZeroGPU.
"""

from __future__ import annotations

import contextvars
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from specviz.config import RunRequest
from specviz.errors import SpecvizError
from specviz.events import Drafted, Finished
from specviz.ui.outbox import Outbox
from specviz.ui.protocol import (
    LaneEncoder,
    Record,
    compare_record,
    notice,
    open_record,
)
from specviz.ui.registry import Item, Run
from specviz.ui.source import Source, in_turn

WINDOW_S = 0.055  # at most 18 messages per second
MANY_WINDOW_S = 0.1  # and 10 where more than two lanes are drawn, which costs the page more
HEARTBEAT_S = 0.5  # how long a closed page may have to wait for its generator
GIVE_UP_S = 1.5  # after Stop, a run that hangs is left alone after this time
INTERNAL = ("internal", "")

Compare = Callable[[Run], Iterable[tuple[int, Mapping[str, Any]]]]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Update:
    """What the page should show next; None means unchanged; ``last`` marks the end of the run."""

    message: str | None = None
    status: str | None = None
    last: bool = False


def start(run: Run, source: Source, requests: Sequence[RunRequest]) -> Run:
    """Decode ``requests`` one after the other, each into its own lane of ``run``."""
    return spawn(run, lambda: _decode(run, source, tuple(requests)))


def spawn(run: Run, work: Callable[[], None]) -> Run:
    """Do the work of ``run`` in a thread of its own, in a copy of the caller's context."""
    context = contextvars.copy_context()
    run.thread = threading.Thread(
        target=context.run,
        args=(_guarded, run, work),
        name=f"specviz-{run.id[:8]}",
        daemon=True,
    )
    run.thread.start()
    return run


def _decode(run: Run, source: Source, requests: Sequence[RunRequest]) -> None:
    events = in_turn(source, requests, stop=run.stop, status=lambda text: _status(run, text))
    with closing(events):
        for lane, event in events:
            run.put(Item("event", lane, event))


def _guarded(run: Run, work: Callable[[], None]) -> None:
    try:
        work()
    except SpecvizError as error:
        run.put(Item("error", value=(type(error).__name__, str(error))))
    except Exception:
        logger.exception("run %s failed", run.id[:8])
        run.put(Item("error", value=INTERNAL))
    finally:
        run.done.set()
        run.put(None)


def _status(run: Run, text: str) -> None:
    run.put(Item("status", value=text))


class Follower:
    """Drains a run's inbox into messages and status lines.

    Nothing is sent before the first event, so that a refused run leaves the screen as it is.

    Args:
        run: the run, already started.
        lanes: what each lane is, for the viewer: key, title, and whether it is lossless.
        compare: called once all lanes are done; gives figures per lane beside the plain run.
    """

    def __init__(
        self, run: Run, lanes: Sequence[Mapping[str, Any]], compare: Compare | None = None
    ) -> None:
        self.run = run
        self.lanes = lanes
        self.compare = compare
        self.outbox = Outbox(run.id)
        self.encoders = [LaneEncoder(lane) for lane in range(run.num_lanes)]
        self.error: tuple[str, str] | None = None
        self.status: str | None = None
        self.run.followed = True
        self._opened = self._closed = False
        self._waiting: tuple[int, Drafted] | None = None
        self._window = WINDOW_S if run.num_lanes <= 2 else MANY_WINDOW_S
        self._sent_at = 0.0
        self._stopped_at: float | None = None

    def updates(self) -> Iterator[Update]:
        """Yield at most about 18 updates per second, and one each half second without news.

        Closing this generator stops the run; a viewer that is still there can ask for its end.
        """
        try:
            over = False
            while not over:
                over = self._collect()
                yield self._update()
            yield from self._last()
        finally:
            self.run.stop.set()
            if self._opened and not self._closed:
                self._close()
            self.run.told.set()

    def end(self) -> str:
        """How the run ended: done, cancelled or error."""
        if self.error:
            return "error"
        ends = [e for lane in self.run.events for e in lane if isinstance(e, Finished)]
        cancelled = any(event.finish_reason == "cancelled" for event in ends)
        complete = len(ends) == self.run.num_lanes and self.run.done.is_set()
        return "done" if complete and not cancelled else "cancelled"

    def _collect(self) -> bool:
        """Take what is there until the next message is due; True once the run is over."""
        due = self._sent_at + self._window
        deadline = due if self.outbox else time.monotonic() + HEARTBEAT_S
        while (left := deadline - time.monotonic()) > 0 or not self.outbox:
            try:
                item = self.run.inbox.get(timeout=max(0.0, left))
            except queue.Empty:
                break
            if item is None:
                return True
            self._take(item)
            deadline = min(deadline, due)
        return self._hangs()

    def _take(self, item: Item) -> None:
        if item.kind == "error":
            self.error = item.value
        elif item.kind == "status":
            self.status = item.value
        elif isinstance(item.value, Drafted):
            self._waiting = (item.lane, item.value)  # worth drawing only while it waits
        else:
            self._waiting = None
            self._add(self.encoders[item.lane].encode(item.value), item.at)

    def _add(self, record: Record, at: float | None = None) -> None:
        if not self._opened:
            self._opened = True
            self.outbox.add(open_record(kind="live", lanes=self.lanes))
        self.outbox.add(record, at)

    def _update(self) -> Update:
        if self._waiting is not None:
            lane, event = self._waiting
            self._add(self.encoders[lane].encode(event))
            self._waiting = None
        status, self.status = self.status, None
        if not self.outbox:
            return Update(status=status)
        self._sent_at = time.monotonic()
        seq, message = self.outbox.seq, self.outbox.pop()
        self.run.remember(seq, message)
        return Update(message, status)

    def _last(self) -> Iterator[Update]:
        if not self._opened:
            yield Update(notice(*self.error, time.time()) if self.error else None, last=True)
            return
        if self.compare is not None and not self.error:
            for lane, figures in self.compare(self.run):
                self._add(compare_record(lane, figures))
        *messages, last = self._close()
        for message in messages:
            yield Update(message)
        yield Update(last, last=True)

    def _close(self) -> list[str]:
        self._closed = True
        seq = self.outbox.seq
        messages = self.outbox.close(self.end(), self.error)
        for number, message in enumerate(messages):
            self.run.remember(seq + number, message)
        return messages

    def _hangs(self) -> bool:
        """True for a run that was stopped a while ago and still has not ended."""
        if not self.run.stop.is_set():
            return False
        self._stopped_at = self._stopped_at or time.monotonic()
        return time.monotonic() - self._stopped_at > GIVE_UP_S
