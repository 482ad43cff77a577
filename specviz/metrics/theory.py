"""Closed forms of speculative decoding: expected tokens per step, expected speed-up, best γ.

Source: Leviathan, Kalman and Matias (2023), "Fast inference from transformers via speculative
decoding", arXiv 2211.17192, section 3. The formulas assume that acceptances are independent with
one rate α; the paper also assumes that scoring γ + 1 positions costs as much as scoring one, which
``verify_cost`` relaxes. Everything here is computed, nothing is measured.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from math import fsum, isfinite

from specviz.config import MAX_GAMMA

VerifyCost = Callable[[int], float]


def expected_tokens(alpha: float, gamma: int) -> float:
    """Expected tokens per target step, the target's own token included.

    Args:
        alpha: acceptance rate, 0 to 1.
        gamma: draft length, 0 or more.

    Returns:
        (1 − α^(γ+1)) / (1 − α), and its limit γ + 1 at α = 1.

    Raises:
        ValueError: an argument is out of its range.

    Source: arXiv 2211.17192, equation 1.
    """
    _check(alpha=alpha, gamma=gamma)
    return fsum(alpha**power for power in range(gamma + 1))  # the same sum, exact at α = 1


def expected_speedup(
    alpha: float, gamma: int, *, c: float, verify_cost: VerifyCost | None = None
) -> float:
    """Expected time per token of plain decoding over that of speculative decoding.

    Args:
        alpha: acceptance rate, 0 to 1.
        gamma: draft length, 0 or more.
        c: cost coefficient, time of a draft forward over time of a plain target step.
        verify_cost: v(k), time of a target forward over k positions over that of one position;
            None = 1 for every k, as in the paper.

    Returns:
        expected tokens / (γc + v(γ + 1)); below 1 means slower.

    Raises:
        ValueError: an argument is out of its range.

    Source: arXiv 2211.17192, theorem 3.8 (there with v = 1).
    """
    tokens = expected_tokens(alpha, gamma)
    if not isfinite(c) or c < 0:
        raise ValueError(f"c must be a finite number that is not negative, got {c!r}")
    return tokens / (gamma * c + (1.0 if verify_cost is None else verify_cost(gamma + 1)))


def best_gamma(
    alpha: float,
    *,
    c: float,
    verify_cost: VerifyCost | None = None,
    gammas: Iterable[int] = range(MAX_GAMMA + 1),
) -> int:
    """Draft length with the greatest expected speed-up.

    Args:
        alpha: acceptance rate, 0 to 1.
        c: cost coefficient.
        verify_cost: v(k), None = 1 for every k.
        gammas: the lengths to choose from; 0 stands for plain decoding.

    Returns:
        The best length, the shortest one on a tie; 0 where drafting does not pay.
    """

    def merit(gamma: int) -> tuple[float, int]:
        return expected_speedup(alpha, gamma, c=c, verify_cost=verify_cost), -gamma

    return max(gammas, key=merit)


def cost_curve(points: Mapping[int, float]) -> VerifyCost:
    """A verify cost v(k) for every k out of measured points.

    Args:
        points: k -> v(k) for the k that were measured, k at least 1.

    Returns:
        A function that is linear between the points and anchored at v(1) = 1. Behind the last
        point it follows the line from (1, 1) through that point, but never falls. Without any
        point it is 1 everywhere.
    """
    known = {1: 1.0} | dict(points)
    places = sorted(known)
    last = places[-1]

    def cost(k: int) -> float:
        if k in known:
            return known[k]
        if k > last:
            slope = (known[last] - 1) / (last - 1) if last > 1 else 0.0
            return known[last] + max(slope, 0.0) * (k - last)
        right = bisect_left(places, k)
        low, high = places[right - 1], places[right]
        share = (k - low) / (high - low)
        return known[low] * (1 - share) + known[high] * share

    return cost


def _check(*, alpha: float, gamma: int) -> None:
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must be from 0 to 1, got {alpha!r}")
    if gamma < 0:
        raise ValueError(f"gamma must not be negative, got {gamma!r}")
