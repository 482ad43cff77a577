"""Plotly figures of a finished run, drawn once: ``gr.Plot`` rebuilds itself on every update."""

from __future__ import annotations

from typing import Any

from specviz.metrics.series import baseline_tokens, token_series
from specviz.render import figures as draw
from specviz.ui.i18n import FALLBACK, texts
from specviz.ui.registry import Run
from specviz.ui.shelf import steps_of

NUM_FIGURES = 4
HEIGHT = 320
COMMA = ("pt-BR", "ru")  # languages with a decimal comma


def nothing() -> list[None]:
    """No figures: there is no run."""
    return [None] * NUM_FIGURES


def labels(language: str) -> dict[str, str]:
    """The words of figures in a language."""
    return {name: texts()[language][f"sv_plot_{name}"] for name in draw.LABELS}


def finish(figure: Any, *, height: int, language: str) -> Any:
    """Size, and the signs that stand in numbers of a language."""
    comma = language in COMMA
    return figure.update_layout(height=height, autosize=True, separators=", " if comma else ".,")


def figures(run: Run, lane: int, language: str = FALLBACK) -> list[Any]:
    """Acceptance, time, histogram, and tokens over time beside the plain lane."""
    steps = steps_of(run, lane)
    if not steps:
        return nothing()
    words = labels(language)
    drawn = [
        draw.acceptance_figure(steps, labels=words),
        draw.time_figure(steps, labels=words),
        draw.histogram_figure(steps, labels=words),
        draw.tokens_figure(steps, plain_series(run, lane), labels=words),
    ]
    return [finish(figure, height=HEIGHT, language=language) for figure in drawn]


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
