"""Writes the tables of the README: ``python -m specviz.readme``.

Each stands between two markers. The methods come from their cards, the embedded models from the
report of their evaluation; a test fails when one is stale.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specviz.config import MethodCard
from specviz.method_cards import read_cards

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
WORDS = ROOT / "specviz" / "ui" / "i18n" / "en.json"  # the page's cards say the same
REPORT = ROOT / "assets" / "models" / "evaluation.json"
METHODS, MODELS = "methods", "embedded models"


def method_table(cards: tuple[MethodCard, ...]) -> str:
    """The cards as a Markdown table."""
    words = json.loads(WORDS.read_text(encoding="utf-8"))
    rows = ["| method | key | how | needs | lossless | source |", "|---|---|---|---|---|---|"]
    for card in cards:
        needs = "; ".join(words[f"sv_card_need_{need}"] for need in sorted(card.needs) or ["none"])
        lossless = "yes" if card.lossless else "**no**"
        cells = (card.title, f"`{card.key}`", card.summary, needs, lossless, card.paper)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def model_tables(report: Mapping[str, Any]) -> str:
    """What the evaluation of the embedded models found, as two Markdown tables."""
    targets = list(report["exact"])
    names = [target.removeprefix("target-") for target in targets]
    lines = [
        "| genre | " + " | ".join(f"loss {n} | right {n}" for n in names) + " |",
        "|---|" + "---|---|" * len(names),
    ]
    for genre in report["loss"][targets[0]]:
        cells = [genre]
        for target in targets:
            right, parts = (report[part][target].get(genre) for part in ("exact", "fields"))
            shown = "" if right is None else f"{right:.2f}"
            shown += "" if parts is None else f" ({parts:.2f})"
            cells += [f"{report['loss'][target][genre]:.3f}", shown]
        lines.append("| " + " | ".join(cells) + " |")
    speed = {target: rows for target, rows in report.get("speed", {}).items() if rows}
    lines += ["", *_speed_lines(speed)] if speed else []
    for target in (target for target in targets if target not in speed):
        lines += ["", f"Methods on {target} were not measured on these weights."]
    return "\n".join(lines)


def _speed_lines(speed: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    head = "target | method | α̂ greedy | easiest | hardest | α̂ at temperature 1 | τ | speed-up"
    lines = [f"| {head} | equal to plain greedy |", "|---|---|---|---|---|---|---|---|---|"]
    for target, rows in speed.items():
        for name, row in rows.items():
            spread = [f"{genre} {rate:.2f}" for genre, rate in (row["easiest"], row["hardest"])]
            cells = [target, name, f"{row['rate']:.2f}", *spread, f"{row['sampled_rate']:.2f}"]
            cells += [f"{row['tau']:.2f}", f"{row['speedup']:.2f}×"]
            lines.append(f"| {' | '.join(cells)} | {row['identical']} of {row['prompts']} |")
    return lines


def with_table(text: str, name: str, table: str) -> str:
    """``text`` with what stands between the markers of ``name`` replaced.

    Raises:
        ValueError: a marker is missing.
    """
    begin, end = (
        f"<!-- {name}: written by `python -m specviz.readme` -->",
        f"<!-- end of {name} -->",
    )
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the README lacks {begin!r} or {end!r}")
    return f"{before}{begin}\n{table}\n{end}{after}"


def fresh(text: str) -> str:
    """The README with all its tables made anew."""
    text = with_table(text, METHODS, method_table(read_cards()))
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    return with_table(text, MODELS, model_tables(report))


def main() -> None:
    """Write the tables into the README."""
    README.write_text(fresh(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
