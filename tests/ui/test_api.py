"""The endpoints for programs, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from specviz.trace import Trace
from specviz.trace.check import check
from specviz.ui.api import Api
from specviz.ui.state import Setup
from tests.ui.fake_runs import FakeRuns

HERE = Setup(live=True, any_model=True)
PUBLIC = Setup(live=True, any_model=False)


def test_steps_are_those_of_the_trace() -> None:
    steps = [json.loads(s) for s in Api(FakeRuns(num_steps=7), HERE).steps("Once upon a time")]
    trace = json.loads(Api(FakeRuns(num_steps=7), HERE).trace("Once upon a time"))
    assert len(steps) == 7
    assert steps == trace["steps"]


def test_a_trace_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(Api(FakeRuns(num_steps=5), HERE).trace("Hello", "plain"), "ascii")
    trace = Trace.load(path)
    check(trace)
    assert trace.document["method"]["key"] == "plain"


def test_settings_reach_the_run() -> None:
    text = Api(FakeRuns(), HERE).trace("Hello", settings='{"gamma": 3, "max_new_tokens": 9}')
    config = json.loads(text)["request"]
    assert (config["gamma"], config["max_new_tokens"]) == (3, 9)


@pytest.mark.parametrize(
    ("setup", "arguments", "sentence"),
    [
        (HERE, ("  ",), "the prompt is empty"),
        (HERE, ("a", "plain", "", "", "{"), "settings must be a JSON object"),
        (HERE, ("a", "plain", "", "", "[1]"), "settings must be a JSON object"),
        (HERE, ("a", "plain", "", "", {"gamma": 2}), "settings must be a JSON object"),
        (HERE, ("a", "plain", "", "", '{"gamma": 99}'), "from 1 to 16, got 99"),
        (HERE, ("a", "early_exit", "target-glm", "", '{"exit_layer": 0}'), "from 1 to 19"),
        (PUBLIC, ("a", "early_exit", "/etc", "", '{"exit_layer": 0}'), "target must be one of"),
        (HERE, ("a", "plain", "", "", '{"nope": 1}'), "there is no setting 'nope'"),
        (PUBLIC, ("a", "plain", "some/model"), "target must be one of big, other"),
        (PUBLIC, ("a", "plain", "", "", '{"target": "/etc"}'), "target must be one of big, other"),
        (PUBLIC, ("a", "speculative", "", "x/y"), "draft must be one of small, tiny"),
        (PUBLIC, ("a", "plain", "", "small"), "draft must be one of left out"),
        (PUBLIC, ("a", "plain", "", "", '{"device": "cuda"}'), "device and dtype"),
    ],
)
def test_refusals_are_sentences(setup: Setup, arguments: tuple[Any, ...], sentence: str) -> None:
    source = FakeRuns(num_steps=3)
    api = Api(source, setup)
    with pytest.raises(gr.Error, match=sentence):
        api.trace(*arguments)
    with pytest.raises(gr.Error, match=sentence):
        next(iter(api.steps(*arguments)))
    assert source.forwards == 0


def test_a_program_that_leaves_ends_its_run() -> None:
    source = FakeRuns(num_steps=500)
    steps = Api(source, HERE).steps("Never ending", settings='{"max_new_tokens": 1000}')
    next(steps)
    steps.close()
    assert source.closed == 1
    assert source.forwards <= 2
