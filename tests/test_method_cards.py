"""The cards that are read without torch are those of the imported engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from specviz.engine import methods
from specviz.errors import MethodError
from specviz.method_cards import find_card, read_cards

CARD = 'METHOD = MethodCard(key="{key}", title="T", summary="S", paper="P"{more})\n'


def test_read_cards_equal_the_imported_ones_in_order() -> None:
    assert list(read_cards()) == [method.card for method in methods().values()]


def test_an_unknown_method_is_refused_with_the_list() -> None:
    with pytest.raises(MethodError, match="no method 'nope'; the methods are plain, "):
        find_card("nope")


def test_a_card_is_read_with_its_sets(tmp_path: Path) -> None:
    text = CARD.format(key="x", more=', needs=frozenset({"draft_model"}), order=3')
    (tmp_path / "x.py").write_text("import torch_is_not_needed\n" + text)
    (tmp_path / "base.py").write_text("pass\n")
    (card,) = read_cards.__wrapped__(tmp_path)
    assert (card.key, card.needs, card.order) == ("x", {"draft_model"}, 3)


def test_a_key_twice_is_refused(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(CARD.format(key="same", more=""))
    with pytest.raises(ValueError, match=r"two methods have the key 'same', the second in b\.py"):
        read_cards.__wrapped__(tmp_path)


@pytest.mark.parametrize("more", [", order=1 + one", ", needs=some_set"])
def test_a_card_that_is_no_literal_is_refused(tmp_path: Path, more: str) -> None:
    (tmp_path / "a.py").write_text(CARD.format(key="x", more=more))
    with pytest.raises(ValueError, match="must be made of literals"):
        read_cards.__wrapped__(tmp_path)
