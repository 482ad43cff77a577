"""The texts of an exported page: those of the viewer and the page's own, per language."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

OWN = Path(__file__).parent / "i18n"
REFUSALS = "sv_say_error_"
VIEWER = Path(__file__).parents[1] / "ui" / "i18n"


@cache
def texts() -> dict[str, dict[str, str]]:
    """Language tag -> key -> text, for the languages that the viewer speaks."""
    own, viewer = _tables(OWN), _tables(VIEWER)
    return {tag: {**without_refusals(table), **own.get(tag, {})} for tag, table in viewer.items()}


def without_refusals(table: dict[str, str]) -> dict[str, str]:
    """A dictionary for what refuses nothing: only the page's viewer shows such sentences."""
    return {key: text for key, text in table.items() if not key.startswith(REFUSALS)}


def _tables(folder: Path) -> dict[str, dict[str, str]]:
    files = sorted(folder.glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}
