"""Theory against measurement of a race: a curve and a point per lane. Pure, as ``curves``.

Each lane's curve is the formula with its own α̂, c and v(k), each point what that lane did, so that
a glance shows which methods do what their own figures promise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from specviz.metrics import best_gamma, expected_speedup, expected_tokens
from specviz.ui.curves import (
    ALPHAS,
    COMPUTED,
    GAMMAS,
    Badge,
    Chart,
    Measured,
    chart,
    fact,
    point,
    series,
)

TENTHS = [0, 0.2, 0.4, 0.6, 0.8, 1]


@dataclass(frozen=True, slots=True)
class Racer:
    """A lane that can be drawn.

    Attributes:
        place: its place in the race, which is its colour.
        title: what it is called.
        found: its quantities.
    """

    place: int
    title: str
    found: Measured


def race_sheet(racers: Sequence[Racer], left_out: Sequence[str], badge: Badge) -> dict[str, Any]:
    """The sheet of a race.

    Args:
        racers: the lanes that judged drafts and whose cost is known, one at least.
        left_out: titles of the other lanes.
        badge: where the measurements come from.
    """
    sheet: dict[str, Any] = {
        "lanes": [_row(racer, badge) for racer in racers],
        "note": "sv_theory_note_lanes",
        "charts": [
            _speedup_over_gamma(racers, badge),
            _tokens_over_gamma(racers, badge),
            _speedup_over_alpha(racers, badge),
            _tokens_over_alpha(racers, badge),
        ],
    }
    if left_out:
        sheet |= {"without": "sv_theory_lanes_without", "values": {"names": ", ".join(left_out)}}
    return sheet


def _row(racer: Racer, badge: Badge) -> dict[str, Any]:
    """The figures of a lane, each with where it comes from."""
    found = racer.found
    best = best_gamma(found.alpha, c=found.c, verify_cost=found.verify_cost)
    return {
        "name": racer.title,
        "style": f"lane-{racer.place}",
        "facts": [
            fact("alpha", found.alpha, "percent", badge),
            fact("c", found.c, "fine", badge),
            fact("v", found.verify_cost(found.gamma + 1), "number", badge),
            fact("measured", found.timing.measured_speedup, "times", badge),
            fact("expected", found.expected, "times", COMPUTED),
            fact("best", best, "whole", COMPUTED),
        ],
    }


def _lines(racers: Sequence[Racer], curve: Callable[[Measured], list[float]]) -> list[Any]:
    """A line per lane."""
    name = "sv_theory_curve_lane"
    return [
        series(name, curve(r.found), f"lane-{r.place}", values={"name": r.title}) for r in racers
    ]


def _points(
    racers: Sequence[Racer], place: Callable[[Measured], tuple[float, float | None]]
) -> list[dict[str, Any]]:
    """A point per lane, where it has one."""
    return [
        point("sv_theory_point_lane", *place(r.found), f"at-{r.place}")
        | {"values": {"name": r.title}}
        for r in racers
    ]


def _speedup_over_gamma(racers: Sequence[Racer], badge: Badge) -> Chart:
    def curve(found: Measured) -> list[float]:
        cost = {"c": found.c, "verify_cost": found.verify_cost}
        return [expected_speedup(found.alpha, gamma, **cost) for gamma in GAMMAS]

    return chart(
        "sv_theory_speedup_gamma",
        "sv_theory_x_gamma",
        GAMMAS,
        _lines(racers, curve),
        points=_points(racers, lambda found: (found.gamma, found.timing.measured_speedup)),
        badges=[COMPUTED, badge],
        one=True,
    )


def _tokens_over_gamma(racers: Sequence[Racer], badge: Badge) -> Chart:
    return chart(
        "sv_theory_tokens_gamma",
        "sv_theory_x_gamma",
        GAMMAS,
        _lines(racers, lambda found: [expected_tokens(found.alpha, gamma) for gamma in GAMMAS]),
        points=_points(racers, lambda found: (found.gamma, found.counts.block_efficiency)),
        badges=[COMPUTED, badge],
    )


def _speedup_over_alpha(racers: Sequence[Racer], badge: Badge) -> Chart:
    def curve(found: Measured) -> list[float]:
        cost = {"c": found.c, "verify_cost": found.verify_cost}
        return [expected_speedup(alpha, found.gamma, **cost) for alpha in ALPHAS]

    return chart(
        "sv_theory_lanes_speedup_alpha",
        "sv_theory_x_alpha",
        ALPHAS,
        _lines(racers, curve),
        points=_points(racers, lambda found: (found.alpha, found.timing.measured_speedup)),
        badges=[COMPUTED, badge],
        one=True,
    ) | {"ticks": TENTHS}


def _tokens_over_alpha(racers: Sequence[Racer], badge: Badge) -> Chart:
    return chart(
        "sv_theory_lanes_tokens_alpha",
        "sv_theory_x_alpha",
        ALPHAS,
        _lines(racers, lambda found: [expected_tokens(alpha, found.gamma) for alpha in ALPHAS]),
        points=_points(racers, lambda found: (found.alpha, found.counts.block_efficiency)),
        badges=[COMPUTED, badge],
    ) | {"ticks": TENTHS}
