"""Runs in their own thread: order, rate, size, stopping, and nothing left behind."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from specviz.ui import shelf, worker
from specviz.ui.registry import Registry, Run
from specviz.ui.worker import Follower, Update
from tests.ui.fake_runs import FakeRuns, request


def start(source: FakeRuns, *methods: str, prompt: str = "Once") -> tuple[Run, Follower]:
    requests = [request(method, prompt) for method in methods or ("speculative",)]
    run = worker.start(Run("me", num_lanes=len(requests)), source, requests)
    lanes = [{"key": r.method, "title": r.method, "lossless": True} for r in requests]
    return run, Follower(run, lanes, lambda done: shelf.compare(done, requests))


def read(updates: Iterator[Update]) -> list[dict[str, Any]]:
    return [json.loads(update.message) for update in updates if update.message]


def records(messages: list[dict[str, Any]], kind: str) -> list[list[Any]]:
    return [record for message in messages for record in message["ev"] if record[0] == kind]


def our_threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("specviz-")]


def test_a_run_arrives_complete_and_in_order() -> None:
    run, follower = start(FakeRuns(num_steps=30), "speculative", "plain")
    messages = read(follower.updates())
    assert [m["seq"] for m in messages] == list(range(len(messages)))
    assert messages[-1]["end"] == "done"
    assert [r[0] for r in messages[0]["ev"][:2]] == ["open", "start"]
    assert [r[2]["i"] for r in records(messages, "step") if r[1] == 0] == list(range(30))
    assert [r[2]["i"] for r in records(messages, "step") if r[1] == 1] == list(range(30))
    assert len(records(messages, "finish")) == 2
    assert run.done.is_set()


def test_the_plain_lane_gives_a_comparison() -> None:
    _, follower = start(FakeRuns(num_steps=10), "speculative", "plain")
    ((_, lane, figures),) = records(read(follower.updates()), "compare")
    assert lane == 0
    assert figures["identical"] is False  # invented runs do not agree
    assert figures["first_difference"] >= 0
    assert figures["speedup"] > 0
    assert figures["verdict"] in ("faster", "slower", "near")


@pytest.mark.parametrize(
    ("speedup", "verdict"),
    [
        (1.5, "faster"),
        (1.11, "faster"),
        (1.09, "near"),
        (0.92, "near"),
        (0.9, "slower"),
        (None, "unknown"),
    ],
)
def test_one_run_is_faster_or_slower_only_where_chance_does_not_decide(
    speedup: float | None, verdict: str
) -> None:
    assert shelf.beside({"measured_speedup": speedup}, {}, False)["verdict"] == verdict


def test_fast_runs_make_few_messages_of_bounded_size() -> None:
    """U43: 2,000 steps in 2 s, at most 40 updates, the last state soon after the end."""
    source = FakeRuns(num_steps=2000, rate=1000)
    _, follower = start(source)
    begin, ended, sizes, steps = time.monotonic(), 0.0, [], 0
    for update in follower.updates():
        if not update.message:
            continue
        sizes.append(len(update.message))
        steps += update.message.count('"step",0')
        if follower.run.done.is_set() and not ended:
            ended = time.monotonic()
    assert steps == 2000
    assert len(sizes) <= 40 * max(1.0, (ended - begin) / 2)
    assert max(sizes) <= 70_000
    assert time.monotonic() - ended < 1.0


def test_a_slow_run_is_sent_step_by_step() -> None:
    _, follower = start(FakeRuns(num_steps=12, rate=12))
    messages = read(follower.updates())
    assert len(records(messages, "step")) == 12
    assert max(len([r for r in m["ev"] if r[0] == "step"]) for m in messages) <= 3


def test_a_draft_is_shown_while_it_waits_for_its_verification() -> None:
    _, follower = start(FakeRuns(num_steps=3, rate=4))
    assert records(read(follower.updates()), "draft")


def test_stop_ends_the_forward_passes_within_one_step() -> None:
    """U39: at most one more step after Stop."""
    source = FakeRuns(num_steps=5000, rate=50)
    run, follower = start(source)
    updates = follower.updates()
    while source.forwards < 5:
        next(updates)
    run.stop.set()
    assert run.done.wait(2.0)
    assert source.late <= 1
    messages = read(updates)
    assert messages[-1]["end"] == "cancelled"


def test_closing_the_page_ends_the_run() -> None:
    source = FakeRuns(num_steps=5000, rate=50)
    run, follower = start(source)
    updates = follower.updates()
    next(updates)
    updates.close()
    assert run.done.wait(2.0)
    assert source.closed == 1
    assert run.told.is_set()
    assert json.loads(run.since(0)[-1])["end"] == "cancelled"  # for a viewer that asks


def test_a_run_that_ignores_stop_is_given_up() -> None:
    class Stuck(FakeRuns):
        def _events(self, request: Any, stop: Any) -> Any:
            release.wait(10)
            yield from super()._events(request, stop)

    release = threading.Event()
    run, follower = start(Stuck())
    run.stop.set()
    begin = time.monotonic()
    assert read(follower.updates()) == []
    assert time.monotonic() - begin < 3
    assert follower.end() == "cancelled"
    release.set()
    assert run.done.wait(3)


def test_twenty_runs_and_stops_leave_nothing_behind() -> None:
    """U40: no thread, every ``finally`` reached, and a full run afterwards is whole."""
    source, registry = FakeRuns(num_steps=5000, rate=200), Registry(max_runs=5)
    for _ in range(20):
        run, follower = start(source)
        registry.add(run)
        updates, before = follower.updates(), source.forwards
        while source.forwards < before + 3:
            next(updates)
        run.stop.set()
        read(updates)
        assert run.thread is not None
        run.thread.join(2)
    assert source.closed == 20
    assert our_threads() == []
    assert len(registry) <= 6
    source.rate, source.num_steps = 0, 25
    _, follower = start(source)
    assert len(records(read(follower.updates()), "step")) == 25


def test_two_sessions_keep_apart() -> None:
    """U41: interleaved runs hold only their own prompt and steps."""

    class Two(FakeRuns):
        def _stream(self, request: Any, stop: Any, status: Any) -> Any:
            yield from self._events(request, stop)

    source = Two(num_steps=25, rate=100)
    followers = [start(source, prompt=prompt)[1] for prompt in ("Red apple", "Blue sky now")]
    updates = [follower.updates() for follower in followers]
    messages: list[list[dict[str, Any]]] = [[], []]
    while any(updates):
        for place, stream in enumerate(updates):
            update = next(stream, None) if stream else None
            if update is None:
                updates[place] = None  # type: ignore[call-overload]
            elif update.message:
                messages[place].append(json.loads(update.message))
    for place, prompt in enumerate(("Red apple", "Blue sky now")):
        (start_record,) = records(messages[place], "start")
        assert "".join(text for text, _ in start_record[2]["prompt"]) == prompt
        assert {m["run"] for m in messages[place]} == {followers[place].run.id}
        alone = start(FakeRuns(num_steps=25), prompt=prompt)[1]
        expected = records(read(alone.updates()), "step")
        assert [r[2]["tok"] for r in records(messages[place], "step")] == [
            r[2]["tok"] for r in expected
        ]


def test_a_refusal_comes_as_a_notice_and_opens_no_run() -> None:
    _, follower = start(FakeRuns(), prompt="  ")
    (message,) = read(follower.updates())
    assert message["run"] == ""
    assert message["error"] == ["PromptError", "the prompt is empty; type some text"]


def test_a_fault_of_ours_tells_no_exception_text(caplog: pytest.LogCaptureFixture) -> None:
    _, follower = start(FakeRuns(), prompt="crash")
    (message,) = read(follower.updates())
    assert message["error"] == ["internal", ""]
    assert "secret path" in caplog.text


def test_waiting_for_the_models_is_told() -> None:
    """U42: a second run says that it waits, and can be stopped while it does."""
    source = FakeRuns(num_steps=5000, rate=50)
    first, first_follower = start(source)
    first_updates = first_follower.updates()
    next(first_updates)
    second, second_follower = start(source)
    second_updates = second_follower.updates()
    assert "waiting" in (next(second_updates).status or "")
    second.stop.set()
    first.stop.set()
    read(first_updates)
    read(second_updates)
    assert second_follower.end() == "cancelled"
