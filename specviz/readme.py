"""Writes the table of methods into the README: ``python -m specviz.readme``.

The table stands between two markers and comes from the cards alone; a test fails when it is stale.
"""

from __future__ import annotations

from pathlib import Path

from specviz.config import MethodCard
from specviz.method_cards import read_cards

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN = "<!-- methods: written by `python -m specviz.readme` -->"
END = "<!-- end of methods -->"
_NEEDS = {
    "draft_model": "a draft model with the same tokenizer",
    "foreign_draft_model": "a draft model with any tokenizer",
    "exit_layer": "a target whose early layers were trained to speak",
    "mtp_layers": "multi-token-prediction layers in the checkpoint",
    "mtp_drafter": "a Gemma 4 target and its drafter",
    "dflash_drafter": "a DFlash drafter made for the target",
    "probs_drafter": "a drafter that reports its distribution",
}


def method_table(cards: tuple[MethodCard, ...]) -> str:
    """The cards as a Markdown table."""
    rows = ["| method | key | how | needs | lossless | source |", "|---|---|---|---|---|---|"]
    for card in cards:
        needs = "; ".join(_NEEDS[need] for need in sorted(card.needs)) or "any causal model"
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
