"""Turns: one run at a time per model, in order, with a word to those who wait."""

from __future__ import annotations

import threading
import time

from specviz.turns import Turns


def silent(text: str) -> None:
    pass


class Worker:
    """Takes a turn in its own thread and holds it until told to leave."""

    def __init__(self, turns: Turns, models: set[str], log: list[str], name: str) -> None:
        self.stop, self.leave, self.inside = threading.Event(), threading.Event(), threading.Event()
        self.granted: bool | None = None
        self.told: list[str] = []
        self.thread = threading.Thread(target=self._work, args=(turns, models, log, name))
        self.thread.start()

    def _work(self, turns: Turns, models: set[str], log: list[str], name: str) -> None:
        with turns.turn(models, stop=self.stop, status=self.told.append) as self.granted:
            log.append(name)
            self.inside.set()
            if self.granted:
                self.leave.wait(10)

    def end(self) -> None:
        self.leave.set()
        self.stop.set()
        self.thread.join(10)
        assert not self.thread.is_alive()


def wait_until(condition: object, seconds: float = 5.0) -> None:
    until = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.005)


def test_runs_on_one_model_take_turns_in_order_and_are_told() -> None:
    turns, log = Turns(), []
    first = Worker(turns, {"a"}, log, "first")
    assert first.inside.wait(5)
    second = Worker(turns, {"a", "b"}, log, "second")
    wait_until(lambda: second.told)
    third = Worker(turns, {"b"}, log, "third")
    wait_until(lambda: third.told)
    assert second.told == ["Waiting for the models: 1 run ahead"] == third.told
    assert not second.inside.is_set() and not third.inside.is_set()
    first.end()
    assert second.inside.wait(5)
    second.end()
    assert third.inside.wait(5)
    third.end()
    assert log == ["first", "second", "third"]


def test_runs_on_different_models_do_not_wait() -> None:
    turns, log = Turns(), []
    first = Worker(turns, {"a"}, log, "first")
    second = Worker(turns, {"b"}, log, "second")
    assert first.inside.wait(5) and second.inside.wait(5)
    first.end()
    second.end()


def test_stop_while_waiting_gives_no_turn_and_frees_the_queue() -> None:
    turns, log = Turns(), []
    first = Worker(turns, {"a"}, log, "first")
    assert first.inside.wait(5)
    second = Worker(turns, {"a"}, log, "second")
    wait_until(lambda: second.told)
    second.end()
    assert second.granted is False
    first.end()
    with turns.turn({"a"}, status=silent) as granted:
        assert granted


def test_a_turn_may_end_in_another_thread_than_it_began() -> None:
    turns = Turns()
    turn = turns.turn({"a"}, status=silent)
    assert turn.__enter__()
    leaver = threading.Thread(target=lambda: turn.__exit__(None, None, None))
    leaver.start()
    leaver.join(5)
    with turns.turn({"a"}, status=silent) as granted:
        assert granted
