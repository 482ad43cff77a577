"""Runs that the server knows: their messages, their events, and who may stop them.

A run is found by an unguessable id, because server functions of a component carry no session.
Runs are dropped a while after their end, when their session closes, or when they are too many;
nothing here is shared between sessions.
"""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from specviz.events import Event

TTL_S = 3600.0
MAX_RUNS = 200
MAX_BYTES = 256 * 2**20
RING_BYTES = 4 * 2**20
MAX_REPLY_BYTES = 256_000


@dataclass(slots=True)
class Item:
    """Something that the decode thread reports at a time: an event, a status, or an error."""

    kind: str
    lane: int = 0
    value: Any = None
    at: float = field(default_factory=time.time)


@dataclass(slots=True, eq=False)
class Run:
    """One run of one session, with one lane per method.

    Attributes:
        owner: the session that started it, "" for runs that come with the page and stay.
        stop: set to end the run within one step.
        done: set by the decode thread as its last act.
        followed: whether a page reads it, and ``told``: set once that page has its last message.
        inbox: what the decode thread reports, ``None`` at the end.
        events: all events, per lane, for figures and for the trace.
        traces: finished traces, per lane, once they have been asked for.
        baselines: comparison with the plain lane, per lane.
        kind: ``live``; ``recorded`` for a run that comes with the project; ``loaded`` for a file.
        name: what a shelved run is called.
        outcome: the comparison that a race came to, None for other runs.
    """

    owner: str
    num_lanes: int = 1
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    stop: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    followed: bool = False
    told: threading.Event = field(default_factory=threading.Event)
    inbox: queue.Queue[Item | None] = field(default_factory=queue.Queue)
    events: list[list[Event]] = field(init=False)
    traces: dict[int, Any] = field(default_factory=dict)
    baselines: dict[int, Any] = field(default_factory=dict)
    kind: str = "live"
    name: str = ""
    outcome: Any = None
    thread: threading.Thread | None = None
    touched: float = field(default_factory=time.monotonic)
    num_bytes: int = 0
    _ring: deque[tuple[int, str]] = field(default_factory=deque)
    _ring_bytes: int = 0

    def __post_init__(self) -> None:
        self.events = [[] for _ in range(self.num_lanes)]

    def put(self, item: Item | None) -> None:
        """Report from the decode thread."""
        if item is not None and item.kind == "event":
            self.events[item.lane].append(item.value)
        self.inbox.put(item)

    def remember(self, seq: int, message: str) -> None:
        """Keep a sent message for viewers that missed it; the oldest ones go first."""
        self._ring.append((seq, message))
        self._ring_bytes += len(message)
        self.num_bytes += 2 * len(message)  # the message, and about as much for its events
        self.touched = time.monotonic()
        while self._ring_bytes > RING_BYTES and len(self._ring) > 1:
            self._ring_bytes -= len(self._ring.popleft()[1])

    def since(self, seq: int) -> list[str] | None:
        """Messages from ``seq`` on, as many as fit an answer; None if the first is gone."""
        kept = list(self._ring)
        if not kept or seq < kept[0][0]:
            return None
        answer, size = [], 0
        for number, message in kept:
            if number < seq:
                continue
            size += len(message)
            if answer and size > MAX_REPLY_BYTES:
                break
            answer.append(message)
        return answer


class Registry:
    """All runs of this process."""

    def __init__(self, *, ttl_s: float = TTL_S, max_runs: int = MAX_RUNS) -> None:
        self.ttl_s = ttl_s
        self.max_runs = max_runs
        self._runs: dict[str, Run] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, run: Run) -> Run:
        """Keep a run, and drop what is too old or too much."""
        with self._lock:
            self._runs[run.id] = run
        self.sweep()
        return run

    def get(self, run_id: object) -> Run | None:
        """The run of this id, None if it is unknown or dropped; any argument is allowed."""
        return self._runs.get(run_id) if isinstance(run_id, str) else None

    def owned(self, owner: str) -> list[Run]:
        """Runs of one session."""
        with self._lock:
            return [run for run in self._runs.values() if run.owner == owner]

    def stop(self, owner: str, wait_s: float = 2.0) -> bool:
        """End the runs of a session; True if there were any, and all of them ended in time.

        A run has ended when the page that reads it has been told so.
        """
        ends = [run.told if run.followed else run.done for run in self.owned(owner)]
        running = [end for end in ends if not end.is_set()]
        for run in self.owned(owner):
            run.stop.set()
        until = time.monotonic() + wait_s
        ended = [end.wait(max(0.0, until - time.monotonic())) for end in running]
        return bool(ended) and all(ended)

    def forget(self, owner: str) -> None:
        """A session has closed: end its runs and drop them."""
        runs = self.owned(owner)
        for run in runs:
            run.stop.set()
        self._drop(run.id for run in runs)

    def sweep(self) -> None:
        """Drop runs that ended long ago, then the oldest ones while there are too many."""
        now = time.monotonic()
        with self._lock:
            ended = [run for run in self._runs.values() if run.owner and run.done.is_set()]
            total, count = sum(r.num_bytes for r in self._runs.values()), len(self._runs)
        dropped = []
        for run in sorted(ended, key=lambda run: run.touched):
            if now - run.touched > self.ttl_s or total > MAX_BYTES or count > self.max_runs:
                dropped.append(run.id)
                total, count = total - run.num_bytes, count - 1
        self._drop(dropped)

    def _drop(self, run_ids: Iterable[str]) -> None:
        with self._lock:
            for run_id in list(run_ids):
                self._runs.pop(run_id, None)
