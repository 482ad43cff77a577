"""Cards of methods: every method has its texts and its picture, and they come from one place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from specviz.config import MethodCard
from specviz.method_cards import read_cards
from specviz.ui.cards import told
from specviz.ui.i18n import texts

PICTURES = (Path(__file__).parents[2] / "assets" / "specviz-picture.js").read_text("utf-8")
MOST = 160  # characters of an entry: a card is read, not studied


@pytest.mark.parametrize("card", read_cards(), ids=lambda card: card.key)
def test_a_method_has_a_text_for_every_part_of_its_card(card: MethodCard) -> None:
    english = texts()["en"]
    assert english[f"sv_card_{card.key}_1"] == card.summary
    for part in ("2", "cost", "when", "not"):
        assert 10 < len(english[f"sv_card_{card.key}_{part}"]) <= MOST
    idea = " ".join(english[f"sv_card_{card.key}_{part}"] for part in "12")
    assert len(re.findall(r"\.(?: |$)", idea)) == 3, "an idea is three sentences"
    for need in card.needs or {"none"}:
        assert english[f"sv_card_need_{need}"]


def test_there_are_nine_cards_and_each_has_a_picture() -> None:
    drawn = set(re.findall(r"^SV_PICTURES\.(\w+) = ", PICTURES, re.MULTILINE))
    assert drawn == {card.key for card in read_cards()}
    assert len(drawn) == 9


def test_no_text_belongs_to_a_method_that_does_not_exist() -> None:
    cards = [key for key in texts()["en"] if key.startswith("sv_card_")]
    owners = {key[len("sv_card_") : -2] for key in cards if key.endswith(("_1", "_2"))}
    assert owners == {card.key for card in read_cards()}


def test_the_component_is_told_what_the_cards_hold() -> None:
    value = json.loads(told(read_cards()))
    assert value["fold"] is False
    assert [card["key"] for card in value["cards"]] == [card.key for card in read_cards()]
    mixed = next(card for card in value["cards"] if card["key"] == "ensemble")
    assert mixed["lossless"] is False
    assert json.loads(told([], fold=True)) == {"fold": True, "cards": []}
