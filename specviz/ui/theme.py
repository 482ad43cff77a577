"""How the page looks, and how it is launched: no request leaves the server."""

from __future__ import annotations

from typing import Any

import gradio as gr

from specviz.ui.head import ASSETS, head
from specviz.ui.i18n import catalog

SANS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Noto Sans", "sans-serif")
MONO = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")
MAX_UPLOAD = "20mb"


def theme() -> gr.themes.Base:
    """System fonts, neutral greys and one accent; all else is in ``assets/specviz.css``."""
    return gr.themes.Base(
        primary_hue=gr.themes.colors.blue,
        neutral_hue=gr.themes.colors.slate,
        radius_size=gr.themes.sizes.radius_sm,
        font=SANS,
        font_mono=MONO,
    )


def launch_options() -> dict[str, Any]:
    """Arguments of ``Blocks.launch`` that every way of starting the page shares."""
    return {
        "theme": theme(),
        "css": (ASSETS / "specviz.css").read_text(encoding="utf-8"),
        "head": head(),
        "favicon_path": str(ASSETS / "specviz.svg"),
        "i18n": catalog(),
        "ssr_mode": False,
        "run_history": False,
        "pwa": False,
        "show_error": False,
        "footer_links": ["settings"],
        "max_file_size": MAX_UPLOAD,
        "enable_monitoring": False,
    }
