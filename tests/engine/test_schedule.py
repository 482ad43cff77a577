"""Draft length per step: the automatic choice with injected times, and the confidence stop."""

from __future__ import annotations

import random

import pytest
import torch

from specviz.config import SCHEDULES, DecodeConfig
from specviz.engine import decode as decode_module
from specviz.engine.draft_length import VerifyTimes, best_gamma, expected_speedup
from specviz.engine.drafters.base import Parts
from specviz.engine.language_model import LanguageModel
from specviz.engine.schedule import Auto, Constant, Heuristic, Outcome, schedule_of
from specviz.metrics import theory
from tests.fakes import generated, near_copy, new_ids, run_method, steps, tiny_llama

PROMPT = [5, 9, 3, 17, 40, 2, 8, 8, 21, 60, 1, 30]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


class World:
    """A pair of models with known rates and costs, in plain steps of ``step_s`` seconds."""

    def __init__(self, *, alpha, c, slope, seed=0, step_s=0.005, noise=0.0):
        self.alpha, self.c, self.slope, self.step_s = alpha, c, slope, step_s
        self.noise, self.random = noise, random.Random(seed)

    def curve(self, width: float) -> float:
        return 1 + self.slope * (width - 1)

    def step(self, gamma: int) -> Outcome:
        accepted = 0
        while accepted < gamma and self.random.random() < self.alpha:
            accepted += 1
        spread = [1 + self.noise * self.random.random() for _ in range(2)]
        verify_s = self.step_s * self.curve(gamma + 1) * spread[0]
        return Outcome(gamma, gamma, accepted, gamma * self.c * self.step_s * spread[1], verify_s)

    def merit(self, gamma: int) -> float:
        return expected_speedup(self.alpha, gamma, self.c, self.curve)

    @property
    def best(self) -> int:
        return best_gamma(self.alpha, self.c, self.curve)


def play(schedule, world, count: int) -> list[int]:
    """γ of ``count`` steps."""
    gammas = []
    for _ in range(count):
        gammas.append(schedule.gamma)
        schedule.learn(world.step(schedule.gamma))
    return gammas


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.6, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("c", [0.0, 0.05, 0.3, 1.5])
@pytest.mark.parametrize("slope", [0.0, 0.08, 0.5])
def test_best_gamma_agrees_with_the_theory_that_is_shown(alpha, c, slope):
    def curve(width: float) -> float:
        return 1 + slope * (width - 1)

    shown = theory.best_gamma(alpha, c=c, verify_cost=curve, gammas=range(1, 17))
    assert best_gamma(alpha, c, curve) == shown
    for gamma in (1, 5, 16):
        assert expected_speedup(alpha, gamma, c, curve) == pytest.approx(
            theory.expected_speedup(alpha, gamma, c=c, verify_cost=curve)
        )


def test_best_gamma_by_hand():
    """α = 0.5, c = 0.1, v = 1: 1.5/1.1 = 1.364, 1.75/1.2 = 1.458, 1.875/1.3 = 1.442."""
    assert best_gamma(0.5, 0.1, lambda k: 1.0) == 2
    assert best_gamma(0.0, 0.1, lambda k: 1.0) == 1
    assert best_gamma(1.0, 0.1, lambda k: 1.0) == 16
    assert best_gamma(1.0, 0.1, lambda k: 1.0, largest=7) == 7
    assert best_gamma(0.9, 5.0, lambda k: 1.0) == 1


def test_fewer_target_tokens_per_draft_token_are_reckoned_with():
    """Half a token per draft forward: 1.5/1.1 falls short of what a longer draft gives."""
    speed = expected_speedup(1.0, 4, 0.1, lambda k: 1 + 0.1 * (k - 1), share=0.5)
    assert speed == pytest.approx(3 / (0.4 + 1.2))


