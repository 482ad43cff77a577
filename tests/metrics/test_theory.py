"""Closed forms against the paper's own table and against hand computation."""

import pytest

from specviz.metrics import best_gamma, cost_curve, expected_speedup, expected_tokens


@pytest.mark.parametrize(
    ("alpha", "gamma", "tokens"),
    [
        (0.6, 2, 1.96),
        (0.7, 3, 2.53),
        (0.8, 2, 2.44),
        (0.8, 5, 3.69),
        (0.9, 2, 2.71),
        (0.9, 10, 6.86),
    ],
)
def test_expected_tokens_agrees_with_the_paper(alpha: float, gamma: int, tokens: float) -> None:
    """Leviathan et al., table 1, column "speed", where c = 0 makes both formulas one."""
    assert expected_tokens(alpha, gamma) == pytest.approx(tokens, abs=0.005)
    assert expected_speedup(alpha, gamma, c=0) == pytest.approx(tokens, abs=0.005)


def test_expected_tokens_at_the_ends() -> None:
    assert expected_tokens(1.0, 5) == 6.0
    assert expected_tokens(0.0, 5) == 1.0
    assert expected_tokens(0.5, 0) == 1.0
    assert expected_tokens(0.7, 1) == pytest.approx(1.7)  # the two-token case: β = 0.7


def test_expected_tokens_is_continuous_at_one() -> None:
    assert expected_tokens(1 - 1e-12, 7) == pytest.approx(8.0, abs=1e-9)


def test_expected_speedup_of_the_clock_case() -> None:
    """U37: c = 10 ms / 50 ms, γ = 5: 6 tokens per 2 steps, or 1 token per 2 steps."""
    assert expected_speedup(1.0, 5, c=0.2) == pytest.approx(3.0)
    assert expected_speedup(0.0, 5, c=0.2) == pytest.approx(0.5)


def test_expected_speedup_of_one_draft_is_the_papers_bound() -> None:
    """Corollary 3.9: with γ = 1 the factor is (1 + α) / (1 + c)."""
    assert expected_speedup(0.6, 1, c=0.25) == pytest.approx(1.6 / 1.25)


def test_expected_speedup_uses_the_measured_verify_cost() -> None:
    assert expected_speedup(1.0, 5, c=0.2, verify_cost=lambda k: 2.0) == pytest.approx(6 / 3)


def test_best_gamma_is_zero_where_drafting_costs_more_than_it_gains() -> None:
    assert best_gamma(0.1, c=0.2) == 0
    assert best_gamma(0.0, c=0.0) == 0  # nothing is gained, so the shortest of equals


def test_best_gamma_is_longest_where_drafts_are_free_and_always_right() -> None:
    assert best_gamma(1.0, c=0.0) == 16
    assert best_gamma(1.0, c=0.0, gammas=range(5)) == 4


def test_best_gamma_by_hand() -> None:
    """α = 0.5, c = 0.1: 1.5/1.1 = 1.364, 1.75/1.2 = 1.458, 1.875/1.3 = 1.442."""
    assert best_gamma(0.5, c=0.1) == 2


@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan")])
def test_theory_refuses_an_impossible_rate(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        expected_tokens(alpha, 2)


def test_theory_refuses_impossible_lengths_and_costs() -> None:
    with pytest.raises(ValueError, match="gamma"):
        expected_tokens(0.5, -1)
    with pytest.raises(ValueError, match="c must be"):
        expected_speedup(0.5, 2, c=float("inf"))


def test_cost_curve_joins_the_measured_points() -> None:
    cost = cost_curve({3: 2.0, 5: 2.0})
    assert [cost(k) for k in (1, 2, 3, 4, 5)] == pytest.approx([1.0, 1.5, 2.0, 2.0, 2.0])
    assert cost(9) == pytest.approx(3.0)  # slope (2 - 1) / (5 - 1) behind the last point


def test_cost_curve_without_points_is_the_papers_assumption() -> None:
    cost = cost_curve({})
    assert [cost(k) for k in (1, 6, 17)] == [1.0, 1.0, 1.0]


def test_cost_curve_never_falls_behind_the_last_point() -> None:
    assert cost_curve({4: 0.9})(8) == pytest.approx(0.9)
