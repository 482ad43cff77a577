"""Sweeps: one method on one prompt with one setting at many values. Pure: plans and measures.

A sweep runs plain decoding, then the method at each value, then plain decoding again; both plain
runs together are the yardstick. What decodes and what draws is elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from specviz.config import DecodeConfig, MethodCard, RunRequest
from specviz.errors import SettingError
from specviz.events import Event, Finished, Verified
from specviz.metrics import PlainTiming, count, expected_tokens, time_run
from specviz.metrics.summary import expected_run_speedup

KNOBS = ("gamma", "ensemble_weight", "exit_layer", "temperature")
GAMMAS = tuple(range(1, 13))
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
TEMPERATURES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
MAX_LAYERS = 12  # with more layers, so many of them are tried, evenly spaced


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """What one value of the setting gave; None where it has no denominator.

    Attributes:
        value: of the setting.
        alpha: α̂, accepted over judged.
        tau: tokens per target step.
        speedup: measured, against both plain runs.
        expected_speedup: the formula at this run's own α̂, c, v(k) and draft lengths.
        expected_tau: the formula's tokens per target step at the same α̂ and lengths.
        distance: mean total variation between judging and target distribution.
    """

    value: float
    alpha: float | None
    tau: float | None
    speedup: float | None
    expected_speedup: float | None
    expected_tau: float | None
    distance: float | None


def knobs_of(card: MethodCard) -> tuple[str, ...]:
    """The settings that can be swept in a method."""
    if card.key == "plain":
        return ()
    return tuple(knob for knob in KNOBS if knob in card.settings or knob == "temperature")


def values_of(knob: str, *, num_layers: int) -> tuple[float, ...]:
    """The values that are tried.

    Args:
        knob: one of ``KNOBS``.
        num_layers: layers of the target, for the exit layer.
    """
    if knob == "gamma":
        return GAMMAS
    if knob == "ensemble_weight":
        return WEIGHTS
    if knob == "temperature":
        return TEMPERATURES
    last = max(1, num_layers - 1)
    stride = -(-last // MAX_LAYERS)
    return tuple(range(1, last + 1, stride))


def plan(
    base: RunRequest, card: MethodCard, knob: str, values: Sequence[float]
) -> tuple[RunRequest, ...]:
    """The runs of a sweep in their order: plain, one per value, plain.

    Raises:
        SettingError: the method does not obey the setting, or a value is out of its range.
    """
    allowed = knobs_of(card)
    if not allowed:
        raise SettingError(f"{card.title} has nothing to sweep over; choose a method that drafts")
    if knob not in allowed:
        names = ", ".join(allowed)
        raise SettingError(f"{card.title} cannot be swept over {knob!r}; it can over {names}")
    plain = replace(base, method="plain", draft=None, drafter=None)
    runs = [replace(base, config=_with(base, knob, value)) for value in values]
    return (plain, *runs, plain)


def measured(value: float, steps: Sequence[Verified], plain: PlainTiming) -> SweepPoint:
    """The figures of one value.

    Args:
        value: of the setting.
        steps: of the run with it.
        plain: times of plain decoding.
    """
    counts, timing = count(steps), time_run(steps, plain)
    alpha = counts.acceptance_rate
    lengths = [len(step.proposed) for step in steps]
    tokens = None
    if alpha is not None:
        tokens = fsum(expected_tokens(alpha, length) for length in lengths) / len(lengths)
    return SweepPoint(
        value=value,
        alpha=alpha,
        tau=counts.block_efficiency,
        speedup=timing.measured_speedup,
        expected_speedup=expected_run_speedup(steps, counts, timing),
        expected_tau=tokens,
        distance=counts.mean_total_variation,
    )


def points_of(values: Sequence[float], runs: Sequence[Sequence[Event]]) -> list[SweepPoint]:
    """The points that are done.

    Args:
        values: of the setting.
        runs: events per run, in the order of ``plan``; a run without its end is left out.
    """
    done = [_steps(events) if is_done(events) else [] for events in runs]
    plain = PlainTiming.of_steps([*done[0], *done[-1]])
    pairs = zip(values, done[1:-1], strict=True)
    return [measured(value, steps, plain) for value, steps in pairs if steps]


def is_done(events: Sequence[Event]) -> bool:
    """Whether a run came to its own end."""
    last = events[-1] if events else None
    return isinstance(last, Finished) and last.finish_reason not in ("cancelled", "error")


def _with(base: RunRequest, knob: str, value: float) -> DecodeConfig:
    change: dict[str, Any] = {knob: value}
    return replace(base.config, **change)


def _steps(events: Sequence[Event]) -> list[Verified]:
    return [event for event in events if isinstance(event, Verified)]
