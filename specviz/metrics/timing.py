"""Where the time of a run goes: event durations -> measured costs and speed-up.

Times are seconds. Ratios are taken between medians, so that the first, slow forward does not
count, except where the definition is a sum (``seconds_per_token``). What needs a plain run beside
it takes a ``PlainTiming``. This module must not know models, clocks or the page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite
from statistics import median
from typing import Any

from specviz.events import Verified
from specviz.metrics.counts import ratio


@dataclass(frozen=True, slots=True)
class PlainTiming:
    """Times of plain decoding, the yardstick of a run.

    Attributes:
        seconds_per_token: time of all its steps over its new tokens.
        step_s: median time of one of its steps.
        forward_s: median time of one of its target forwards, over one position.
    """

    seconds_per_token: float | None = None
    step_s: float | None = None
    forward_s: float | None = None

    @classmethod
    def of_steps(cls, steps: Sequence[Verified]) -> PlainTiming:
        """Times of the target-only steps among ``steps``, which may be a whole plain run."""
        plain = [step for step in steps if not step.proposed]
        return cls(
            seconds_per_token=seconds_per_token(plain),
            step_s=_median([step.seconds for step in plain]),
            forward_s=_median([_forward_s(step) for step in plain]),
        )

    @classmethod
    def of_baseline(cls, baseline: Mapping[str, Any] | None) -> PlainTiming:
        """Times in the ``baseline`` object of a trace; what it lacks is derived from the rest."""
        found = dict(baseline or {})
        per_token = _positive(found.get("seconds_per_token"))
        step_s = _positive(found.get("step_s")) or per_token
        return cls(per_token, step_s, _positive(found.get("verify_s")) or step_s)


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of a run.

    Attributes:
        draft_s, verify_s, other_s: sums over the steps; they add up to ``total_s``.
        total_s: time of all steps.
        draft_share, verify_share, other_share: parts of ``total_s``, together 1.
        seconds_per_token: ``total_s`` over committed tokens.
        draft_forward_s: median time of one draft forward.
        cost_coefficient: c = ``draft_forward_s`` / plain ``step_s``; None without a draft forward
            or without a plain step to compare with.
        verify_cost: v(k): positions -> median time of a target forward over k positions, relative
            to one position; empty without a plain forward to compare with.
        measured_speedup: plain ``seconds_per_token`` over that of this run; below 1 is slower.
    """

    draft_s: float
    verify_s: float
    other_s: float
    total_s: float
    draft_share: float | None
    verify_share: float | None
    other_share: float | None
    seconds_per_token: float | None
    draft_forward_s: float | None
    cost_coefficient: float | None
    verify_cost: Mapping[int, float]
    measured_speedup: float | None


def time_run(steps: Sequence[Verified], plain: PlainTiming | None = None) -> Timing:
    """Add up the times of a run and compare them with plain decoding.

    Args:
        steps: the steps in order; may be empty.
        plain: times of the plain run beside it. Without one, c and v(k) are measured against this
            run's own target-only steps, and no speed-up is known.
    """
    own = PlainTiming.of_steps(steps)
    yard = plain or PlainTiming()
    draft_s, verify_s, other_s = (
        fsum(getattr(step, part) for step in steps) for part in ("draft_s", "verify_s", "other_s")
    )
    total_s = fsum((draft_s, verify_s, other_s))
    per_token = seconds_per_token(steps)
    return Timing(
        draft_s=draft_s,
        verify_s=verify_s,
        other_s=other_s,
        total_s=total_s,
        draft_share=ratio(draft_s, total_s),
        verify_share=ratio(verify_s, total_s),
        other_share=ratio(other_s, total_s),
        seconds_per_token=per_token,
        draft_forward_s=draft_forward_s(steps),
        cost_coefficient=_over(draft_forward_s(steps), yard.step_s or own.step_s),
        verify_cost=verify_cost(steps, yard.forward_s or own.forward_s),
        measured_speedup=_over(yard.seconds_per_token, per_token),
    )


def seconds_per_token(steps: Sequence[Verified]) -> float | None:
    """Time of all steps over their committed tokens, without the prompt."""
    return ratio(fsum(s.seconds for s in steps), sum(len(s.committed_ids) for s in steps))


def draft_forward_s(steps: Sequence[Verified]) -> float | None:
    """Median time of one draft forward, None where the drafter runs none."""
    drafting = [step for step in steps if step.num_draft_forwards]
    return _median([step.draft_s / step.num_draft_forwards for step in drafting])


def verify_cost(steps: Sequence[Verified], forward_s: float | None) -> dict[int, float]:
    """Measured v(k), by number of positions k = proposals + 1, in rising order.

    Args:
        steps: the steps in order.
        forward_s: time of a target forward over one position; without it nothing is known.
    """
    if not forward_s:
        return {}
    times: dict[int, list[float]] = defaultdict(list)
    for step in steps:
        times[len(step.proposed) + 1].append(_forward_s(step))
    return {k: median(times[k]) / forward_s for k in sorted(times)}


def _forward_s(step: Verified) -> float:
    return step.verify_s / max(1, step.num_target_forwards)


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _over(part: float | None, whole: float | None) -> float | None:
    return None if part is None or whole is None else ratio(part, whole)


def _positive(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if isfinite(value) and value > 0 else None
