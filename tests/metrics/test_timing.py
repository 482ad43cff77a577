"""Times, costs and speed-ups against stubbed clocks."""

from collections.abc import Sequence

import pytest

from specviz.events import Verified
from specviz.metrics import (
    PlainTiming,
    explain_speed,
    speed_sentence,
    speed_verdict,
    summarise,
    time_run,
)
from tests.trace.sample_runs import sized, step

PLAIN = PlainTiming.of_baseline({"seconds_per_token": 0.05})


def clocked(accepted: int, num: int = 4) -> list[Verified]:
    """U37: five drafts of 10 ms each, a check of 50 ms."""
    times = {"draft_s": 0.05, "verify_s": 0.05, "other_s": 0.0, "num_draft_forwards": 5}
    return [sized(i, 5, accepted, **times) for i in range(num)]


def plain_steps(seconds: Sequence[float]) -> list[Verified]:
    return [step(i, "", draft_s=0.0, verify_s=s, other_s=0.0) for i, s in enumerate(seconds)]


def test_all_accepted_is_three_times_as_fast() -> None:
    timing = time_run(clocked(5), PLAIN)
    assert timing.measured_speedup == pytest.approx(3.0)
    assert timing.cost_coefficient == pytest.approx(0.2)
    assert timing.verify_cost == pytest.approx({6: 1.0})
    assert timing.draft_share == pytest.approx(0.5)
    assert timing.total_s == pytest.approx(0.4)
    reason = explain_speed(clocked(5), PLAIN)
    assert reason.verdict == "faster"
    assert "3.00× plain decoding: faster" in speed_sentence(reason)


def test_none_accepted_is_slower_and_drafting_is_to_blame() -> None:
    reason = explain_speed(clocked(0), PLAIN)
    assert reason.speedup == pytest.approx(0.5)
    assert (reason.verdict, reason.costliest) == ("slower", "draft")
    assert reason.gain_s == pytest.approx(0.0)
    assert reason.draft_s == pytest.approx(0.05)
    assert reason.verify_s == pytest.approx(0.0)
    sentence = speed_sentence(reason)
    assert "0.50×" in sentence
    assert "slower" in sentence
    assert "Drafting costs most" in sentence


def test_checking_is_to_blame_where_long_checks_cost_more() -> None:
    """A check of six positions takes 150 ms, three plain steps; drafting takes 10 ms."""
    times = {"draft_s": 0.01, "verify_s": 0.15, "other_s": 0.0, "num_draft_forwards": 5}
    reason = explain_speed([sized(0, 5, 1, **times)], PLAIN)
    assert (reason.verdict, reason.costliest) == ("slower", "verify")
    assert reason.verify_s == pytest.approx(0.10)
    assert "Checking costs most" in speed_sentence(reason)


def test_gain_and_costs_balance() -> None:
    """Saved minus paid time is the time saved against plain decoding, step by step."""
    reason = explain_speed(clocked(3), PLAIN)
    assert reason.gain_s is not None
    saved = reason.gain_s - (reason.draft_s + reason.verify_s + reason.other_s)
    assert saved == pytest.approx(4 * 0.05 - 0.10)


@pytest.mark.parametrize(
    ("speedup", "verdict"),
    [(0.5, "slower"), (0.994, "slower"), (0.996, "equal"), (1.004, "equal"), (1.01, "faster")],
)
def test_verdict_follows_the_two_decimals_shown(speedup: float, verdict: str) -> None:
    assert speed_verdict(speedup) == verdict


def test_no_speedup_is_claimed_without_a_plain_run() -> None:
    timing = time_run(clocked(5))
    assert timing.measured_speedup is None
    assert timing.cost_coefficient is None
    assert timing.verify_cost == {}
    reason = explain_speed(clocked(5))
    assert (reason.verdict, reason.speedup) == ("unknown", None)
    assert "No plain run" in speed_sentence(reason)
    assert "Nothing was decoded" in speed_sentence(explain_speed([]))


def test_own_target_only_steps_stand_in_for_a_plain_run() -> None:
    steps = [*clocked(5), *plain_steps([0.05, 0.05])]
    timing = time_run(steps)
    assert timing.cost_coefficient == pytest.approx(0.2)
    assert timing.verify_cost == pytest.approx({1: 1.0, 6: 1.0})


def test_medians_ignore_a_slow_first_step() -> None:
    """U38: a first step that is 2 s slower changes neither c nor v(k)."""
    slow = sized(0, 5, 5, draft_s=2.05, verify_s=2.05, other_s=0.0, num_draft_forwards=5)
    plain = PlainTiming.of_steps(plain_steps([2.05, 0.05, 0.05, 0.05]))
    timing = time_run([slow, *clocked(5)[1:]], plain)
    assert timing.cost_coefficient == pytest.approx(0.2)
    assert timing.verify_cost == pytest.approx({6: 1.0})


def test_shares_and_times_of_nothing_are_none() -> None:
    timing = time_run([], PLAIN)
    assert (timing.total_s, timing.draft_share, timing.seconds_per_token) == (0.0, None, None)
    assert timing.measured_speedup is None


@pytest.mark.parametrize("value", [None, 0, -1.0, float("nan"), float("inf"), True, "fast"])
def test_unusable_plain_times_are_unknown(value: object) -> None:
    plain = PlainTiming.of_baseline({"seconds_per_token": value})
    assert plain == PlainTiming(None, None, None)
    assert time_run(clocked(5), plain).measured_speedup is None


def test_expected_speedup_stands_beside_the_measured_one() -> None:
    """All accepted: α̂ = 1, c = 0.2, v(6) = 1, γ = 5: 6 / (5 · 0.2 + 1)."""
    metrics = summarise(clocked(5), {"seconds_per_token": 0.05})
    assert metrics["expected_speedup"] == pytest.approx(3.0)
    assert metrics["measured_speedup"] == pytest.approx(3.0)


def test_expected_speedup_of_a_drafter_without_forwards_takes_c_as_zero() -> None:
    """α̂ = 1, γ = 2, no draft forward, no v(k): 3 tokens per step."""
    steps = [sized(i, 2, 2, draft_s=0.0, num_draft_forwards=0) for i in range(3)]
    metrics = summarise(steps)
    assert metrics["cost_coefficient"] is None
    assert metrics["expected_speedup"] == pytest.approx(3.0)
