"""The handler of sweeps: progress, result, refusal, and its end when the page closes."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

from specviz.ui.handlers import SETTINGS, Page
from specviz.ui.i18n import texts
from specviz.ui.registry import Registry
from specviz.ui.state import DEFAULTS
from specviz.ui.tab_sweep import Sweeper
from tests.ui.fake_runs import FakeRuns

HERE: Any = SimpleNamespace(session_hash="me")


def sweeper(**options: Any) -> Sweeper:
    return Sweeper(Page(FakeRuns(**options), Registry()))


def values(method: str = "speculative", prompt: str = "Sweep") -> list[Any]:
    settings = {name: getattr(DEFAULTS, name) for name in SETTINGS}
    return [prompt, "big", method, None, "small", False, True, *settings.values()]


def test_a_sweep_ends_with_a_point_per_value() -> None:
    sheets = [json.loads(text) for text in sweeper().run("gamma", HERE, *values())]
    last = sheets[-1]
    assert last["note"] == "sv_sweep_note"
    charts = {chart["title"]: chart for chart in last["charts"]}
    assert charts["sv_sweep_speedup"]["xs"] == list(range(1, 13))
    assert None not in charts["sv_sweep_speedup"]["series"][0]["ys"]
    assert charts["sv_sweep_speedup"]["points"][0]["mark"] == "best"
    assert "sv_sweep_distance" not in charts
    for word in json.dumps(sheets).split('"'):
        assert not word.startswith("sv_") or word in texts()["en"], word


def test_progress_is_told_while_it_runs() -> None:
    slow = sweeper(num_steps=6, rate=40.0)
    sheets = [json.loads(text) for text in slow.run("gamma", HERE, *values())]
    told = [sheet["progress"][0] for sheet in sheets if "progress" in sheet]
    assert told == sorted(told)
    assert len(told) > 1
    assert sheets[0]["progress"][1] == 14


def test_what_cannot_be_swept_is_refused_in_a_sentence() -> None:
    refused = [json.loads(text) for text in sweeper().run("exit_layer", HERE, *values())]
    assert "cannot be swept" in refused[0]["refused"]
    empty = [json.loads(text) for text in sweeper().run("gamma", HERE, *values(prompt=" "))]
    assert "prompt is empty" in empty[-1]["refused"]
    crash = [json.loads(text) for text in sweeper().run("gamma", HERE, *values(prompt="crash"))]
    assert crash[-1]["refused"] == "sv_error_internal"


def test_cancel_ends_it_and_keeps_what_is_done() -> None:
    slow = sweeper(num_steps=8, rate=40.0)
    sheets = slow.run("gamma", HERE, *values())
    while json.loads(next(sheets))["progress"][0] < 2:
        pass
    slow.stop(HERE)
    last = json.loads(list(sheets)[-1])
    assert last["empty"] == "sv_sweep_stopped"
    assert last["charts"]


def test_a_closed_page_ends_the_runs() -> None:
    slow = sweeper(num_steps=400, rate=40.0)
    sheets = slow.run("gamma", HERE, *values())
    next(sheets)
    sheets.close()
    (run,) = slow.page.registry.owned("me")
    assert run.done.wait(2.0)
    time.sleep(0.05)


def test_the_menu_follows_the_method() -> None:
    offered = [key for _, key in sweeper().choices("big", "early_exit")]
    assert offered == ["gamma", "exit_layer", "temperature"]
    assert sweeper().menu("big", "prompt_lookup", "exit_layer")["value"] == "gamma"
    assert sweeper().menu("big", "early_exit", "exit_layer")["value"] == "exit_layer"
