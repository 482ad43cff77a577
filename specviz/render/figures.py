"""Metrics -> plotly figures; the only module that imports plotly.

Every figure keeps the same traces, names and ``uirevision`` however long the run is, so that a
page can redraw it without flicker and without losing the zoom. Rates have a fixed axis from 0 to
1. Backgrounds are transparent and lines readable on light and dark pages. Only basic traces are
used, since a page may bundle an older plotly.js. Visible words come from ``labels`` and can be
translated; token text is made visible and escaped, because plotly reads a little HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go

from specviz.config import MAX_GAMMA
from specviz.events import Fate, Verified
from specviz.metrics import (
    TokenSeries,
    acceptance_series,
    best_gamma,
    count,
    expected_speedup,
    token_series,
)
from specviz.metrics.series import ROLLING_WINDOW
from specviz.metrics.theory import VerifyCost
from specviz.render.palette import OKABE_ITO, PALETTE, PARTS
from specviz.render.spans import step_spans

UIREVISION = "specviz"
CLEAR = "rgba(0,0,0,0)"
INK = "#767676"
RATE_RANGE = (0, 1)
MAX_HOVER_TOKENS = 20
LABELS: Mapping[str, str] = MappingProxyType(
    {
        "step": "step",
        "acceptance_rate": "acceptance rate",
        "per_step": "per step",
        "rolling": "last {window} steps",
        "cumulative": "all so far",
        "seconds": "time (s)",
        "milliseconds": "time (ms)",
        "draft": "draft",
        "verify": "verify",
        "other": "other",
        "accepted_per_step": "accepted drafts per step",
        "steps": "steps",
        "tokens": "tokens",
        "run": "this run",
        "plain": "plain",
        "position": "draft position",
        "rate": "accepted / proposed here",
        "conditional_rate": "accepted / judged here",
        "gamma": "draft length γ",
        "expected_speedup": "expected speed-up (computed)",
        "expected": "measured verify cost",
        "paper": "verify cost 1",
        "best": "best γ",
        "of": "of",
    }
)

Labels = Mapping[str, str]


def acceptance_figure(
    steps: Sequence[Verified], *, window: int = ROLLING_WINDOW, labels: Labels | None = None
) -> go.Figure:
    """Acceptance rate per step, over the last ``window`` steps and over all steps so far."""
    words = _words(labels)
    series = acceptance_series(steps, window=window)
    x = [step.index for step in steps]
    color = PALETTE[Fate.ACCEPTED].plotly
    figure = _figure(words["step"], words["acceptance_rate"], y_range=RATE_RANGE)
    figure.add_scatter(
        x=x,
        y=series.per_step,
        name=words["per_step"],
        mode="markers",
        marker={"color": color, "opacity": 0.5, "size": 5},
        hovertext=[step_hover(step) for step in steps],
        hoverinfo="text",
    )
    rolling = words["rolling"].format(window=window)
    figure.add_scatter(x=x, y=series.rolling, name=rolling, **_line(OKABE_ITO["blue"]))
    figure.add_scatter(
        x=x, y=series.cumulative, name=words["cumulative"], **_line(OKABE_ITO["vermillion"], "dash")
    )
    return figure


def time_figure(steps: Sequence[Verified], *, labels: Labels | None = None) -> go.Figure:
    """Time of each step in ms, stacked from drafting, verifying and the rest."""
    words = _words(labels)
    figure = _figure(words["step"], words["milliseconds"])
    x = [step.index for step in steps]
    for part, color in PARTS.items():
        times = [1000 * getattr(step, f"{part}_s") for step in steps]
        marker = {"color": color, "line": {"color": INK, "width": 1}}  # orange is pale on white
        figure.add_bar(x=x, y=times, name=words[part], marker=marker)
    figure.update_layout(barmode="stack", bargap=0.1)
    return figure


def histogram_figure(steps: Sequence[Verified], *, labels: Labels | None = None) -> go.Figure:
    """Number of steps with 0, 1, 2, … accepted drafts."""
    words = _words(labels)
    figure = _figure(words["accepted_per_step"], words["steps"])
    heights = count(steps).accepted_histogram
    color = PALETTE[Fate.ACCEPTED].plotly
    figure.add_bar(
        x=list(range(len(heights))), y=heights, name=words["steps"], marker={"color": color}
    )
    figure.update_xaxes(dtick=1)
    return figure


def tokens_figure(
    steps: Sequence[Verified], plain: TokenSeries | None = None, *, labels: Labels | None = None
) -> go.Figure:
    """Tokens over time, beside plain decoding.

    Args:
        steps: the run.
        plain: ``token_series`` of a plain run, or ``baseline_tokens`` of a trace's baseline.
        labels: translated words.
    """
    words = _words(labels)
    series = token_series(steps)
    beside = plain or TokenSeries(elapsed_s=(), num_tokens=())
    figure = _figure(words["seconds"], words["tokens"])
    figure.add_scatter(
        x=series.elapsed_s, y=series.num_tokens, name=words["run"], **_line(OKABE_ITO["blue"])
    )
    figure.add_scatter(
        x=beside.elapsed_s, y=beside.num_tokens, name=words["plain"], **_line(INK, "dash")
    )
    return figure


def position_figure(steps: Sequence[Verified], *, labels: Labels | None = None) -> go.Figure:
    """Acceptance by place in the draft: of all proposed there, and of all judged there."""
    words = _words(labels)
    places = count(steps).acceptance_by_position
    x = [place.position for place in places]
    figure = _figure(words["position"], words["acceptance_rate"], y_range=RATE_RANGE)
    rows = (
        ("rate", "num_proposed", PALETTE[Fate.ACCEPTED].plotly),
        ("conditional_rate", "num_judged", OKABE_ITO["sky blue"]),
    )
    for name, total, color in rows:
        figure.add_bar(
            x=x,
            y=[getattr(place, name) for place in places],
            name=words[name],
            marker={"color": color},
            hovertext=[
                f"{place.num_accepted} {words['of']} {getattr(place, total)}" for place in places
            ],
            hoverinfo="x+y+text",
        )
    figure.update_layout(barmode="group")
    figure.update_xaxes(dtick=1)
    return figure


def speedup_figure(
    alpha: float,
    *,
    c: float,
    verify_cost: VerifyCost | None = None,
    labels: Labels | None = None,
) -> go.Figure:
    """Expected speed-up for every draft length, computed for independent acceptances.

    Args:
        alpha: acceptance rate, 0 to 1.
        c: cost coefficient.
        verify_cost: measured v(k); None = 1, and both curves are one.
        labels: translated words.
    """
    words = _words(labels)
    gammas = list(range(MAX_GAMMA + 1))
    figure = _figure(words["gamma"], words["expected_speedup"])
    for name, cost, dash in (("expected", verify_cost, "solid"), ("paper", None, "dot")):
        y = [expected_speedup(alpha, gamma, c=c, verify_cost=cost) for gamma in gammas]
        line = _line(OKABE_ITO["blue"] if name == "expected" else INK, dash)
        figure.add_scatter(x=gammas, y=y, name=words[name], **line)
    best = best_gamma(alpha, c=c, verify_cost=verify_cost)
    figure.add_scatter(
        x=[best],
        y=[expected_speedup(alpha, best, c=c, verify_cost=verify_cost)],
        name=words["best"],
        mode="markers",
        marker={"color": OKABE_ITO["vermillion"], "size": 11, "symbol": "star"},
    )
    return figure


def blank_figure(x_title: str, y_title: str) -> go.Figure:
    """A figure without traces in the look of all others."""
    return _figure(escaped(x_title), escaped(y_title))


def escaped(text: str) -> str:
    """Text as plotly shows it literally: no tags, no entities, no formulas."""
    return escape(text, quote=False).replace("$", "&#36;")


def step_hover(step: Verified) -> str:
    """The tokens of a step with their marks, escaped, for a hover label."""
    spans = step_spans(step)
    words = [escaped(span.look.mark + span.shown) for span in spans[:MAX_HOVER_TOKENS]]
    more = " …" if len(spans) > MAX_HOVER_TOKENS else ""
    return f"{step.index}: {' '.join(words)}{more}"


def _words(labels: Labels | None) -> dict[str, str]:
    return {name: escaped(text) for name, text in {**LABELS, **(labels or {})}.items()}


def _line(color: str, dash: str = "solid") -> dict[str, Any]:
    return {"mode": "lines", "line": {"color": color, "width": 2, "dash": dash}}


def _figure(x_title: str, y_title: str, *, y_range: tuple[float, float] | None = None) -> go.Figure:
    axis = {"gridcolor": "rgba(128,128,128,0.25)", "zerolinecolor": "rgba(128,128,128,0.4)"}
    y_axis: dict[str, Any] = {"range": list(y_range)} if y_range else {"rangemode": "tozero"}
    return go.Figure(
        layout={
            "template": "none",
            "uirevision": UIREVISION,
            "paper_bgcolor": CLEAR,
            "plot_bgcolor": CLEAR,
            "font": {"color": INK},
            "margin": {"l": 56, "r": 16, "t": 40, "b": 48},
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            "showlegend": True,
            "xaxis": {"title": {"text": x_title}, **axis},
            "yaxis": {"title": {"text": y_title}, **axis, **y_axis},
        }
    )
