"""Cards of methods: what each one is, needs and costs, from the cards that the engine's files hold.

The sentences are in the dictionaries under ``sv_card_<method>_…``; the pictures in
``assets/specviz-picture.js``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from specviz.config import MethodCard
from specviz.ui.head import call
from specviz.ui.protocol import dumps


def told(cards: Sequence[MethodCard], *, fold: bool = False) -> str:
    """The component's value: these cards, or with ``fold`` one card that opens when asked."""
    made = [
        {
            "key": card.key,
            "title": card.title,
            "paper": card.paper,
            "needs": sorted(card.needs) or ["none"],
            "lossless": card.lossless,
        }
        for card in cards
    ]
    return dumps({"fold": fold, "cards": made})


def method_cards(value: str, **kwargs: Any) -> gr.HTML:
    """A component that draws cards of methods with the visitor's words and colours."""
    return gr.HTML(
        value,
        html_template="<div class='sv-method-box' data-sv='cards'></div>",
        js_on_load=call("cards"),
        apply_default_css=False,
        **kwargs,
    )
