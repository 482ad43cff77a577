"""What a draft of γ tokens may be expected to bring, and the γ that brings most.

Closed forms and running estimates; the ``auto`` schedule feeds them. ``metrics.theory`` has the
same closed form for display; the engine may not import it, hence the one here (a test compares the
two).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from statistics import median

from specviz.config import MAX_GAMMA, MIN_GAMMA

VerifyCurve = Callable[[float], float]

MEMORY = 0.95  # weight of older steps shrinks by this: the last 20 or so count
PRIOR_SLOPE, SLOPE_WEIGHT = 0.05, 4.0  # cost of one more position to verify, as a share of a step
MAX_TIMES = 9  # times kept per width: their median ignores outliers


def best_gamma(
    alpha: float,
    c: float,
    verify_curve: VerifyCurve,
    *,
    share: float = 1.0,
    last: float | None = None,
    largest: int = MAX_GAMMA,
) -> int:
    """The draft length of 1 … ``largest`` with the greatest expected speed-up, shortest on a tie.

    Args:
        alpha, c, verify_curve, share, last: as in ``expected_speedup``.
        largest: the longest draft to consider.
    """

    def merit(gamma: int) -> tuple[float, int]:
        return expected_speedup(alpha, gamma, c, verify_curve, share=share, last=last), -gamma

    return max(range(MIN_GAMMA, largest + 1), key=merit)


def expected_speedup(
    alpha: float,
    gamma: int,
    c: float,
    verify_curve: VerifyCurve,
    *,
    share: float = 1.0,
    last: float | None = None,
) -> float:
    """Speed relative to plain decoding: (1 − α^(γ+1)) / ((1 − α)(γc + v(γ + 1))).

    Args:
        alpha: chance that a judged token is accepted, 0 to 1.
        gamma: draft tokens asked for.
        c: time of a draft forward over that of a plain step.
        verify_curve: v(k), time of verifying k positions over that of one.
        share: target tokens proposed per draft token asked for; below 1 where the two models
            have different tokens, or where drafts end early.
        last: chance that the last token of a draft is accepted, None = ``alpha``.

    Source: Leviathan et al., arXiv 2211.17192, theorem 3.8, with v for the paper's 1.
    """
    tokens = _expected_tokens(alpha, share * gamma, alpha if last is None else last)
    return tokens / (gamma * c + verify_curve(share * gamma + 1))


def _expected_tokens(alpha: float, count: float, last: float) -> float:
    """1 + α + … + α^(n−1) + α^(n−1)·last; n need not be whole."""
    if count < 1:
        return 1 + count * last
    sure = count if alpha >= 1 else (1 - alpha**count) / (1 - alpha)
    return sure + alpha ** (count - 1) * last


class RunningRate:
    """A share estimated from recent steps, with a prior that counts for a few observations."""

    def __init__(self, prior: float, weight: float) -> None:
        self._prior, self._weight = prior, weight
        self._hits, self._total = prior * weight, weight

    def add(self, hits: float, total: float) -> None:
        """Note ``hits`` out of ``total``; the past fades, the prior keeps its weight."""
        fade = self._weight * (1 - MEMORY)
        self._hits = MEMORY * self._hits + fade * self._prior + hits
        self._total = MEMORY * self._total + fade + total

    @property
    def value(self) -> float:
        """The estimate."""
        return self._hits / self._total


class VerifyTimes:
    """Times of verification by width, and the line through their medians."""

    def __init__(self) -> None:
        self._times: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=MAX_TIMES))

    def add(self, width: int, seconds: float) -> None:
        """Note the time of a forward pass over ``width`` positions."""
        self._times[width].append(seconds)

    def curve(self) -> tuple[float, VerifyCurve]:
        """Seconds of a plain step, and v(k): time over k positions in plain steps.

        A least-squares line; its slope is drawn towards 5 % of a step per position while the
        widths seen lie close together, and is never below 0.
        """
        points = [(width, median(times), len(times)) for width, times in self._times.items()]
        weight = sum(count for _, _, count in points)
        if not weight:
            return 0.0, lambda width: 1.0
        middle = sum(width * count for width, _, count in points) / weight
        level = sum(time * count for _, time, count in points) / weight
        spread = sum(count * (width - middle) ** 2 for width, _, count in points)
        joint = sum(count * (width - middle) * time for width, time, count in points)
        prior = PRIOR_SLOPE * level / (1 + PRIOR_SLOPE * (middle - 1))
        slope = (joint + SLOPE_WEIGHT * prior) / (spread + SLOPE_WEIGHT)
        slope = min(max(slope, 0.0), level / middle)
        base = level + slope * (1 - middle)
        if base <= 0:
            return 0.0, lambda width: 1.0
        return base, lambda width: 1 + slope / base * (width - 1)
