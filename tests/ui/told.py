"""What the page makes of English texts of other parts, asked of its own script."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from specviz.ui.i18n import texts

NODE = shutil.which("node")
SCRIPT = Path(__file__).with_name("told.js")
NESTED = ("why", "known", "value")  # places that may hold a text of the program
KNOWN: dict[str, dict[str, Any]] = {}  # what the script has answered

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def told(lines: list[str]) -> list[dict[str, Any]]:
    """What the page makes of English texts, as ``told.js`` writes it, and of the texts in them."""
    new = list(dict.fromkeys(line for line in lines if line not in KNOWN))
    if new:
        asked = json.dumps({"SV_TEXTS": texts(), "texts": new})
        assert NODE is not None
        command = [NODE, str(SCRIPT)]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
        KNOWN.update(zip(new, json.loads(done.stdout), strict=True))
        told([value for line in new for value in inner(KNOWN[line])])
    return [KNOWN[line] for line in lines]


def inner(found: dict[str, Any]) -> list[str]:
    """The texts in the places of a text."""
    return [v for name, v in found["values"].items() if name in NESTED and not is_mark(v)]


def is_mark(value: str) -> bool:
    """Whether a value is one of the words of ``filled``."""
    return len(value) == 3 and value.startswith("qz")
