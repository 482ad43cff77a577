"""Which runs the server keeps, and what it answers to anybody who asks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specviz.errors import TraceError
from specviz.trace import Trace, check
from specviz.ui import shelf, worker
from specviz.ui.handlers import Page, form, two
from specviz.ui.registry import Registry, Run
from specviz.ui.state import COMMON, SPECIAL
from specviz.ui.worker import Follower
from tests.ui.fake_runs import FakeRuns, request


def finished(registry: Registry, owner: str = "me", num_steps: int = 12) -> Run:
    run = registry.add(Run(owner))
    worker.start(run, FakeRuns(num_steps=num_steps), [request()])
    for _ in Follower(run, [{"key": "speculative"}]).updates():
        pass
    return run


@pytest.fixture
def page() -> Page:
    return Page(FakeRuns(), Registry())


def test_missed_messages_can_be_asked_for(page: Page) -> None:
    run = finished(page.registry)
    texts = page.resync([run.id, 0])
    assert [json.loads(text)["seq"] for text in texts] == list(range(len(texts)))
    assert page.resync([run.id, len(texts)]) == []


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        "",
        [],
        [1, 2],
        ["x", 0],
        ["x"],
        {"a": 1},
        [["x"], 0],
        [None, None],
        ["x", "0"],
        ["x", -1],
        ["x", True],
        ["x", 10**30],
        "x" * 10_000,
        [{}, {}, {}],
    ],
    ids=repr,
)
def test_server_functions_survive_any_argument(page: Page, nonsense: Any) -> None:
    assert page.resync(nonsense) is None
    assert page.detail(nonsense) is None
    assert page.trace(nonsense) is None


def test_bad_places_in_a_real_run_are_answered_with_nothing(page: Page) -> None:
    run = finished(page.registry)
    for place in ([run.id], [run.id, 5], [run.id, -1, 0], [run.id, 0, 99], [run.id, 0, -1]):
        assert page.detail(place) is None
    assert page.trace([run.id, 3]) is None
    assert two([run.id, -1]) == (run.id, None)


def test_detail_gives_back_what_a_light_step_left_out(page: Page) -> None:
    run = finished(page.registry)
    step = json.loads(page.detail([run.id, 0, 4]))
    assert step["i"] == 4
    assert any("tt" in token for token in step["tok"])


def test_the_trace_of_a_run_is_checked_and_whole(page: Page) -> None:
    run = finished(page.registry)
    trace = Trace.loads(page.trace([run.id, 0]))
    check(trace)
    assert len(trace.steps) == 12


def test_a_run_that_has_not_begun_has_no_trace() -> None:
    with pytest.raises(TraceError, match="no trace to save"):
        shelf.trace_of(Run("me"), 0)


def test_a_shelved_trace_looks_like_its_run(page: Page) -> None:
    run = finished(page.registry)
    shelved = shelf.shelve(
        page.registry, shelf.trace_of(run, 0), owner="me", kind="loaded", name="saved"
    )
    texts = shelf.messages(shelved, max_bytes=10**9)
    found = [r for text in texts for r in json.loads(text)["ev"]]
    assert [r[0] for r in found] == ["open", "start", *["step"] * 12, "finish"]
    assert found[0][1]["kind"] == "loaded"
    live = [r for text in page.resync([run.id, 0]) for r in json.loads(text)["ev"]]
    strip = [r[2]["tok"] for r in live if r[0] == "step"]
    assert [r[2]["tok"] for r in found if r[0] == "step"] == strip


def test_stop_reaches_only_the_runs_of_its_session(page: Page) -> None:
    runs = {}
    for owner in ("me", "you"):
        runs[owner] = page.registry.add(Run(owner))
        worker.start(runs[owner], FakeRuns(num_steps=5000, rate=100), [request()])
    assert page.registry.stop("me")
    assert runs["me"].done.is_set()
    assert not runs["you"].stop.is_set()
    assert page.registry.stop("you")
    assert not page.registry.stop("nobody")


def test_leaving_ends_and_drops_the_runs_of_a_session(page: Page) -> None:
    run = page.registry.add(Run("me"))
    worker.start(run, FakeRuns(num_steps=5000, rate=100), [request()])
    page.registry.forget("me")
    assert page.registry.get(run.id) is None
    assert run.done.wait(2)


def test_old_runs_go_first_and_those_of_the_page_stay() -> None:
    registry = Registry(max_runs=3)
    kept = registry.add(Run(""))
    kept.done.set()
    runs = [finished(registry, num_steps=2) for _ in range(6)]
    registry.sweep()
    assert len(registry) <= 3
    assert registry.get(kept.id) is kept
    assert registry.get(runs[-1].id) is runs[-1]
    assert registry.get(runs[0].id) is None


def test_runs_expire() -> None:
    registry = Registry(ttl_s=0.0)
    run = finished(registry)
    run.touched -= 1
    registry.sweep()
    assert registry.get(run.id) is None


def test_ids_cannot_be_guessed() -> None:
    ids = {Run("me").id for _ in range(100)}
    assert len(ids) == 100
    assert all(len(run_id) == 32 for run_id in ids)


def test_a_form_reads_the_controls_in_order() -> None:
    names = (*COMMON, *SPECIAL)
    made = form(["Hi", "big", "plain", None, None, True, False, *range(len(names))])
    assert (made.prompt, made.chat, made.beside) == ("Hi", True, False)
    assert made.settings == {name: place for place, name in enumerate(names)}
