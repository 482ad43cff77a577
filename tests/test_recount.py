"""Every figure of a trace, recomputed from its JSON by a script that shares no code with ours."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from specviz import runs
from specviz.config import RunRequest
from specviz.events import Event
from specviz.export import export_html
from specviz.trace import Trace
from tests.recount import agree, differences, main, recount, so_far
from tests.trace.sample_runs import run, sized, step
from tests.trace.strategies import few
from tests.trace.strategies import runs as random_runs
from tests.ui.fake_runs import FakeRuns
from tests.ui.fake_runs import request as fake_request

ROOT = Path(__file__).parents[1]
TRACES = sorted((ROOT / "assets" / "traces").glob("*.json"))
PROMPT = "Write a story about a brave fox named Lila."
BESIDE = {
    "ids": [], "decode_s": 1.0, "seconds_per_token": 0.03, "step_s": 0.031, "verify_s": 0.02,
    "identical": False, "first_difference": 0, "gap": None,
}  # fmt: skip


def document(events: list[Event], baseline: dict[str, Any] | None = None) -> dict[str, Any]:
    """A run as the JSON that a reader gets."""
    found: dict[str, Any] = json.loads(Trace.from_events(events, baseline).dumps())
    return found


def test_the_script_is_independent() -> None:
    tree = ast.parse(Path(ROOT, "tests", "recount.py").read_text("utf-8"))
    names = [n for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names]
    names += [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]  # type: ignore[misc]
    found = {getattr(name, "name", None) or getattr(name, "module", "") for name in names}
    assert found <= {"__future__", "json", "math", "statistics", "sys", "typing"}


def test_recorded_runs_hold_the_figures_of_their_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert TRACES
    assert main([str(path) for path in TRACES]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("plain", {}),
        ("speculative", {"gamma": 3}),
        ("speculative", {"temperature": 0.9, "seed": 3}),
        ("speculative", {"schedule": "heuristic"}),
        ("prompt_lookup", {"stop": ("the",)}),
        ("early_exit", {"gamma": 2}),
        ("ensemble", {"temperature": 0.7, "ensemble_weight": 0.4}),
    ],
)
def test_fresh_runs_hold_the_figures_of_their_steps(method: str, options: dict[str, Any]) -> None:
    request = RunRequest.of(method, PROMPT, max_new_tokens=14, **options)
    trace = runs.run(request, baseline=method != "plain")
    assert differences(json.loads(trace.dumps())) == []


@given(random_runs())
@few(60)
def test_random_runs_hold_the_figures_of_their_steps(events: list[Event]) -> None:
    assert differences(document(events)) == []
    assert differences(document(events, BESIDE)) == []


@pytest.mark.parametrize(
    "events",
    [
        run([]),
        run([step(0, "", num_draft_forwards=0)]),
        run([sized(0, 4, 4, num_draft_forwards=4), sized(1, 2, 0, num_draft_forwards=2)]),
        run([sized(0, 3, 3), step(1, "aad", cut="eos")]),
        run([step(0, "a", draft_s=0.0, verify_s=0.0, other_s=0.0)]),
    ],
)
def test_edges_hold_the_figures_of_their_steps(events: list[Event]) -> None:
    assert differences(document(events)) == []
    for per_token in (None, 0.0, 0.02):
        assert differences(document(events, BESIDE | {"seconds_per_token": per_token})) == []


def test_by_hand() -> None:
    """Two steps: a a r d + residual, then a a (length): 4 accepted of 5 judged of 6 proposed."""
    steps = [sized(0, 4, 2, num_draft_forwards=4), step(1, "aa", cut="length")]
    found = recount(document(run(steps), BESIDE))
    assert (found["num_accepted"], found["num_judged"], found["num_proposed"]) == (4, 5, 6)
    assert found["acceptance_rate"] == 0.8
    assert found["draft_yield"] == pytest.approx(4 / 6)
    assert found["block_efficiency"] == 2.5 and found["block_efficiency_full_steps"] == 3.0
    assert found["accepted_histogram"] == [0, 0, 2]
    assert found["seconds_per_token"] == pytest.approx(0.07 / 5)
    assert found["measured_speedup"] == pytest.approx(0.03 / 0.014)


def test_a_wrong_figure_is_found() -> None:
    wrong = document(run([sized(0, 3, 2)]))
    wrong["metrics"]["draft_yield"] = 0.5
    wrong["metrics"]["luck"] = 1
    del wrong["metrics"]["num_bonus"]
    assert [line.split(":")[0] for line in differences(wrong)] == [
        "draft_yield", "luck", "num_bonus",
    ]  # fmt: skip


PLACES = ("rate", "tau", "speed", "tokens", "elapsed", "draft", "verify", "other", "latency",
          "accepted", "judged", "proposed")  # fmt: skip


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_the_page_shows_the_same_figures_after_every_step(path: Path) -> None:
    """What the viewer is sent, to six digits, against the trace that the same page can save."""
    page = export_html(Trace.load(path))
    saved = json.loads(_element(page, "svx-trace"))
    assert saved == json.loads(path.read_text("utf-8"))
    records = [
        record for message in json.loads(_element(page, "svx-run")) for record in message["ev"]
    ]
    shown = [record[2]["run"] for record in records if record[0] == "step"]
    wanted = so_far(saved)
    assert len(shown) == len(wanted)
    for number, (row, figures) in enumerate(zip(shown, wanted, strict=True)):
        for name, value in zip(PLACES, row, strict=True):
            known = figures[name]
            good = agree(value, None if known is None else float(known), 1e-5)
            assert good, (number, name, value, known)


SHEET = {
    "rate": "acceptance_rate", "yield": "draft_yield", "tau": "block_efficiency",
    "tau_full": "block_efficiency_full_steps", "beta": "mean_overlap",
    "variation": "mean_total_variation", "c": "cost_coefficient", "speedup": "measured_speedup",
    "expected": "expected_speedup", "per_token": "seconds_per_token", "decode": "total_s",
    **{f"{part}_s": f"{part}_s" for part in ("draft", "verify", "other")},
}  # fmt: skip


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_the_sheet_of_an_exported_page_holds_the_figures(path: Path) -> None:
    page = export_html(Trace.load(path))
    found, checked = recount(json.loads(_element(page, "svx-trace"))), 0
    for section in json.loads(_element(page, "svx-sheet"))["sections"][:4]:
        for key, value, *_ in section["rows"]:
            short = key.removeprefix("svx_")
            name = SHEET.get(short, short if short in found else f"{short}_bytes")
            if short not in ("prefill", "load"):
                assert agree(value, found[name]), name
                checked += 1
    assert checked >= 20


def test_invented_runs_of_the_page_tests_hold_too() -> None:
    events = list(FakeRuns(num_steps=6).stream(fake_request()))
    assert differences(document(events)) == []


def _element(page: str, name: str) -> str:
    """The content of a data element of an exported page."""
    return page.split(f'id="{name}">', 1)[1].split("</script>", 1)[0]
