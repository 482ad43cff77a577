"""Curves over the steps of a run: acceptance (per step, rolling, cumulative), time and tokens.

Every series has one value per step, so that a plot keeps its shape while a run grows; a value
without a denominator is None. Pure; draws nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from specviz.events import Verified
from specviz.metrics.counts import num_judged, ratio

ROLLING_WINDOW = 10


@dataclass(frozen=True, slots=True)
class AcceptanceSeries:
    """Acceptance rates over a run, each accepted / judged, from 0 to 1.

    Attributes:
        per_step: rate of the step alone.
        rolling: rate of the last ``window`` steps, or of all so far where there are fewer.
        cumulative: rate of all steps so far; its last value is ``acceptance_rate``.
        window: number of steps in ``rolling``.
    """

    per_step: tuple[float | None, ...]
    rolling: tuple[float | None, ...]
    cumulative: tuple[float | None, ...]
    window: int


@dataclass(frozen=True, slots=True)
class TokenSeries:
    """Committed tokens against time.

    Attributes:
        elapsed_s: seconds of decoding at the start and after each step.
        num_tokens: committed tokens at the same moments; both start with 0.
    """

    elapsed_s: tuple[float, ...]
    num_tokens: tuple[int, ...]


def acceptance_series(
    steps: Sequence[Verified], *, window: int = ROLLING_WINDOW
) -> AcceptanceSeries:
    """Acceptance of each step, of a rolling window and of the run so far.

    Args:
        steps: the steps in order.
        window: number of steps in the rolling rate, at least 1.

    Raises:
        ValueError: the window is empty.
    """
    if window < 1:
        raise ValueError(f"window must be at least 1, got {window!r}")
    accepted = [len(step.accepted) for step in steps]
    judged = [num_judged(step) for step in steps]
    sums = list(zip(accumulate(accepted, initial=0), accumulate(judged, initial=0), strict=True))
    rolling = []
    for end in range(1, len(sums)):
        start = max(0, end - window)
        rolling.append(ratio(sums[end][0] - sums[start][0], sums[end][1] - sums[start][1]))
    return AcceptanceSeries(
        per_step=tuple(ratio(a, j) for a, j in zip(accepted, judged, strict=True)),
        rolling=tuple(rolling),
        cumulative=tuple(ratio(a, j) for a, j in sums[1:]),
        window=window,
    )


def token_series(steps: Sequence[Verified]) -> TokenSeries:
    """Tokens committed by the time of each step; time without the prompt."""
    return TokenSeries(
        elapsed_s=tuple(accumulate((step.seconds for step in steps), initial=0.0)),
        num_tokens=tuple(accumulate((len(step.committed_ids) for step in steps), initial=0)),
    )


def baseline_tokens(baseline: Mapping[str, Any] | None) -> TokenSeries:
    """The plain run beside a run as a straight line: a trace holds its total time only.

    Args:
        baseline: the ``baseline`` object of a trace; None gives an empty series.
    """
    if baseline is None:
        return TokenSeries(elapsed_s=(), num_tokens=())
    return TokenSeries(
        elapsed_s=(0.0, float(baseline["decode_s"])), num_tokens=(0, len(baseline["ids"]))
    )