@pytest.mark.parametrize("alpha", [0.2, 0.6, 0.8, 0.95])
@pytest.mark.parametrize(("c", "slope"), [(0.02, 0.02), (0.15, 0.08), (0.5, 0.1)])
def test_auto_finds_a_draft_length_near_the_best(alpha, c, slope):
    world = World(alpha=alpha, c=c, slope=slope, noise=0.1)
    late = play(Auto(5), world, 80)[30:]
    merits = [world.merit(gamma) for gamma in late]
    assert sum(merits) / len(merits) > 0.93 * world.merit(world.best)


def test_auto_follows_a_change():
    schedule = Auto(5)
    high = play(schedule, World(alpha=0.97, c=0.05, slope=0.03), 40)[-10:]
    low = play(schedule, World(alpha=0.1, c=0.05, slope=0.03), 60)[-10:]
    assert min(high) >= 8
    assert max(low) <= 3


def test_auto_drafts_little_where_drafting_does_not_pay_but_never_stops():
    world = World(alpha=0.1, c=0.9, slope=0.3)
    assert world.merit(world.best) < 1
    assert set(play(Auto(8), world, 40)[5:]) == {1}


@pytest.mark.parametrize("start", [1, 2, 5, 16])
def test_auto_starts_as_told_probes_once_and_stays_within_bounds(start):
    gammas = play(Auto(start), World(alpha=1.0, c=0.0, slope=0.0), 20)
    assert gammas[0] == start
    assert gammas[1] == (4 if start <= 2 else 1)
    assert gammas[-1] == 16
    assert all(1 <= gamma <= 16 for gamma in gammas)


def test_auto_ignores_one_slow_step():
    calm, shaken = Auto(5), Auto(5)
    for number in range(30):
        outcome = Outcome(5, 5, 4, 0.002, 0.006 if number % 2 else 0.0061)
        calm.learn(outcome)
        slow = Outcome(5, 5, 4, 0.5, 2.0)
        shaken.learn(slow if number == 20 else outcome)
    assert calm.gamma == shaken.gamma


def test_auto_is_a_function_of_what_it_is_told():
    world = World(alpha=0.7, c=0.1, slope=0.05, noise=0.3)
    outcomes = [world.step(5) for _ in range(40)]
    chosen = []
    for _ in range(2):
        schedule, seen = Auto(5), []
        for outcome in outcomes:
            schedule.learn(outcome)
            seen.append(schedule.gamma)
        chosen.append(seen)
    assert chosen[0] == chosen[1]


def test_auto_survives_steps_without_proposals_and_without_time():
    schedule = Auto(4)
    for outcome in [Outcome(4, 0, 0, 0.0, 0.0), Outcome(0, 0, 0), Outcome(4, 4, 2)] * 3:
        schedule.learn(outcome)
        assert 1 <= schedule.gamma <= 16


def test_acceptance_estimate_counts_judged_positions():
    """Prior 0.7 with weight 4; one step with 2 accepted and 1 rejected of 5: (2.8 + 2)/(4 + 3)."""
    schedule = Auto(5)
    assert schedule.acceptance_rate == pytest.approx(0.7)
    schedule.learn(Outcome(5, 5, 2, 0.001, 0.005))
    assert schedule.acceptance_rate == pytest.approx(4.8 / 7)


@pytest.mark.parametrize(
    ("accepted", "expected"), [(3, (2.8 + 2) / 6), (2, (2.8 + 2) / 6), (1, (2.8 + 1) / 6)]
)
def test_loose_end_is_left_out_of_the_acceptance_estimate(accepted, expected):
    """Three proposed: only the first two count."""
    schedule = Auto(5)
    schedule.learn(Outcome(5, 3, accepted, 0.001, 0.005, loose_end=True))
    assert schedule.acceptance_rate == pytest.approx(expected)


def test_auto_is_not_trapped_where_short_drafts_are_all_loose():
    """Half a token per draft token, and a cut word at the end that is nearly always refused."""
    dice, schedule, gammas = random.Random(1), Auto(5), []
    for _ in range(60):
        gamma = schedule.gamma
        gammas.append(gamma)
        proposed = (gamma + 1) // 2
        accepted = 0
        while accepted < proposed and dice.random() < (0.8 if accepted < proposed - 1 else 0.1):
            accepted += 1
        seconds = (0.0004 * gamma, 0.005 * (1 + 0.06 * proposed))
        schedule.learn(Outcome(gamma, proposed, accepted, *seconds, loose_end=True))
    assert min(gammas[10:]) >= 4
    assert sum(gammas[20:]) / 40 > 6


