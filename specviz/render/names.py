"""Names that came with a file, fit for one line of a page: short, and nothing hidden in them."""

from __future__ import annotations

from typing import Any

from specviz.render.visible import pieces

MAX_TEXT = 300  # characters of a text that came with the file
MAX_NAME = 80  # characters of a name in a heading or a list


def short(value: Any, limit: int = MAX_TEXT) -> str:
    """A text on one line: signs for what is hidden, cut where no honest one ends."""
    text = str(value)[: limit + 1]
    text = text if len(text) <= limit else text[:limit] + "…"
    return "".join(" " if piece.text == " " else piece.shown for piece in pieces(text))


def plain_words(value: Any, limit: int = MAX_TEXT) -> Any:
    """JSON whose texts, names of fields included, are ``short``."""
    if isinstance(value, dict):
        return {short(name, limit): plain_words(item, limit) for name, item in value.items()}
    if isinstance(value, list):
        return [plain_words(item, limit) for item in value]
    return short(value, limit) if isinstance(value, str) else value
