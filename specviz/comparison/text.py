"""A comparison as text that a teacher can read: two tables and one sentence per method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specviz.comparison.result import Comparison, Row
from specviz.metrics.counts import counted

DASH = "–"
MEGABYTE = 1e6


def comparison_text(comparison: Comparison, *, sentences: bool = True) -> str:
    """The tables, the reasons and the refusals.

    Args:
        comparison: what to show.
        sentences: with one sentence per method on why it is faster or slower.
    """
    parts = [_heading(comparison)]
    if comparison.rows:
        parts += [_columns(comparison.rows, SPEED), _columns(comparison.rows, WORK)]
    if sentences:
        parts.append("\n".join(_sentences(comparison.rows)))
    if comparison.refused:
        lines = [f"{label}: {reason}" for label, reason in comparison.refused.items()]
        parts.append("Not run:\n" + "\n".join(f"  {line}" for line in lines))
    return "\n\n".join(part for part in parts if part)


def _heading(comparison: Comparison) -> str:
    request, plain = comparison.lanes[0].request, comparison.plain
    prompt = " ".join(request.prompt.split())
    shown = prompt if len(prompt) <= 60 else prompt[:59] + "…"
    facts = [f"Prompt: {shown}"]
    if plain is not None:
        document = plain.trace.document
        facts.append(f"target {document['models']['target'].get('id', DASH)}")
        known = [document["provenance"].get(name) for name in ("dtype", "device")]
        facts += [" on ".join(str(fact) for fact in known if fact)] if any(known) else []
    config = request.config
    facts.append(f"at most {counted(config.max_new_tokens, 'new token')}")
    facts.append("greedy" if config.greedy else f"sampled at temperature {config.temperature:g}")
    facts.append(
        f"{counted(comparison.repeats, 'round')}, interleaved, warm-up and prompt left out"
    )
    return " · ".join(facts)


def _sentences(rows: Sequence[Row]) -> list[str]:
    width = max((len(row.lane.label) for row in rows), default=0)
    return [f"{row.lane.label:<{width}}  {row.sentence}" for row in rows if row.lane.index]


def _columns(rows: Sequence[Row], columns: Mapping[str, Callable[[Row], str]]) -> str:
    """Rows under heads; figures to the right, words to the left."""
    cells = [list(columns), *([show(row) for show in columns.values()] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    lines = []
    for line in cells:
        aligned = [
            cell.ljust(width) if head in WORDS else cell.rjust(width)
            for cell, width, head in zip(line, widths, columns, strict=True)
        ]
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def _figure(name: str, form: Callable[[Any], str]) -> Callable[[Row], str]:
    def show(row: Row) -> str:
        value = row.trace.metrics.get(name)
        return DASH if value is None else form(value)

    return show


def _speedup(row: Row) -> str:
    return f"{row.speedup.median:.2f}"


def _range(row: Row) -> str:
    return f"{row.speedup.low:.2f}–{row.speedup.high:.2f}" if row.lane.index else DASH


def _shares(row: Row) -> str:
    values = [row.trace.metrics[f"{part}_share"] for part in ("draft", "verify", "other")]
    return DASH if None in values else " / ".join(f"{100 * value:.0f}" for value in values)


def _output(row: Row) -> str:
    if not row.lane.index:
        return DASH
    if not row.lane.request.config.greedy:
        return "sampled: may differ"
    notes = [row.verdict]
    if not row.trace.document["method"]["lossless"]:
        notes.append("not lossless")
    if row.same_ids is False:
        notes.append("differs between rounds")
    return "; ".join(notes)


def _sum(*names: str) -> Callable[[Row], str]:
    """Megabytes of several owners together; one without any counts as none."""

    def show(row: Row) -> str:
        values = [row.trace.metrics.get(name) for name in names]
        known = [value for value in values if value is not None]
        return f"{sum(known) / MEGABYTE:.2f}" if known else DASH

    return show


def _peak(row: Row) -> str:
    """The allocator's peak where there is one, else all that the run counted."""
    allocated = row.trace.metrics.get("peak_allocated_bytes")
    if allocated is not None:
        return f"{allocated / MEGABYTE:.2f}"
    return _sum("target_weights_bytes", "draft_weights_bytes", "peak_run_bytes")(row)


SPEED: Mapping[str, Callable[[Row], str]] = {
    "method": lambda row: row.lane.label,
    "tokens/s": lambda row: f"{row.tokens_per_second.median:.1f}",
    "speed-up": _speedup,
    "lowest–highest": _range,
    "α̂": _figure("acceptance_rate", lambda value: f"{100 * value:.0f} %"),
    "τ": _figure("block_efficiency", lambda value: f"{value:.2f}"),
    "draft / verify / other %": _shares,
    "output beside plain": _output,
}
WORK: Mapping[str, Callable[[Row], str]] = {
    "method": lambda row: row.lane.label,
    "tokens": lambda row: str(len(row.trace.output_ids)),
    "target forwards": _figure("num_target_forwards", str),
    "draft forwards": _figure("num_draft_forwards", str),
    "weights MB": _sum("target_weights_bytes", "draft_weights_bytes"),
    "caches MB": _sum("peak_target_cache_bytes", "peak_draft_cache_bytes"),
    "peak MB": _peak,
    "ended by": lambda row: str(row.trace.document["output"]["finish_reason"]),
}
WORDS = ("method", "output beside plain", "ended by")