def test_expected_speedup_with_another_rate_at_the_end():
    """Three tokens, α = 0.5, the last with 0.1: 1 + 0.5 + 0.25 + 0.25·0.1 for a step of v = 1."""
    found = expected_speedup(0.5, 3, 0.0, lambda k: 1.0, last=0.1)
    assert found == pytest.approx(1.775)
    assert expected_speedup(0.5, 1, 0.0, lambda k: 1.0, share=0.5, last=0.1) == 1.05


def test_verify_times_give_the_line_through_the_medians():
    times = VerifyTimes()
    for width, seconds in [(2, 0.011), (12, 0.021), (2, 0.011), (12, 0.021), (2, 9.0)]:
        times.add(width, seconds)
    base, curve = times.curve()
    assert base == pytest.approx(0.010, rel=0.05)
    assert curve(1) == 1.0
    assert curve(6) == pytest.approx(1.5, rel=0.05)
    assert VerifyTimes().curve()[0] == 0


def test_verify_times_never_fall_with_the_width():
    times = VerifyTimes()
    for width, seconds in [(2, 0.02), (8, 0.01), (2, 0.02), (8, 0.01)]:
        times.add(width, seconds)
    _, curve = times.curve()
    assert curve(8) >= curve(2) >= 1


def test_heuristic_and_constant():
    heuristic, constant = Heuristic(5), Constant(5)
    seen = []
    for accepted, proposed in [(5, 5), (3, 7), (0, 0), (0, 6), (15, 15), (16, 16), (16, 16)]:
        for schedule in (heuristic, constant):
            schedule.learn(Outcome(proposed, proposed, accepted))
        seen.append(heuristic.gamma)
    assert seen == [7, 6, 6, 5, 7, 9, 11]
    assert constant.gamma == 5


def test_every_schedule_of_the_settings_exists():
    for name in SCHEDULES:
        assert schedule_of(name, 3).gamma == 3


class TickingClock:
    """Every look at it takes a millisecond."""

    def __init__(self, device: torch.device) -> None:
        self.ticks = 0

    def now(self) -> float:
        self.ticks += 1
        return self.ticks / 1000


@pytest.mark.parametrize("method", ["speculative", "early_exit", "prompt_lookup"])
def test_auto_run_is_greedy_and_records_gamma_per_step(method, monkeypatch):
    monkeypatch.setattr(decode_module, "Clock", TickingClock)
    model = tiny_llama(layers=4)
    draft = LanguageModel(near_copy(model, noise=0.01))
    config = DecodeConfig(max_new_tokens=48, gamma=3, schedule="auto", exit_layer=3)
    parts = Parts(LanguageModel(model), config, draft=draft)
    events = [run_method(method, parts, PROMPT) for _ in range(2)]
    assert events[0] == events[1]  # the state died with the first run
    assert new_ids(events[0]) == generated(model, PROMPT, 48)
    found = steps(events[0])
    assert found[0].gamma == 3
    assert all(len(step.proposed) <= step.gamma <= 16 for step in found)
    if method == "speculative":
        assert len({step.gamma for step in found}) > 2


@pytest.mark.parametrize(("confidence", "expected"), [(0.0, {3}), (0.4, {1})])
def test_confidence_gate_ends_drafts_of_an_unsure_model(confidence, expected):
    """U12: off = γ per step; 0.4 on a random draft model = one per step; recorded in each step."""
    model = tiny_llama()
    parts = Parts(
        LanguageModel(model),
        DecodeConfig(max_new_tokens=30, gamma=3, confidence=confidence),
        draft=LanguageModel(tiny_llama(seed=4, std=0.1)),
    )
    found = steps(run_method("speculative", parts, PROMPT))
    assert {len(step.proposed) for step in found[:-3]} == expected
    assert {step.confidence for step in found} == {confidence}
