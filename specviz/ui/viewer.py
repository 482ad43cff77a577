"""The viewer component: static template, own JavaScript, fed with JSON strings.

The template holds no placeholder, so that nothing from a prompt or a model is ever evaluated; the
script writes text with ``textContent`` only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from specviz.ui.i18n import texts
from specviz.ui.protocol import dumps
from specviz.ui.scripts import LESSON, SCRIPTS
from specviz.ui.theme import ASSETS


def script(dictionaries: dict[str, dict[str, str]], names: Sequence[str]) -> str:
    """The scripts as one function body, with the dictionaries in front."""
    bodies = [(ASSETS / name).read_text(encoding="utf-8") for name in names]
    return f"const SV_TEXTS = {dumps(dictionaries, ascii_only=False)};\n" + "\n".join(bodies)


def step_viewer(
    value: str | None, server_functions: list[Callable[..., Any]], **kwargs: Any
) -> gr.HTML:
    """The component that draws a run step by step; its value is the newest message.

    A function, because Gradio writes a stub file beside the source of every component class.
    """
    return gr.HTML(
        value,
        html_template="<div class='sv' data-sv='viewer'></div>",
        js_on_load=script(texts(), (*SCRIPTS, *LESSON)),
        apply_default_css=False,
        server_functions=server_functions,
        **kwargs,
    )
