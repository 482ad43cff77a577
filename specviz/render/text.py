"""Spans -> text for terminals, pipes, tests and the README; with or without ANSI colours.

Everything shown goes through ``visible``, so model text cannot move the cursor or recolour the
terminal. ``plain_text`` alone returns the real characters: it is the output itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from specviz.events import Event, Fate, Verified
from specviz.render.palette import LOOKS, LOSSY_MARK, Look
from specviz.render.spans import Span, joined_text, spans_of, step_spans
from specviz.render.visible import sign_of

RESET = "\x1b[0m"
CONTEXT_CHARS = 24
HEADER = "kept | accepted | rejected | next"


def plain_text(spans: Iterable[Span]) -> str:
    """The decoded output, exactly, with nothing made visible."""
    return joined_text(spans)


def marked_text(spans: Iterable[Span], *, color: bool = False) -> str:
    """All tokens one after another, each with its mark, newlines also breaking the line."""
    return "".join(_box(span, color) + "\n" * span.breaks for span in spans)


def colored_text(spans: Iterable[Span], *, color: bool = True) -> str:
    """The kept text for a terminal: readable blanks and line breaks, one colour per kind."""
    return "".join(_flow(span, color) for span in spans if span.kept)


def step_line(step: Verified, *, before: str = "", color: bool = False) -> str:
    """One step as one line: ``kept | accepted | rejected | next``.

    Args:
        step: the step.
        before: visible text kept before it; its end is shown.
        color: ANSI colours.

    Returns:
        The end of the text kept before, the accepted drafts, the rejected and discarded ones, and
        the target's own token, each token with its mark; an empty part shows as "-".
    """
    spans = step_spans(step)
    refused = (Fate.REJECTED, Fate.DISCARDED)
    parts = [
        before if len(before) <= CONTEXT_CHARS else "…" + before[1 - CONTEXT_CHARS :],
        _row(spans, (Fate.ACCEPTED,), color),
        _row(spans, refused, color),
        _row(spans, (Fate.RESIDUAL, Fate.BONUS), color),
    ]
    cut = f" | cut: {step.cut}" if step.cut else ""
    return f"{step.index:>4}  " + " | ".join(part or "-" for part in parts) + cut


def run_text(events: Iterable[Event], *, color: bool = False) -> str:
    """A whole run, one line per step, each with the text kept before it."""
    run = list(events)
    kept = _kept_shown(spans_of(event for event in run if not isinstance(event, Verified)))
    lines = []
    for event in run:
        if isinstance(event, Verified):
            lines.append(step_line(event, before=kept, color=color))
            kept = (kept + _kept_shown(step_spans(event)))[-2 * CONTEXT_CHARS :]
    return "\n".join(lines)


def legend(*, color: bool = False) -> str:
    """The marks and what they mean, one per line."""
    return "\n".join(
        f"{painted(look.mark, look, color)} {look.label.lower()}: {look.meaning}" for look in LOOKS
    )


def painted(text: str, look: Look, color: bool) -> str:
    """Text in the colour of a kind; as it is without ``color``."""
    return f"\x1b[{look.ansi}m{text}{RESET}" if color and text else text


def _row(spans: Sequence[Span], fates: Sequence[Fate], color: bool) -> str:
    keys = [fate.value for fate in fates]
    return " ".join(_box(span, color) for span in spans if span.look.key in keys)


def _box(span: Span, color: bool) -> str:
    lossy = LOSSY_MARK if span.lossy else ""
    return painted(span.look.mark + lossy + span.shown, span.look, color)


def _flow(span: Span, color: bool) -> str:
    """A token in running text: blanks and line breaks as they are, the rest made visible."""
    if not span.text:
        return ""
    lines = [
        "".join(char if char in " \t" else sign_of(char) or char for char in line)
        for line in span.text.split("\n")
    ]
    return "\n".join(painted(line, span.look, color) for line in lines)


def _kept_shown(spans: Iterable[Span]) -> str:
    return "".join(span.shown for span in spans if span.kept and span.text)
