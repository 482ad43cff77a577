"""Writes the table of methods into the README: ``python -m specviz.readme``.

The table stands between two markers and comes from the cards alone; a test fails when it is stale.
"""

from __future__ import annotations

import json
from pathlib import Path

from specviz.config import MethodCard
from specviz.method_cards import read_cards

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN = "<!-- methods: written by `python -m specviz.readme` -->"
END = "<!-- end of methods -->"
WORDS = Path(__file__).parent / "ui" / "i18n" / "en.json"  # the page's cards say the same


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


def with_table(text: str, table: str) -> str:
    """``text`` with what stands between the markers replaced.

    Raises:
        ValueError: a marker is missing.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the README lacks {BEGIN!r} or {END!r}")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> None:
    """Write the table into the README."""
    text = README.read_text(encoding="utf-8")
    README.write_text(with_table(text, method_table(read_cards())), encoding="utf-8")


if __name__ == "__main__":
    main()
