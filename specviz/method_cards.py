"""The cards of all methods, read without importing the engine.

Each ``engine/drafters/<method>.py`` assigns a literal ``METHOD = MethodCard(...)``. Importing that
file would import torch; reading its syntax tree does not, so menus, the README table and replay
work on a machine without torch. A test compares these cards with the imported ones.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path
from typing import Any

from specviz.config import MethodCard
from specviz.errors import MethodError

DRAFTERS = Path(__file__).parent / "engine" / "drafters"


@lru_cache(maxsize=1)
def read_cards(folder: Path = DRAFTERS) -> tuple[MethodCard, ...]:
    """All cards, in menu order.

    Raises:
        ValueError: a card is no literal, or a key occurs twice.
    """
    cards: dict[str, MethodCard] = {}
    for path in sorted(folder.glob("*.py")):
        card = _card_in(path)
        if card is None:
            continue
        if card.key in cards:
            raise ValueError(f"two methods have the key {card.key!r}, the second in {path.name}")
        cards[card.key] = card
    return tuple(sorted(cards.values(), key=lambda card: (card.order, card.key)))


def find_card(key: str) -> MethodCard:
    """The card with this key.

    Raises:
        MethodError: there is none; the message lists the keys.
    """
    for card in read_cards():
        if card.key == key:
            return card
    keys = ", ".join(card.key for card in read_cards())
    raise MethodError(f"there is no method {key!r}; the methods are {keys}")


def _card_in(path: Path) -> MethodCard | None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "METHOD" for target in targets):
            assert isinstance(node, ast.Assign)
            return _evaluate(node.value, path)
    return None


def _evaluate(node: ast.expr, path: Path) -> MethodCard:
    if not isinstance(node, ast.Call) or node.args:
        raise ValueError(f"METHOD in {path.name} must be MethodCard(key=..., ...)")
    fields = {str(keyword.arg): _literal(keyword.value, path) for keyword in node.keywords}
    return MethodCard(**fields)


def _literal(node: ast.expr, path: Path) -> Any:
    """A literal, or ``frozenset(literal)``."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    if is_call and node.func.id == "frozenset":  # type: ignore[attr-defined]
        items = node.args  # type: ignore[attr-defined]
        return frozenset(ast.literal_eval(items[0])) if items else frozenset()
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(
            f"METHOD in {path.name} must be made of literals, got {ast.unparse(node)!r}"
        ) from None
