"""Plotly figures of a race that is over, drawn once."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from specviz.comparison import Comparison, Row
from specviz.metrics import token_series
from specviz.render import figures as draw
from specviz.render.palette import DEEP_PURPLE, OKABE_ITO
from specviz.ui.i18n import FALLBACK, texts, translated
from specviz.ui.plots import COMMA, finish, labels
from specviz.ui.registry import Run
from specviz.ui.shelf import steps_of

NUM_FIGURES = 2
HEIGHT = 360
# Per place: plain decoding is grey, as everywhere; lines differ in their dashes as well.
COLORS = (draw.INK, OKABE_ITO["blue"], OKABE_ITO["vermillion"], DEEP_PURPLE)
DASHES = ("dash", "solid", "dot", "longdash")
LONG = 18  # characters after which a name is broken


def nothing() -> list[None]:
    """No figures: there was no race."""
    return [None] * NUM_FIGURES


def figures(run: Run, titles: Mapping[str, str], language: str = FALLBACK) -> list[Any]:
    """Speed-ups with their spread, and tokens over time of all lanes of the round shown.

    Args:
        run: a race that is over.
        titles: English title per method.
        language: what the words are in.
    """
    own = {key: translated(title, language) for key, title in titles.items()}
    drawn = [speedups(run.outcome, own, language), tokens(run, own, labels(language))]
    return [finish(figure, height=HEIGHT, language=language) for figure in drawn]


def speedups(comparison: Comparison, titles: Mapping[str, str], language: str) -> Any:
    """A bar per method: the median speed-up, whiskers from the slowest to the fastest round.

    The bars lie, so that names of any length have room beside them, on a phone too.
    """
    rows = comparison.rows
    spreads = [row.speedup for row in rows]
    figure = draw.blank_figure(texts()[language]["sv_plot_gain"], "")
    figure.add_bar(
        y=[label(row, titles, language) for row in rows],
        x=[spread.median for spread in spreads],
        orientation="h",
        marker={"color": [COLORS[row.lane.index] for row in rows]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [spread.high - spread.median for spread in spreads],
            "arrayminus": [spread.median - spread.low for spread in spreads],
            "color": draw.INK,
        },
        hoverinfo="skip",
    )
    figure.add_vline(x=1, line={"color": draw.INK, "dash": "dash", "width": 1.5})
    figure.update_layout(showlegend=False, bargap=0.35)
    figure.update_yaxes(autorange="reversed", automargin=True, showgrid=False, rangemode="normal")
    figure.update_xaxes(rangemode="tozero")
    return figure


def tokens(run: Run, titles: Mapping[str, str], words: Mapping[str, str]) -> Any:
    """Tokens over time, a line per method."""
    figure = draw.blank_figure(words["seconds"], words["tokens"])
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


def label(row: Row, titles: Mapping[str, str], language: str) -> str:
    """What stands beside a bar: the median and the name."""
    median = f"{row.speedup.median:.2f}".replace(".", "," if language in COMMA else ".")
    return f"<b>{median}×</b> {broken(name(row, titles))}"


def name(row: Row, titles: Mapping[str, str]) -> str:
    """What a method is called on the page."""
    return titles.get(row.lane.request.method, row.lane.label)


def broken(text: str) -> str:
    """A name on lines of its own where it is long, escaped."""
    return "<br>".join(map(draw.escaped, wrap(text, LONG, break_long_words=False)))
