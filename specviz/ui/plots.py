"""Plotly figures of a finished run, drawn once: ``gr.Plot`` rebuilds itself on every update."""

from __future__ import annotations

from typing import Any

from specviz.metrics.series import baseline_tokens, token_series
from specviz.render import figures as draw
from specviz.ui.registry import Run
from specviz.ui.shelf import steps_of

NUM_FIGURES = 4


def nothing() -> list[None]:
    """No figures: there is no run."""
    return [None] * NUM_FIGURES


def figures(run: Run, lane: int) -> list[Any]:
    """Acceptance, time, histogram, and tokens over time beside the plain lane."""
    steps = steps_of(run, lane)
    if not steps:
        return nothing()
    drawn = [
        draw.acceptance_figure(steps),
        draw.time_figure(steps),
        draw.histogram_figure(steps),
        draw.tokens_figure(steps, plain_series(run, lane)),
    ]
    for figure in drawn:
        figure.update_layout(height=320, autosize=True)
    return drawn


def plain_series(run: Run, lane: int) -> Any:
    """Tokens over time of the plain run beside this lane, None if there is none."""
    baseline = run.baselines.get(lane)
    if baseline is None and lane in run.traces:
        baseline = run.traces[lane].baseline
    for other in range(run.num_lanes):
        if (
            other != lane
            and baseline is not None
            and not any(step.proposed for step in steps_of(run, other))
        ):
            return token_series(steps_of(run, other))
    return baseline_tokens(baseline) if baseline else None
