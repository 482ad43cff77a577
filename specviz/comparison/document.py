"""A comparison as plain values for JSON."""

from __future__ import annotations

from typing import Any

from specviz.comparison.result import Comparison, Row, Spread

FORMAT, VERSION = "specviz.comparison", 1
FIGURES = (
    "acceptance_rate",
    "draft_yield",
    "block_efficiency",
    "mean_overlap",
    "mean_total_variation",
    "cost_coefficient",
    "expected_speedup",
    "draft_share",
    "verify_share",
    "other_share",
    "num_steps",
    "num_target_forwards",
    "num_draft_forwards",
    "target_weights_bytes",
    "draft_weights_bytes",
    "peak_target_cache_bytes",
    "peak_draft_cache_bytes",
    "peak_logits_bytes",
    "peak_run_bytes",
    "peak_allocated_bytes",
)


def document_of(comparison: Comparison) -> dict[str, Any]:
    """See ``Comparison.to_dict``."""
    request = comparison.lanes[0].request
    plain = comparison.plain
    return {
        "format": FORMAT,
        "version": VERSION,
        "prompt": request.prompt,
        "greedy": request.config.greedy,
        "max_new_tokens": request.config.max_new_tokens,
        "repeats": comparison.repeats,
        "target": plain.trace.document["models"]["target"].get("id") if plain else request.target,
        "provenance": dict(plain.trace.document["provenance"]) if plain else None,
        "methods": [_row(row) for row in comparison.rows],
        "refused": [
            {"method": label, "reason": reason} for label, reason in comparison.refused.items()
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    document, beside = row.trace.document, row.trace.baseline
    assert beside is not None
    return {
        "label": row.lane.label,
        "method": row.lane.request.method,
        "lossless": document["method"]["lossless"],
        "request": dict(document["request"]),
        "tokens_per_second": _spread(row.tokens_per_second),
        "speedup": _spread(row.speedup),
        **{name: row.trace.metrics.get(name) for name in FIGURES},
        "prefill_s": document["timing"]["prefill_s"],
        "decode_s": document["timing"]["decode_s"],
        "load_s": document["timing"]["load_s"],
        "num_tokens": len(row.trace.output_ids),
        "ids": list(row.trace.output_ids),
        "text": row.trace.text,
        "finish_reason": document["output"]["finish_reason"],
        "identical": beside["identical"],
        "first_difference": beside["first_difference"],
        "gap": beside["gap"],
        "same_ids_in_all_repeats": row.same_ids,
        "verdict": row.verdict,
        "sentence": row.sentence,
    }


def _spread(spread: Spread) -> dict[str, float]:
    return {"median": spread.median, "low": spread.low, "high": spread.high}
