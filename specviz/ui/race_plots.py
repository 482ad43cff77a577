"""Plotly figures of a race that is over, drawn once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specviz.comparison import Comparison, Row
from specviz.metrics import token_series
from specviz.render import figures as draw
from specviz.render.palette import OKABE_ITO
from specviz.ui.registry import Run
from specviz.ui.shelf import steps_of

NUM_FIGURES = 2
# Per place: plain decoding is grey, as everywhere; lines differ in their dashes as well.
COLORS = (draw.INK, OKABE_ITO["blue"], OKABE_ITO["vermillion"], OKABE_ITO["reddish purple"])
DASHES = ("dash", "solid", "dot", "longdash")
LONG = 16  # characters after which a name is broken


def nothing() -> list[None]:
    """No figures: there was no race."""
    return [None] * NUM_FIGURES


def figures(run: Run, titles: Mapping[str, str]) -> list[Any]:
    """Speed-ups with their spread, and tokens over time of all lanes of the round shown."""
    drawn = [speedups(run.outcome, titles), tokens(run, titles)]
    for figure in drawn:
        figure.update_layout(height=360, autosize=True)
    return drawn


def speedups(comparison: Comparison, titles: Mapping[str, str]) -> Any:
    """A bar per method: the median speed-up, whiskers from the slowest to the fastest round."""
    rows = comparison.rows
    spreads = [row.speedup for row in rows]
    figure = draw.blank_figure("", "speed-up over plain decoding")
    figure.add_bar(
        x=[label(row, titles) for row in rows],
        y=[spread.median for spread in spreads],
        marker={"color": [COLORS[row.lane.index] for row in rows]},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [spread.high - spread.median for spread in spreads],
            "arrayminus": [spread.median - spread.low for spread in spreads],
            "color": draw.INK,
        },
        hoverinfo="skip",
    )
    figure.add_hline(y=1, line={"color": draw.INK, "dash": "dash", "width": 1.5})
    figure.update_layout(showlegend=False, bargap=0.35, margin={"b": 72})
    return figure


def tokens(run: Run, titles: Mapping[str, str]) -> Any:
    """Tokens over time, a line per method."""
    figure = draw.blank_figure("time (s)", "tokens")
    for row in run.outcome.rows:
        place = row.lane.index
        series = token_series(steps_of(run, place))
        figure.add_scatter(
            x=series.elapsed_s,
            y=series.num_tokens,
            name=draw.escaped(name(row, titles)),
            mode="lines",
            line={"color": COLORS[place], "width": 2.5, "dash": DASHES[place]},
        )
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    figure.update_layout(legend=legend, margin={"t": 52})
    return figure


def label(row: Row, titles: Mapping[str, str]) -> str:
    """What stands under a bar: the median and the name."""
    return f"<b>{row.speedup.median:.2f}×</b><br>{broken(name(row, titles))}"


def name(row: Row, titles: Mapping[str, str]) -> str:
    """What a method is called on the page."""
    return titles.get(row.lane.request.method, row.lane.label)


def broken(text: str) -> str:
    """A name on two lines where it is long, escaped."""
    first, _, rest = text.partition(" ")
    parts = [first, rest] if rest and len(text) > LONG else [text]
    return "<br>".join(map(draw.escaped, parts))
