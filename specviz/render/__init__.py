"""What a run looks like: palette, token spans, HTML, text; ``figures`` (plotly) is apart."""

from specviz.render.palette import LOOKS, PALETTE, Look, look_of
from specviz.render.spans import Span, joined_text, spans_of, step_spans
from specviz.render.visible import visible

__all__ = [
    "LOOKS",
    "PALETTE",
    "Look",
    "Span",
    "joined_text",
    "look_of",
    "spans_of",
    "step_spans",
    "visible",
]
