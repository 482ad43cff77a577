"""``methods`` and ``models``: what there is, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from specviz import runs

DONE = 0
UNKNOWN = "known once fetched"


def add_methods(commands: Any) -> None:
    """``methods``: the cards."""
    command = commands.add_parser("methods", help="list the methods", allow_abbrev=False)
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(handler=_methods)


def add_models(commands: Any) -> None:
    """``models``: the catalogue."""
    command = commands.add_parser("models", help="list the catalogue", allow_abbrev=False)
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(handler=_models)


def _methods(options: argparse.Namespace) -> int:
    models = [model for model in runs.models() if model.source == "embedded"]
    rows: list[dict[str, Any]] = [
        {
            "key": card.key,
            "title": card.title,
            "summary": card.summary,
            "paper": card.paper,
            "lossless": card.lossless,
            "provides_probs": card.provides_probs,
            "needs": sorted(card.needs),
            "settings": list(card.settings),
            "models": [model.id for model in models if card.key in (model.methods or ())],
        }
        for card in runs.cards()
    ]
    if options.json:
        print(json.dumps(rows, indent=2))
        return DONE
    lines = [("method", "title", "lossless", "q", "needs", "embedded models")]
    for row in rows:
        needs, serving = ", ".join(row["needs"]) or "-", ", ".join(row["models"]) or "-"
        yes = ["yes" if row[name] else "no" for name in ("lossless", "provides_probs")]
        lines.append((row["key"], row["title"], *yes, needs, serving))
    print(table(lines))
    return DONE


def _models(options: argparse.Namespace) -> int:
    rows: list[dict[str, Any]] = [
        {
            "id": model.id,
            "title": model.title,
            "source": model.source,
            "path": model.path,
            "role": model.role,
            "licence": model.licence,
            "parameters": model.num_parameters or None,
            "bytes": model.num_bytes or None,
            "dtype": model.dtype or None,
            "layers": model.num_layers or None,
            "methods": None if model.methods is None else list(model.methods),
            "note": model.note,
            "default": model.default,
        }
        for model in runs.models()
    ]
    if options.json:
        print(json.dumps(rows, indent=2))
        return DONE
    lines = [("model", "source", "role", "parameters", "MB", "dtype", "licence", "methods")]
    for row in rows:
        millions = f"{row['parameters'] / 1e6:.2f} M" if row["parameters"] else "-"
        size = f"{row['bytes'] / 1e6:.1f}" if row["bytes"] else "-"
        serves = UNKNOWN if row["methods"] is None else ", ".join(row["methods"]) or "-"
        fixed = (row["id"], row["source"], row["role"], millions, size)
        lines.append((*fixed, row["dtype"] or "-", row["licence"], serves))
    print(table(lines))
    return DONE


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as aligned columns, the first row as their heads."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
