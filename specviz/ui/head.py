"""The one script in the head of the page, and the line with which a component calls its part of it.

Gradio copies every property of every component on each message that arrives. A component that held
its script and its words as properties would make all of them be copied many times per second.
"""

from __future__ import annotations

from pathlib import Path

from specviz.ui.i18n import texts
from specviz.ui.protocol import dumps
from specviz.ui.scripts import PARTS

ASSETS = Path(__file__).parents[2] / "assets"


def call(part: str) -> str:
    """The ``js_on_load`` of a component that is drawn by a part of the script."""
    assert part in PARTS
    return f"SV_PARTS.{part}(element, props, watch, server);"


def script() -> str:
    """The dictionaries, then a function per part."""
    parts = ",\n".join(
        f"{part}(element, props, watch, server) {{\n{_body(part)}\n}}" for part in PARTS
    )
    return f"""window.SV_PARTS = (() => {{
const SV_TEXTS = {dumps(texts(), ascii_only=False)};
return {{
{parts}
}};
}})();"""


def head() -> str:
    """What Gradio puts into the head before it draws any component."""
    return f"<script>{script()}</script>"


def _body(part: str) -> str:
    return "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in PARTS[part])
