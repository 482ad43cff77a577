"""Sheets of curves: the formula's values, the run's own point, where each number comes from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specviz.events import Verified
from specviz.metrics import PlainTiming
from specviz.trace import Trace
from specviz.ui.curves import GAMMAS, measure, theory_sheet
from specviz.ui.i18n import texts
from specviz.ui.registry import Registry, Run
from specviz.ui.shelf import shelve
from specviz.ui.tab_theory import theory_of
from tests.ui.fake_runs import FakeRuns, request

PLAIN = PlainTiming(seconds_per_token=0.003, step_s=0.003, forward_s=0.0018)


def steps(method: str = "speculative") -> list[Verified]:
    return [e for e in FakeRuns().stream(request(method)) if isinstance(e, Verified)]


def charts_of(sheet: dict) -> dict:
    return {chart["title"]: chart for chart in sheet["charts"]}


def test_the_curve_is_the_formula_with_the_measured_costs() -> None:
    found = measure(steps(), PLAIN)
    sheet = theory_sheet(found, ["sv_badge_measured", {}])
    chart = charts_of(sheet)["sv_theory_speedup_gamma"]
    alpha, gamma = found.alpha, 5
    c = 0.001 / 5 / 0.003  # a draft of five passes takes 1 ms, a plain step 3 ms
    assert found.c == pytest.approx(c)
    expected = sum(alpha**k for k in range(gamma + 1)) / (gamma * c + 1)
    assert chart["xs"] == list(GAMMAS)
    assert chart["series"][0]["ys"][gamma] == pytest.approx(expected)
    best, run = chart["points"]
    assert best["y"] == pytest.approx(max(chart["series"][0]["ys"]))
    assert (run["x"], run["y"]) == (gamma, found.timing.measured_speedup)


def test_counts_stand_behind_the_rates() -> None:
    found = measure(steps(), PLAIN)
    charts = charts_of(theory_sheet(found, ["sv_badge_measured", {}]))
    assert sum(charts["sv_theory_histogram"]["series"][0]["ys"]) == found.counts.num_steps
    rates = charts["sv_theory_positions"]["series"][0]
    part, whole = rates["counts"][0].split("/")
    assert rates["ys"][0] == pytest.approx(int(part) / int(whole))


def test_every_text_of_a_sheet_is_in_the_dictionary(tmp_path: Path) -> None:
    trace = Trace.from_events(FakeRuns().stream(request()))
    run = shelve(Registry(), trace, owner="me")
    sheets = [
        theory_of(run, 0),
        theory_of(None, 0),
        theory_sheet(measure(steps(), PLAIN), ["sv_badge_recorded", {"date": "2026-11-29"}]),
    ]
    for word in json.dumps(sheets).split('"'):
        assert not word.startswith("sv_") or word in texts()["en"], word


def test_a_run_without_drafts_or_costs_says_why() -> None:
    assert measure(steps("plain"), PLAIN) is None
    plain = Run(owner="me")
    plain.events[0].extend(FakeRuns().stream(request("plain")))
    assert theory_of(plain, 0)["empty"] == "sv_theory_running"
    plain.done.set()
    assert theory_of(plain, 0)["empty"] == "sv_theory_no_drafts"
    alone = Run(owner="me")
    alone.events[0].extend(FakeRuns().stream(request()))
    alone.done.set()
    assert theory_of(alone, 0)["empty"] == "sv_theory_no_cost"


def test_a_lane_that_drafts_is_chosen_with_the_plain_lane_beside_it() -> None:
    run = Run(owner="me", num_lanes=2)
    run.events[0].extend(FakeRuns().stream(request("plain")))
    run.events[1].extend(FakeRuns().stream(request()))
    run.done.set()
    facts = {fact["key"]: fact for fact in theory_of(run, 0)["facts"]}
    assert facts["sv_theory_fact_measured"]["value"] > 1
    assert facts["sv_theory_fact_best"]["badge"] == ["sv_theory_badge_computed", {}]
