"""The viewer component: static template, own JavaScript, fed with JSON strings.

The template holds no placeholder, so that nothing from a prompt or a model is ever evaluated; the
script writes text with ``textContent`` only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from specviz.ui.head import call


def step_viewer(
    value: str | None, server_functions: list[Callable[..., Any]], **kwargs: Any
) -> gr.HTML:
    """The component that draws a run step by step; its value is the newest message.

    A function, because Gradio writes a stub file beside the source of every component class.
    """
    return gr.HTML(
        value,
        html_template="<div class='sv' data-sv='viewer'></div>",
        js_on_load=call("viewer"),
        apply_default_css=False,
        server_functions=server_functions,
        **kwargs,
    )
