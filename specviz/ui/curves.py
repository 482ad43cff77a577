"""Sheets of curves as plain data for ``specviz-curves.js``. Pure: draws nothing, no Gradio.

A sheet is a dictionary of facts (key of a text, value, form, badge) and charts; a chart is a list
of x with one y per series, and single points on it. All texts are keys of the dictionaries, so
that the browser words them; all numbers come from ``specviz.metrics``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any

from specviz.config import MAX_GAMMA
from specviz.events import Verified
from specviz.metrics import (
    Counts,
    PlainTiming,
    Timing,
    best_gamma,
    cost_curve,
    count,
    expected_speedup,
    expected_tokens,
    time_run,
)
from specviz.metrics.summary import expected_run_speedup
from specviz.metrics.theory import VerifyCost

COMPUTED = ["sv_theory_badge_computed", {}]
OTHER_ALPHAS = (0.5, 0.7, 0.9)
GAMMAS = tuple(range(MAX_GAMMA + 1))
ALPHAS = tuple(i / 40 for i in range(41))

Chart = dict[str, Any]
Badge = list[Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """What the formulas need of a run, and what it did.

    Attributes:
        counts, timing: figures of the run.
        alpha: α̂, from 0 to 1.
        c: cost coefficient, 0 for a drafter without forward passes.
        verify_cost: v(k), measured where it was, else 1.
        gamma: draft length asked for in most steps.
        expected: expected speed-up of the run's own draft lengths.
    """

    counts: Counts
    timing: Timing
    alpha: float
    c: float
    verify_cost: VerifyCost
    gamma: int
    expected: float | None


def measure(steps: Sequence[Verified], plain: PlainTiming | None) -> Measured | None:
    """The quantities of the formula, None where the run judged nothing or c is unknown."""
    counts, timing = count(steps), time_run(steps, plain)
    c = timing.cost_coefficient
    if c is None and counts.num_draft_forwards == 0:
        c = 0.0
    if counts.acceptance_rate is None or c is None:
        return None
    return Measured(
        counts=counts,
        timing=timing,
        alpha=counts.acceptance_rate,
        c=c,
        verify_cost=cost_curve(timing.verify_cost),
        gamma=median_low([step.gamma for step in steps if step.proposed]),
        expected=expected_run_speedup(steps, counts, timing),
    )


def theory_sheet(found: Measured, badge: Badge) -> dict[str, Any]:
    """Theory against measurement of one run.

    Args:
        found: the quantities of the run.
        badge: where its measurements come from.
    """
    best = best_gamma(found.alpha, c=found.c, verify_cost=found.verify_cost)
    positions = found.gamma + 1
    return {
        "facts": [
            fact("alpha", found.alpha, "percent", badge),
            fact("c", found.c, "fine", badge),
            fact("v", found.verify_cost(positions), "number", badge),
            fact("measured", found.timing.measured_speedup, "times", badge),
            fact("expected", found.expected, "times", COMPUTED),
            fact("best", best, "whole", COMPUTED),
        ],
        "note": "sv_theory_note",
        "charts": [
            speedup_over_gamma(found, best, badge),
            tokens_over_gamma(found, badge),
            speedup_over_alpha(found, badge),
            tokens_over_alpha(found, badge),
            histogram(found.counts, badge),
            positions_chart(found.counts, badge),
        ],
    }


def fact(name: str, value: float | None, form: str, badge: Badge) -> dict[str, Any]:
    """One figure with where it comes from."""
    return {"key": f"sv_theory_fact_{name}", "value": value, "form": form, "badge": badge}


def series(name: str, ys: Iterable[float | None], style: str, **more: Any) -> dict[str, Any]:
    """One line or one row of bars."""
    return {"name": name, "ys": list(ys), "style": style, **more}


def point(name: str, x: float, y: float | None, mark: str) -> dict[str, Any]:
    """One mark on a chart."""
    return {"name": name, "x": x, "y": y, "mark": mark}


def chart(title: str, x: str, xs: Sequence[float], ys: list[Any], **more: Any) -> Chart:
    """A chart; ``more`` are its optional parts."""
    return {"title": title, "x": x, "xs": list(xs), "ticks": list(xs), "series": ys, **more}


def speedup_over_gamma(found: Measured, best: int, badge: Badge) -> Chart:
    """Expected speed-up per draft length: measured costs, the paper's cost, other rates."""

    def curve(alpha: float, cost: VerifyCost | None) -> list[float]:
        return [expected_speedup(alpha, g, c=found.c, verify_cost=cost) for g in GAMMAS]

    mine = curve(found.alpha, found.verify_cost)
    return chart(
        "sv_theory_speedup_gamma",
        "sv_theory_x_gamma",
        GAMMAS,
        [
            series("sv_theory_curve_measured", mine, "main"),
            series("sv_theory_curve_paper", curve(found.alpha, None), "paper"),
            *others(lambda alpha: curve(alpha, found.verify_cost)),
        ],
        points=[
            point("sv_theory_point_best", best, mine[best], "best"),
            point("sv_theory_point_run", found.gamma, found.timing.measured_speedup, "run"),
        ],
        badges=[COMPUTED, badge],
        one=True,
    )


