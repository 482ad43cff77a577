"""Figures of a run, as pure functions of its events: counts, times, closed forms, curves."""

from specviz.metrics.counts import Counts, PositionRate, count, is_lossy
from specviz.metrics.series import (
    AcceptanceSeries,
    TokenSeries,
    acceptance_series,
    baseline_tokens,
    token_series,
)
from specviz.metrics.speed import SpeedReason, explain_speed, speed_sentence, speed_verdict
from specviz.metrics.summary import summarise
from specviz.metrics.theory import best_gamma, cost_curve, expected_speedup, expected_tokens
from specviz.metrics.timing import PlainTiming, Timing, time_run

__all__ = [
    "AcceptanceSeries",
    "Counts",
    "PlainTiming",
    "PositionRate",
    "SpeedReason",
    "Timing",
    "TokenSeries",
    "acceptance_series",
    "baseline_tokens",
    "best_gamma",
    "cost_curve",
    "count",
    "expected_speedup",
    "expected_tokens",
    "explain_speed",
    "is_lossy",
    "speed_sentence",
    "speed_verdict",
    "summarise",
    "time_run",
    "token_series",
]
