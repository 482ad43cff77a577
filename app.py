"""Entry point of the Space: read the settings, build the page, serve it."""

from __future__ import annotations

import os

from specviz.ui.build import launch

if __name__ == "__main__":
    launch(
        host=os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1"),
        port=int(os.environ.get("GRADIO_SERVER_PORT", "7860")),
        share=os.environ.get("SPECVIZ_SHARE", "") == "1",
    )
