"""A page that is opened by a link: which components change, and that all of them may."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from starlette.datastructures import QueryParams

from specviz.trace import Trace
from specviz.ui.arrival import Arrival, build_note
from specviz.ui.handlers import Page
from specviz.ui.registry import Registry
from specviz.ui.state import Session, Setup
from specviz.ui.tab_run import build_controls
from tests.ui.fake_runs import FakeRuns, request

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def arrival(tmp_path: Path) -> Iterator[Arrival]:
    path = tmp_path / "1-story.json"
    Trace.from_events(FakeRuns(num_steps=6).stream(request())).save(path)
    source = FakeRuns(traces=(path,))
    with gr.Blocks():
        controls = build_controls(source, Setup())
        outputs = [gr.HTML(), controls.status, gr.State()]
        yield Arrival(Page(source, Registry()), Setup(), controls, build_note(), outputs)
    gc.collect()  # Gradio leaves an event loop open per page; let it go where warnings are allowed


def follow(arrival: Arrival, query: str) -> dict[Any, Any]:
    """What opening the page with this address changes."""
    asked: Any = SimpleNamespace(
        request=SimpleNamespace(query_params=QueryParams(query)), session_hash="me"
    )
    changes = arrival.follow(Session(), asked)
    assert set(changes) <= set(arrival.outputs)
    return changes


def test_an_address_without_a_link_changes_nothing(arrival: Arrival) -> None:
    for query in ("", "__theme=dark", "view=api&__lang=en"):
        assert follow(arrival, query) == {arrival.note: gr.skip()}


def test_a_run_is_shown_at_its_step_and_the_form_stays(arrival: Arrival) -> None:
    changes = follow(arrival, "run=1-story&step=4")
    assert json.loads(changes[arrival.viewer])["ev"][0][1]["at"] == 4
    run = arrival.page.registry.get(changes[arrival.session].run_id)
    assert run is not None and run.name == "1-story"
    assert arrival.controls.prompt not in changes


def test_settings_fill_every_control_and_a_name_may_stand_twice(arrival: Arrival) -> None:
    controls = arrival.controls
    changes = follow(
        arrival, "method=ensemble&drafter=early_exit&prompt=Hi&gamma=3&stop=a&stop=b&chat=1"
    )
    assert changes[controls.method]["value"] == "ensemble"
    assert changes[controls.drafter]["value"] == "early_exit"
    assert changes[controls.prompt]["value"] == "Hi"
    assert changes[controls.chat]["value"] is True
    assert changes[controls.settings["gamma"]]["value"] == 3
    assert changes[controls.settings["gamma"]]["visible"] is True
    assert changes[controls.settings["confidence"]]["visible"] is False
    assert changes[controls.settings["stop"]]["value"] == "a\nb"
    assert arrival.viewer not in changes


def test_of_a_refused_link_nothing_is_done_but_saying_why(arrival: Arrival) -> None:
    changes = follow(arrival, "prompt=Hi&run=nobody")
    assert set(changes) == {arrival.note}
    assert "there is no recorded run" in changes[arrival.note]["value"]
