"""Entry point of the Space: `specviz serve` with settings from the environment, then arguments."""

from __future__ import annotations

import os
import sys

from specviz.cli import main

if __name__ == "__main__":
    host = os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1")
    port = os.environ.get("GRADIO_SERVER_PORT", "7860")
    share = ["--share"] if os.environ.get("SPECVIZ_SHARE") == "1" else []
    sys.exit(main(["serve", "--host", host, "--port", port, *share, *sys.argv[1:]]))
