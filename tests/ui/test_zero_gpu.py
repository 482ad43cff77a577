"""U49: GPU tasks of ZeroGPU, against a stand-in for ``spaces`` that forks and pickles."""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from specviz import comparison, runs
from specviz.catalog import load as loading
from specviz.config import RunRequest
from specviz.errors import GpuError, ModelError, PromptError
from specviz.events import Event, Finished, Prefilled, Verified
from specviz.ui import worker, zero_gpu
from specviz.ui.api import Api
from specviz.ui.handlers import SETTINGS, Page
from specviz.ui.i18n import t
from specviz.ui.registry import Registry, Run
from specviz.ui.state import DEFAULTS, Setup
from specviz.ui.tab_sweep import Sweeper
from specviz.ui.worker import Follower
from specviz.ui.zero_gpu import MAX_DURATION_S, Race, Runs, ZeroRuns
from tests.ui.fake_runs import FakeRuns
from tests.ui.fake_runs import request as invented
from tests.ui.fake_spaces import FakeSpaces

# Python 3.12 warns of a fork beside threads; ``spaces`` forks all the same.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

HERE: Any = SimpleNamespace(session_hash="me")
LENGTH = 10
STORY = "Write a story about a brave fox named Lila."
QUOTA = "You have exceeded your ZeroGPU quota (10s requested vs. 3s left). Try again in 1:02:03. "


@pytest.fixture
def spaces(monkeypatch: pytest.MonkeyPatch) -> FakeSpaces:
    """On ZeroGPU, with the package; no model is placed, so that tests need not load all."""
    fake = FakeSpaces()
    monkeypatch.setitem(sys.modules, "spaces", fake)
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    monkeypatch.setattr(runs, "at_hand", lambda: ())
    return fake


@pytest.fixture
def source(spaces: FakeSpaces) -> ZeroRuns:
    made = zero_gpu.source()
    assert isinstance(made, ZeroRuns)
    return made


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> FakeRuns:
    """Invented runs that never end by themselves; the forked process gets them too."""
    fake = FakeRuns(num_steps=10**9, rate=50)
    monkeypatch.setattr(runs, "stream", fake.stream)
    monkeypatch.setattr(runs, "fetch", lambda request, status: None)
    return fake


def request(method: str, target: str = "target-glm", **options: Any) -> RunRequest:
    return RunRequest.of(method, STORY, target=target, **{"max_new_tokens": LENGTH, **options})


def decoded(source: Any, requests: list[RunRequest]) -> Run:
    run = worker.start(Run("me", num_lanes=len(requests)), source, requests)
    follower = Follower(run, [{"key": r.method, "title": "", "lossless": True} for r in requests])
    for _ in follower.updates():
        pass
    assert follower.error is None
    return run


def ids(events: list[Event]) -> tuple[int, ...]:
    return next(event.ids for event in events if isinstance(event, Finished))


def committed(events: list[Event]) -> list[tuple[int, ...]]:
    return [event.committed_ids for event in events if isinstance(event, Verified)]


def values(**changed: Any) -> list[Any]:
    settings = {name: getattr(DEFAULTS, name) for name in SETTINGS} | {"max_new_tokens": LENGTH}
    form = {"prompt": STORY, "target": "target-glm", "method": "prompt_lookup"} | changed
    return [*form.values(), None, None, False, True, *settings.values()]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["target-glm", "target-gemma"])
def test_every_method_streams_the_same_steps_from_a_gpu_task(
    spaces: FakeSpaces, source: ZeroRuns, target: str
) -> None:
    methods = [key for key, reason in runs.availability(target).items() if reason is None]
    assert {"plain", "speculative", "early_exit", "universal", "ensemble"} <= set(methods)
    requests = [request(method, target) for method in methods]
    here, there = decoded(runs, requests), decoded(source, requests)
    for lane, method in enumerate(methods):
        assert len(ids(here.events[lane])) == LENGTH, method
        assert ids(there.events[lane]) == ids(here.events[lane]), method
        assert committed(there.events[lane]) == committed(here.events[lane]), method
        kinds = [type(event) for event in there.events[lane]]
        assert kinds == [type(event) for event in here.events[lane]], method
        (first, *_) = there.events[lane]
        assert isinstance(first, Prefilled) and first.header is not None
    assert spaces.exits == [0]  # all lanes in one task
    assert spaces.closed == [False]


def test_a_sampled_run_draws_the_same_tokens(source: ZeroRuns) -> None:
    asked = request("speculative", temperature=1.0, seed=3)
    assert ids(list(source.stream(asked))) == ids(list(runs.stream(asked)))


