"""The drafting methods. Every module here with a ``METHOD`` card and a ``build`` is one.

The folder is scanned, so adding a method is adding a file; two files with one key are refused at
import.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from specviz.config import MethodCard
from specviz.engine.drafters.base import Drafter, Parts


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its card, and how to build its drafter for one run."""

    card: MethodCard
    build: Callable[[Parts], Drafter]


@cache
def methods() -> dict[str, Method]:
    """All methods by key, in the order of their cards."""
    found: dict[str, Method] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        card = getattr(module, "METHOD", None)
        if card is None:
            continue
        if card.key in found:
            raise RuntimeError(f"two drafters share the key {card.key!r}")
        found[card.key] = Method(card, module.build)
    return dict(sorted(found.items(), key=lambda item: item[1].card.order))
