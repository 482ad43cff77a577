"""Who may use which loaded models now: one run at a time per model, first come, first served.

The page, the Python API and the command line share these turns. A turn belongs to a run, not to a
thread, because a generator may be resumed by changing threads; all models of a run are taken at
once, so two runs cannot block each other.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager

WAIT_S = 0.1  # how soon a waiting run notices that it was stopped


class Turns:
    """A queue of runs, each of which wants some models for itself."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._waiting: dict[int, frozenset[Hashable]] = {}
        self._running: dict[int, frozenset[Hashable]] = {}
        self._numbers = itertools.count()

    @contextmanager
    def turn(
        self,
        models: Iterable[Hashable],
        *,
        stop: threading.Event | None = None,
        status: Callable[[str], None],
    ) -> Iterator[bool]:
        """Wait for the models and hold them; yields False if ``stop`` was set while waiting."""
        wanted = frozenset(models)
        with self._condition:
            number = next(self._numbers)
            self._waiting[number] = wanted
        try:
            yield self._wait(number, stop, status)
        finally:
            with self._condition:
                self._waiting.pop(number, None)
                self._running.pop(number, None)
                self._condition.notify_all()

    def _wait(
        self, number: int, stop: threading.Event | None, status: Callable[[str], None]
    ) -> bool:
        told = 0
        while True:
            with self._condition:
                ahead = self._num_ahead(number)
                if ahead == 0:
                    self._running[number] = self._waiting.pop(number)
                    return True
                if ahead == told:
                    self._condition.wait(WAIT_S)
            if stop is not None and stop.is_set():
                return False
            if ahead != told:
                status(f"Waiting for the models: {ahead} run{'s' if ahead > 1 else ''} ahead")
                told = ahead

    def _num_ahead(self, number: int) -> int:
        """Runs that hold one of the models, or asked for one earlier."""
        wanted = self._waiting[number]
        earlier = [models for other, models in self._waiting.items() if other < number]
        return sum(1 for models in (*self._running.values(), *earlier) if models & wanted)


turns = Turns()
