"""Sweeps: which settings, which values, which runs, and what a point says."""

from __future__ import annotations

import pytest

from specviz.config import MAX_NEW_TOKENS, MethodCard
from specviz.errors import SettingError
from specviz.events import Finished, Verified
from specviz.metrics import PlainTiming, count
from specviz.sweep import KNOBS, is_done, knobs_of, measured, plan, points_of, values_of
from tests.ui.fake_runs import CARDS, FakeRuns, request

CARD = {card.key: card for card in CARDS}


def events(method: str = "speculative", **options: object) -> list:
    return list(FakeRuns().stream(request(method, **options)))


def test_a_method_is_swept_over_what_it_obeys() -> None:
    assert knobs_of(CARD["speculative"]) == ("gamma", "temperature")
    assert knobs_of(CARD["early_exit"]) == ("gamma", "exit_layer", "temperature")
    assert knobs_of(CARD["plain"]) == ()
    mixing = MethodCard("ensemble", "E", "", "", settings=("ensemble_weight",))
    assert knobs_of(mixing) == ("ensemble_weight", "temperature")


@pytest.mark.parametrize("knob", KNOBS)
def test_every_value_is_allowed(knob: str) -> None:
    values = values_of(knob, num_layers=30)
    assert list(values) == sorted(set(values))
    card = MethodCard("x", "X", "", "", settings=KNOBS)
    assert len(plan(request(), card, knob, values)) == len(values) + 2


def test_exit_layers_stay_below_the_last_one() -> None:
    assert values_of("exit_layer", num_layers=5) == (1, 2, 3, 4)
    many = values_of("exit_layer", num_layers=64)
    assert len(many) <= 12
    assert max(many) < 64


def test_a_sweep_stands_between_two_plain_runs() -> None:
    runs = plan(request(), CARD["speculative"], "gamma", (1, 2, 3))
    assert [run.method for run in runs] == ["plain", *["speculative"] * 3, "plain"]
    assert [run.config.gamma for run in runs[1:-1]] == [1, 2, 3]
    assert runs[0].draft is None
    assert {run.config.max_new_tokens for run in runs} == {MAX_NEW_TOKENS}


def test_a_setting_that_a_method_does_not_obey_is_refused() -> None:
    with pytest.raises(SettingError, match=r"Prompt lookup .*exit_layer.*gamma, temperature"):
        plan(request("prompt_lookup"), CARD["prompt_lookup"], "exit_layer", (1, 2))
    with pytest.raises(SettingError, match="choose a method that drafts"):
        plan(request("plain"), CARD["plain"], "gamma", (1, 2))


def test_a_point_holds_the_figures_of_its_run() -> None:
    steps = [event for event in events() if isinstance(event, Verified)]
    plain = PlainTiming(seconds_per_token=0.003, step_s=0.003, forward_s=0.0018)
    point, counts = measured(5, steps, plain), count(steps)
    assert point.alpha == counts.acceptance_rate
    assert point.tau == counts.block_efficiency
    assert point.speedup == pytest.approx(counts.num_tokens / len(steps))  # steps take as long
    alpha = counts.acceptance_rate or 0.0
    assert point.expected_tau == pytest.approx(sum(alpha**k for k in range(6)))
    assert point.expected_speedup is not None


def test_only_finished_runs_are_points() -> None:
    plain = events("plain")
    stopped = [*events()[:-1], Finished(ids=(), finish_reason="cancelled", decode_s=0.1)]
    assert not is_done(stopped)
    assert not is_done([])
    points = points_of((1, 2, 3), [plain, events(gamma=1), stopped, [], []])
    assert [point.value for point in points] == [1]
    assert points[0].speedup is not None


def test_without_its_plain_run_a_point_has_no_speedup() -> None:
    points = points_of((1,), [[], events(gamma=1), []])
    assert points[0].speedup is None
    assert points[0].alpha is not None
