"""The component that draws a sheet of curves (see ``specviz.ui.curves``); its value is JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from specviz.ui.head import call
from specviz.ui.protocol import dumps


def sheet(value: Mapping[str, Any], **kwargs: Any) -> gr.HTML:
    """A component that draws facts and charts with the visitor's words and colours."""
    return gr.HTML(
        dumps(value),
        html_template="<div class='sv-sheet' data-sv='sheet'></div>",
        js_on_load=call("sheet"),
        apply_default_css=False,
        **kwargs,
    )
