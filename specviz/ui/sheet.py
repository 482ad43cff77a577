"""The component that draws a sheet of curves (see ``specviz.ui.curves``); its value is JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from specviz.ui.i18n import SAID, subset
from specviz.ui.protocol import dumps
from specviz.ui.scripts import LANGUAGE
from specviz.ui.viewer import script

PREFIXES = ("sv_theory", "sv_sweep", "sv_badge", "sv_error", SAID)


def sheet(value: Mapping[str, Any], **kwargs: Any) -> gr.HTML:
    """A component that draws facts and charts with the visitor's words and colours."""
    return gr.HTML(
        dumps(value),
        html_template="<div class='sv-sheet' data-sv='sheet'></div>",
        js_on_load=script(subset(*PREFIXES), (LANGUAGE, "specviz-curves.js")),
        apply_default_css=False,
        **kwargs,
    )
