"""Spans -> escaped HTML, for exported pages.

One ``<span>`` per token, classes from the palette, no style. Signs stand in ``data-sign`` for the
style sheet to draw (``content: attr(data-sign)``), with the real character inside, so that
copying gives the decoded text. Characters that a page must not hold or obey (NUL, controls, bidi,
lone surrogates) are replaced by their sign alone. The style sheet keeps ``white-space: pre-wrap``,
so that newlines break, and ``user-select: none`` on tokens that were not kept. All text from
prompt, model or tokenizer is escaped, in content and in attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from specviz.events import DraftToken, TargetToken
from specviz.render.palette import LOOKS, LOSSY_CLASS, LOSSY_MARK
from specviz.render.spans import Span
from specviz.render.visible import Piece, pieces, visible

COPIED = " \n\t"


def html_of(spans: Iterable[Span]) -> str:
    """A run as one block of token boxes; an empty run is an empty block."""
    return f'<div class="sv-run">{"".join(map(span_html, spans))}</div>'


def span_html(span: Span) -> str:
    """One token as a box with a tooltip."""
    classes = ["sv-token", span.look.css_class]
    mark = span.look.mark
    if span.lossy:
        classes.append(LOSSY_CLASS)
        mark += LOSSY_MARK
    step = "" if span.step is None else f' data-step="{span.step}"'
    return (
        f'<span class="{" ".join(classes)}"{step} data-place="{span.place}"'
        f' data-id="{span.token.id}" data-mark="{mark}" title="{_attribute(tooltip(span))}">'
        f"{_content(span)}</span>"
    )


def tooltip(span: Span) -> str:
    """What is known of a token, one fact per line; not escaped, but without hidden characters."""
    token = span.token
    facts = [f"{span.shown} — {span.look.label}", f"id {token.id}"]
    if token.data:
        facts.append(f"bytes {token.data.hex(' ')}")
    if span.step is not None:
        facts.append(f"step {span.step}")
    if isinstance(token, DraftToken):
        facts += _number("target probability", token.target_prob)
        facts += _number("draft probability", token.draft_prob)
        facts += _number("chance of acceptance", token.accept_prob)
        facts += _number("random draw", token.draw)
    elif isinstance(token, TargetToken):
        facts += _number("target probability", token.target_prob)
    if span.lossy:
        facts.append("kept by a lossy rule: not the target's own choice")
    return "\n".join(facts)


def legend_html() -> str:
    """Every kind of token with its mark, label and meaning."""
    rows = "".join(
        f'<li><span class="sv-token {look.css_class}" data-mark="{look.mark}">'
        f"{escape(look.label)}</span> {escape(look.meaning)}</li>"
        for look in LOOKS
    )
    return f'<ul class="sv-legend">{rows}</ul>'


def _content(span: Span) -> str:
    if not span.text:
        return _sign(visible("", span.token.data), "")
    return "".join(map(_piece, pieces(span.text)))


def _piece(piece: Piece) -> str:
    if not piece.sign:
        return escape(piece.text)
    return _sign(piece.sign, piece.text if piece.text in COPIED else "")


def _sign(sign: str, text: str) -> str:
    return f'<span class="sv-sign" data-sign="{escape(sign)}">{escape(text)}</span>'


def _attribute(text: str) -> str:
    return escape(text).replace("\n", "&#10;")


def _number(name: str, value: float | None) -> list[str]:
    return [] if value is None else [f"{name} {value:.4g}"]