def test_what_a_task_loads_is_not_expected_here(
    source: ZeroRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_cache", OrderedDict())
    monkeypatch.setattr(loading, "_tokenizers", {})
    (run,) = decoded(source, [request("plain")]).events
    assert len(ids(run)) == LENGTH
    assert not loading._cache
    assert not loading._tokenizers


def test_models_at_hand_are_placed_at_start(
    spaces: FakeSpaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    def preload(model_id: str) -> None:
        asked.append(model_id)
        if model_id == "bad":
            raise RuntimeError("no such kernel")

    asked: list[str] = []
    monkeypatch.setattr(runs, "preload", preload)
    monkeypatch.setattr(runs, "at_hand", lambda: ("good", "bad"))
    made = ZeroRuns(spaces.GPU)
    assert asked == ["good", "bad"]
    assert made.placed == {"good"}
    made.warm_up()
    assert asked == ["good", "bad"]


def test_the_embedded_models_are_at_hand() -> None:
    assert {"target-glm", "target-gemma", "assistant", "drafter-gemma"} <= set(runs.at_hand())
    assert "facebook/layerskip-llama2-7B" not in runs.at_hand()


# Duration


def test_more_work_asks_for_more_seconds_up_to_the_cap(source: ZeroRuns) -> None:
    source.placed = frozenset({"target-glm"})

    def seconds(*requests: RunRequest) -> int:
        return source.duration(Runs(requests))

    short = request("prompt_lookup", max_new_tokens=32)
    long = request("prompt_lookup", max_new_tokens=256)
    plain = request("plain", max_new_tokens=256)
    assert 1 <= seconds(short) < seconds(long) <= MAX_DURATION_S <= 60
    assert seconds(plain) < seconds(long) < seconds(long, plain)
    assert seconds(request("prompt_lookup", max_new_tokens=4096)) == MAX_DURATION_S
    assert seconds(request("prompt_lookup", "org/model", max_new_tokens=32)) > seconds(short)
    assert isinstance(seconds(short), int)


def test_a_race_asks_for_all_its_rounds(source: ZeroRuns) -> None:
    source.placed = frozenset({"target-glm"})
    lanes = comparison.lanes_of([request("prompt_lookup", max_new_tokens=32)])
    refused = comparison.Lane(2, "mtp_layers", request("mtp_layers"), "cannot run")
    one, three = Race(lanes, 1), Race(lanes, 3)
    assert source.duration(one) < source.duration(three) < MAX_DURATION_S
    assert source.duration(Race((*lanes, refused), 3)) == source.duration(three)
    assert source.duration(Race(lanes, 100)) == MAX_DURATION_S


# Races, and what programs ask


def test_a_race_runs_in_one_task(spaces: FakeSpaces, source: ZeroRuns) -> None:
    lanes = source.engine.lanes_of([request("prompt_lookup")])
    run = Run("me", num_lanes=2)
    told: list[str] = []
    ticks = list(source.engine.compare_stream(lanes, repeats=2, stop=run.stop, status=told.append))
    ends = [(tick.lane, tick.repeat) for tick in ticks if isinstance(tick.event, Finished)]
    assert ends == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert len({tick.event.ids for tick in ticks if isinstance(tick.event, Finished)}) == 1
    assert spaces.exits == [0]
    assert told[0] == "Waiting for a GPU"
    assert "Running" in told


def test_a_sweep_runs_in_one_task(spaces: FakeSpaces, source: ZeroRuns, slow: FakeRuns) -> None:
    slow.num_steps, slow.rate = 4, 0
    sweeper = Sweeper(Page(source, Registry()))
    asked = values(target="target-glm", method="prompt_lookup")
    last = json.loads(list(sweeper.run("gamma", HERE, *asked))[-1])
    assert last["note"] == "sv_sweep_note"
    assert last["charts"][0]["xs"] == list(range(1, 13))
    assert spaces.exits == [0]


def test_the_endpoints_go_through_a_task(spaces: FakeSpaces, source: ZeroRuns) -> None:
    api = Api(source, Setup(live=True, any_model=False))
    steps = list(api.steps(STORY, "prompt_lookup", settings='{"max_new_tokens": 6}'))
    assert len(steps) >= 1
    assert len(spaces.asked) == 1
    spaces.refusal = gr.Error(QUOTA)
    with pytest.raises(gr.Error, match="exceeded your ZeroGPU quota"):
        list(api.steps(STORY, "prompt_lookup"))


# Refusals


def test_a_refusal_that_needs_no_model_costs_no_gpu(spaces: FakeSpaces, source: ZeroRuns) -> None:
    with pytest.raises(PromptError, match="more than spaces"):
        source.stream(RunRequest.of("plain", "  "))
    with pytest.raises(PromptError):
        list(source.in_turn([RunRequest.of("plain", " ")], stop=Run("me").stop, status=len))
    assert spaces.asked == []


def test_a_refusal_inside_the_task_keeps_its_sentence(
    spaces: FakeSpaces, source: ZeroRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: Any, **named: Any) -> Iterator[Event]:
        raise ModelError("'x' cannot be loaded; choose another")
        yield

    with monkeypatch.context() as patch:
        patch.setattr(runs, "stream", refuse)
        with pytest.raises(ModelError, match="cannot be loaded; choose another"):
            list(source.stream(request("plain")))
    assert spaces.exits == [0]


def test_no_quota_is_a_sentence_and_run_can_be_clicked_again(
    spaces: FakeSpaces, source: ZeroRuns
) -> None:
    page = Page(source, Registry())
    session: Any = SimpleNamespace(showing=lambda run_id: run_id)
    spaces.refusal = gr.Error(QUOTA, print_exception=False)
    rows = list(page.run(session, HERE, *values()))  # to its end: only then Run is free
    notices = [json.loads(row[0]) for row in rows if isinstance(row[0], str)]
    assert notices[-1]["error"] == [
        "GpuError",
        "ZeroGPU did not finish this run (You have exceeded your ZeroGPU quota (10s requested vs. "
        f"3s left). Try again in 1:02:03); {spaces.asked[0]} seconds of a GPU were asked for; "
        "choose fewer tokens, methods or rounds, or try again later",
    ]
    assert str(rows[-1][1]) == str(t("sv_status_error"))
    (first,) = page.registry.owned("me")
    assert first.done.is_set()

    spaces.refusal = None
    rows = list(page.run(session, HERE, *values()))
    assert str(rows[-1][1]) == str(t("sv_status_done"))
    assert spaces.exits == [0]


def test_any_other_failure_of_the_service_is_a_sentence(
    spaces: FakeSpaces, source: ZeroRuns, caplog: pytest.LogCaptureFixture
) -> None:
    spaces.refusal = RuntimeError("ZeroGPU API /schedule error: 500")
    with pytest.raises(GpuError, match="RuntimeError.*try again later"):
        list(source.stream(request("plain")))
    assert "/schedule error: 500" in caplog.text


def test_a_task_that_dies_is_a_sentence(
    spaces: FakeSpaces, source: ZeroRuns, slow: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*given: Any) -> Iterator[Event]:
        yield from itertools.islice(slow._events(invented(), threading.Event()), 3)
        os._exit(9)

    monkeypatch.setattr(FakeRuns, "_stream", die)
    with pytest.raises(GpuError, match="GPU task aborted"):
        list(source.stream(invented()))
    assert spaces.exits == [9]


def test_a_fault_of_ours_in_the_task_shows_no_secret(
    spaces: FakeSpaces, source: ZeroRuns, slow: FakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*given: Any) -> Iterator[Event]:
        raise KeyError("secret path")
        yield

    monkeypatch.setattr(FakeRuns, "_stream", crash)
    with pytest.raises(GpuError) as found:
        list(source.stream(invented()))
    assert "KeyError" in str(found.value)
    assert "secret" not in str(found.value)


# Stop


def test_stop_ends_the_task_in_its_process(
    spaces: FakeSpaces, source: ZeroRuns, slow: FakeRuns
) -> None:
    run = worker.start(Run("me"), source, [invented()])
    follower = Follower(run, [{"key": "speculative", "title": "", "lossless": True}])
    updates = follower.updates()
    until = time.monotonic() + 20
    while not committed(run.events[0]) and time.monotonic() < until:
        next(updates)
    run.stop.set()
    assert run.thread is not None
    run.thread.join(20)
    assert not run.thread.is_alive()
    for _ in updates:
        pass
    assert follower.end() == "cancelled"
    assert spaces.closed == [True]
    assert spaces.exits == [0]
    assert committed(run.events[0])  # what there is stays


def test_closing_a_stream_ends_the_task(
    spaces: FakeSpaces, source: ZeroRuns, slow: FakeRuns
) -> None:
    stream: Any = source.stream(invented())
    next(stream)
    stream.close()
    assert spaces.closed == [True]
    assert spaces.exits == [0]


def test_a_run_that_was_stopped_before_asks_for_no_gpu(
    spaces: FakeSpaces, source: ZeroRuns, slow: FakeRuns
) -> None:
    stop = Run("me").stop
    stop.set()
    assert list(source.stream(invented(), stop=stop)) == []
    assert spaces.asked == []


# Elsewhere


@pytest.mark.parametrize("value", [None, "", "false"])
def test_outside_zero_gpu_nothing_changes(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("SPACES_ZERO_GPU", raising=False)
    if value is not None:
        monkeypatch.setenv("SPACES_ZERO_GPU", value)
    monkeypatch.setitem(sys.modules, "spaces", None)  # any import of it fails
    assert zero_gpu.source() is runs


def test_without_the_package_runs_go_on_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    monkeypatch.setitem(sys.modules, "spaces", None)
    assert zero_gpu.source() is runs
    assert "without the package spaces" in caplog.text
