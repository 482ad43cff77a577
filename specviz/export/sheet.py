"""The data sheet of an exported page: every figure of the run, and where it comes from.

Figures are recomputed from the steps, so a sheet never shows what a file merely claims. The sheet
is JSON: sections of rows ``[key of the label, value, format, key of a note, values of the note]``;
the page's script formats numbers in the reader's language. Times in s, sizes in bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from specviz.metrics import summarise
from specviz.render.names import short
from specviz.trace import Trace

MAX_PLACES = 24  # rows of a table of bars; more than any draft length

Row = list[Any]
Section = dict[str, Any]


def sheet_of(trace: Trace) -> dict[str, Any]:
    """Title, date and sections of a run."""
    document = trace.document
    figures = summarise(trace.events(), trace.baseline)
    return {
        "created": short(document["created"]),
        "title": short(document["method"].get("title") or document["method"]["key"]),
        "sections": [
            section("svx_results", _results(figures)),
            section("svx_tokens", _tokens(figures)),
            section("svx_time", _time(figures, document["timing"])),
            section("svx_memory", _memory(figures)),
            section("svx_places", bars=_places(figures), columns="svx_place"),
            section("svx_histogram", bars=_histogram(figures), columns="svx_kept"),
            section("svx_source", _source(document)),
            section("svx_settings", _settings(document["request"])),
        ],
    }


def section(key: str, rows: list[Row] | None = None, **more: Any) -> Section:
    """A section without its empty rows."""
    return {"key": key, "rows": [row for row in rows or [] if row[1] is not None], **more}


def row(key: str, value: Any, form: str, note: str = "", **values: Any) -> Row:
    """One figure: label, value, format, and a note in words."""
    return [key, value, form, note, values]


def _results(figures: Mapping[str, Any]) -> list[Row]:
    kept, judged = figures["num_accepted"], figures["num_judged"]
    steps, full = figures["num_steps"], figures["num_full_steps"]
    return [
        row("svx_rate", figures["acceptance_rate"], "percent", "svx_of", a=kept, n=judged),
        row(
            "svx_yield", figures["draft_yield"], "percent",
            "svx_of", a=kept, n=figures["num_proposed"],
        ),
        row(
            "svx_tau", figures["block_efficiency"], "number",
            "svx_in_steps", a=figures["num_tokens"], n=steps,
        ),
        row("svx_tau_full", figures["block_efficiency_full_steps"], "number", "svx_steps", n=full),
        row("svx_beta", figures["mean_overlap"], "fine"),
        row("svx_variation", figures["mean_total_variation"], "fine"),
        row("svx_c", figures["cost_coefficient"], "fine"),
        row("svx_speedup", figures["measured_speedup"], "times", "svx_measured"),
        row("svx_expected", figures["expected_speedup"], "times", "svx_computed"),
    ]  # fmt: skip


def _tokens(figures: Mapping[str, Any]) -> list[Row]:
    names = (
        "tokens", "proposed", "accepted", "rejected", "discarded", "unsent", "residual", "bonus",
        "lossy_accepted", "draft_forwards", "target_forwards",
    )  # fmt: skip
    always = ("tokens", "proposed", "target_forwards")
    counts = {name: figures[f"num_{name}"] for name in names}
    return [row(f"svx_num_{n}", c or (c if n in always else None), "whole")
            for n, c in counts.items()]  # fmt: skip


def _time(figures: Mapping[str, Any], timing: Mapping[str, Any]) -> list[Row]:
    shares = [
        row(
            f"svx_{part}_s", figures[f"{part}_s"], "seconds",
            "svx_share", n=figures[f"{part}_share"],
        )
        for part in ("draft", "verify", "other")
    ]  # fmt: skip
    return [
        row("svx_per_token", figures["seconds_per_token"], "seconds"),
        row("svx_decode", figures["total_s"], "seconds"),
        *shares,
        row("svx_prefill", timing["prefill_s"], "seconds"),
        row("svx_load", timing["load_s"], "seconds"),
    ]


def _memory(figures: Mapping[str, Any]) -> list[Row]:
    names = ("target_weights", "draft_weights", "peak_target_cache", "peak_draft_cache",
             "peak_logits", "peak_allocated")  # fmt: skip
    return [row(f"svx_{name}", figures[f"{name}_bytes"] or None, "bytes") for name in names]


def _places(figures: Mapping[str, Any]) -> list[Row]:
    """Rate per draft position: [position, share of the bar, accepted, proposed]."""
    return [
        [place["position"], place["rate"], place["num_accepted"], place["num_proposed"]]
        for place in figures["acceptance_by_position"][:MAX_PLACES]
    ]


def _histogram(figures: Mapping[str, Any]) -> list[Row]:
    """Steps by accepted tokens: [accepted, share of the bar, steps, all steps]."""
    if not figures["num_proposed"]:
        return []
    steps = figures["num_steps"]
    sizes = figures["accepted_histogram"][:MAX_PLACES]
    return [[size, number / steps, number, steps] for size, number in enumerate(sizes)]


def _source(document: Mapping[str, Any]) -> list[Row]:
    known, method = document["provenance"], document["method"]
    rows = [
        row("svx_date", short(document["created"]), "date"),
        row("svx_method", short(method["key"]), "code"),
        row("svx_rule", method["rule"] and short(method["rule"]), "code"),
    ]
    for role in ("target", "draft"):
        model = document["models"][role]
        if model is not None:
            rows += _model(role, model)
    rows.append(row("svx_end", f"svx_end_{document['output']['finish_reason']}", "key"))
    for name in ("device", "dtype", "threads", "specviz", "python", "torch", "transformers"):
        value = known.get(name)
        rows.append(row(f"svx_{name}", None if value is None else short(value), "text"))
    return rows


def _model(role: str, model: Mapping[str, Any]) -> list[Row]:
    digest = model.get("sha256")
    name = model.get("id")
    return [
        row(f"svx_{role}", None if name is None else short(name), "code",
            "svx_parameters" if model.get("parameters") else "", n=model.get("parameters")),
        row(f"svx_{role}_sha", None if digest is None else short(digest)[:16], "code"),
    ]  # fmt: skip


def _settings(request: Mapping[str, Any]) -> list[Row]:
    """The settings in force under their own names; those without a value have no effect."""
    hidden = ("method", "target", "draft", "device", "dtype", "prompt")
    given = {k: v for k, v in request.items() if k not in hidden and v not in (None, [], "")}
    return [
        ["", _plain(value), "setting", "", {"name": short(name)[:60]}]
        for name, value in list(given.items())[:40]
    ]


def _plain(value: Any) -> str:
    """Numbers and flags as JSON writes them, texts in quotation marks, each on one line."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**15:
        return str(int(value))
    if isinstance(value, (bool, int, float, list)):
        return short(json.dumps(value, ensure_ascii=False))
    return short(value)
