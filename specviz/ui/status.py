"""Status lines of the engine in the visitor's language: what is done is translated, names are not.

Gradio translates a text without places and allows more text behind it, so a line is such a text
and what it is about. A line that is not known here is shown as it is.
"""

from __future__ import annotations

import re
from typing import Any

from specviz.ui.i18n import t

LINES: tuple[tuple[str, str, str], ...] = (
    (r"Starting torch", "sv_status_torch", ""),
    (r"Looking up (.+) on the hub", "sv_status_lookup", r"\1"),
    (r"Fetching the weights of (.+) \(.*\)", "sv_status_fetch", r"\1"),
    (r"Reading the tokenizer of (.+)", "sv_status_tokenizer", r"\1"),
    (r"Loading (.+) on (.+), (.+)", "sv_status_loading", r"\1 · \2 · \3"),
    (r"Measuring (.+)", "sv_status_measuring", r"\1"),
    (r"Warming up", "sv_status_warming", ""),
    (r"Running", "sv_status_running", ""),
    (r"Waiting for the models: (\d+) runs? ahead", "sv_status_queue", r"\1"),
    (r"Waiting for a GPU", "sv_status_gpu", ""),
    (r"Round (\d+) of (\d+): .*", "sv_status_round", r"\1/\2"),
)


def worded(line: str | None) -> Any:
    """A status line as Gradio translates it; None where there is no news."""
    for pattern, key, behind in LINES:
        found = re.fullmatch(pattern, line or "")
        if found and not behind:
            return t(key)
        if found:
            return t(key) + " " + found.expand(behind)
    return line