def others(curve: Any) -> list[dict[str, Any]]:
    """The same curve at other acceptance rates."""
    return [
        series("sv_theory_curve_alpha", curve(alpha), f"faint-{i}", values={"alpha": alpha})
        for i, alpha in enumerate(OTHER_ALPHAS)
    ]


def tokens_over_gamma(found: Measured, badge: Badge) -> Chart:
    """Expected tokens per target step for each draft length."""
    mine = [expected_tokens(found.alpha, gamma) for gamma in GAMMAS]
    return chart(
        "sv_theory_tokens_gamma",
        "sv_theory_x_gamma",
        GAMMAS,
        [
            series("sv_theory_curve_run", mine, "main"),
            *others(lambda alpha: [expected_tokens(alpha, gamma) for gamma in GAMMAS]),
        ],
        points=[
            point("sv_theory_point_tau", found.gamma, found.counts.block_efficiency, "run"),
        ],
        badges=[COMPUTED, badge],
    )


def speedup_over_alpha(found: Measured, badge: Badge) -> Chart:
    """Expected speed-up for each acceptance rate at the run's draft length."""

    def curve(cost: VerifyCost | None) -> list[float]:
        return [expected_speedup(a, found.gamma, c=found.c, verify_cost=cost) for a in ALPHAS]

    return chart(
        "sv_theory_speedup_alpha",
        "sv_theory_x_alpha",
        ALPHAS,
        [
            series("sv_theory_curve_measured", curve(found.verify_cost), "main"),
            series("sv_theory_curve_paper", curve(None), "paper"),
        ],
        values={"gamma": found.gamma},
        points=[point("sv_theory_point_run", found.alpha, found.timing.measured_speedup, "run")],
        badges=[COMPUTED, badge],
        one=True,
    ) | {"ticks": [0, 0.2, 0.4, 0.6, 0.8, 1]}


def tokens_over_alpha(found: Measured, badge: Badge) -> Chart:
    """Expected tokens per target step for each acceptance rate."""
    mine = [expected_tokens(alpha, found.gamma) for alpha in ALPHAS]
    return chart(
        "sv_theory_tokens_alpha",
        "sv_theory_x_alpha",
        ALPHAS,
        [series("sv_theory_curve_formula", mine, "main")],
        values={"gamma": found.gamma},
        points=[point("sv_theory_point_tau", found.alpha, found.counts.block_efficiency, "run")],
        badges=[COMPUTED, badge],
    ) | {"ticks": [0, 0.2, 0.4, 0.6, 0.8, 1]}


def histogram(counts: Counts, badge: Badge) -> Chart:
    """Number of steps with 0, 1, 2, … accepted drafts."""
    heights = list(counts.accepted_histogram)
    bars = series("sv_theory_bar_steps", heights, "accepted", counts=[str(n) for n in heights])
    return chart(
        "sv_theory_histogram",
        "sv_theory_x_accepted",
        range(len(heights)),
        [bars],
        kind="bar",
        y_form="whole",
        badges=[badge],
    )


def positions_chart(counts: Counts, badge: Badge) -> Chart:
    """Acceptance by place in the draft, with the counts behind each rate."""
    places = counts.acceptance_by_position
    rows: tuple[tuple[str, str, str], ...] = (
        ("rate", "num_proposed", "accepted"),
        ("conditional_rate", "num_judged", "residual"),
    )
    bars = [
        series(
            f"sv_theory_bar_{name}",
            [getattr(place, name) for place in places],
            style,
            counts=[f"{place.num_accepted}/{getattr(place, total)}" for place in places],
        )
        for name, total, style in rows
    ]
    return chart(
        "sv_theory_positions",
        "sv_theory_x_position",
        [place.position for place in places],
        bars,
        kind="bar",
        y_form="percent",
        top=1,
        badges=[badge],
    )


def empty(key: str, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A sheet that only says why there is nothing to draw."""
    return {"empty": key, "values": dict(values or {})}
