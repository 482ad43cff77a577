"""The ``metrics`` object of a trace: every figure of the metrics table, JSON-plain.

Each figure can be recomputed from the steps (and the baseline beside them) alone; a figure without
a denominator is None, never 0 and never NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import fsum
from typing import Any

from specviz.events import Event, Prefilled, Verified
from specviz.metrics.counts import Counts, count
from specviz.metrics.speed import explain_speed
from specviz.metrics.theory import cost_curve, expected_tokens
from specviz.metrics.timing import PlainTiming, Timing, time_run


def summarise(events: Iterable[Event], baseline: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All figures of a run.

    Args:
        events: the events of the run so far; ``Drafted`` and ``Finished`` are not needed.
        baseline: the ``baseline`` object of the trace, if a plain run stands beside it.

    Returns:
        A new dictionary of numbers, strings, lists and None. Times in seconds, sizes in bytes.
    """
    all_events = list(events)
    steps = [event for event in all_events if isinstance(event, Verified)]
    plain = None if baseline is None else PlainTiming.of_baseline(baseline)
    counts, timing = count(steps), time_run(steps, plain)
    reason = explain_speed(steps, plain)
    return {
        **_plain_counts(counts),
        **_plain_timing(timing),
        "expected_speedup": expected_run_speedup(steps, counts, timing),
        "speed_verdict": reason.verdict,
        "costliest_term": reason.costliest,
        **_memory(all_events, steps),
    }


def expected_run_speedup(steps: Sequence[Verified], counts: Counts, timing: Timing) -> float | None:
    """The formula's speed-up at this run's own α̂, c, v(k) and draft lengths.

    Each step enters with the number of tokens that it proposed, so that for a constant draft
    length this is ``theory.expected_speedup``. Drafters without forward passes have c = 0;
    where no v(k) was measured it is 1, as in the paper.

    Returns:
        None where α̂ or c is unknown.
    """
    alpha, c = counts.acceptance_rate, timing.cost_coefficient
    if c is None and counts.num_draft_forwards == 0:
        c = 0.0
    if alpha is None or c is None:
        return None
    cost = cost_curve(timing.verify_cost)
    lengths = [len(step.proposed) for step in steps]
    spent = fsum(length * c + cost(length + 1) for length in lengths)
    return fsum(expected_tokens(alpha, length) for length in lengths) / spent if spent else None


def _plain_counts(counts: Counts) -> dict[str, Any]:
    figures = asdict(counts)
    figures["acceptance_by_position"] = [asdict(place) for place in counts.acceptance_by_position]
    figures["accepted_histogram"] = list(counts.accepted_histogram)
    return figures


def _plain_timing(timing: Timing) -> dict[str, Any]:
    figures = asdict(timing)
    figures["verify_cost"] = [
        {"positions": k, "cost": cost} for k, cost in timing.verify_cost.items()
    ]
    return figures


def _memory(events: Sequence[Event], steps: Sequence[Verified]) -> dict[str, int | None]:
    """Bytes: weights as the header gives them, peaks over the steps, None where unknown.

    The allocator's peak covers the prompt too; it is None off CUDA.
    """
    header = next((e.header for e in events if isinstance(e, Prefilled) and e.header), None)
    models = header.models if header else {}
    held = [step.memory for step in steps]
    first = [event.memory for event in events if isinstance(event, Prefilled)]
    allocated = [m.allocated_bytes for m in (*first, *held) if m.allocated_bytes is not None]
    return {
        "target_weights_bytes": _bytes_of(models.get("target")),
        "draft_weights_bytes": _bytes_of(models.get("draft")),
        "peak_target_cache_bytes": max((m.target_cache_bytes for m in held), default=None),
        "peak_draft_cache_bytes": max((m.draft_cache_bytes for m in held), default=None),
        "peak_logits_bytes": max((m.logits_bytes for m in held), default=None),
        "peak_run_bytes": max((m.total_bytes for m in held), default=None),
        "peak_allocated_bytes": max(allocated, default=None),
    }


def _bytes_of(model: object) -> int | None:
    """Size in memory where it is known, else that of the files."""
    if not isinstance(model, Mapping):
        return None
    size = model.get("memory_bytes", model.get("bytes"))
    return size if isinstance(size, int) and not isinstance(size, bool) else None
