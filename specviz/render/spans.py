"""Events -> token spans: one span per token, in the order in which a reader meets them.

Every token has its own span, equal neighbours and empty texts included. The texts of all kept
spans, joined, are the decoded text; rejected and discarded ones are spans too, but not kept.
Pure; ``html`` and ``text`` turn spans into what is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from specviz.events import (
    Drafted,
    DraftToken,
    Event,
    Fate,
    Prefilled,
    PromptToken,
    TargetToken,
    Verified,
)
from specviz.metrics import is_lossy
from specviz.render.palette import PROMPT, Look, look_of
from specviz.render.visible import visible
from specviz.trace.texts import loose_end

Token = PromptToken | DraftToken | TargetToken
KEPT = (Fate.ACCEPTED, Fate.RESIDUAL, Fate.BONUS)


@dataclass(frozen=True, slots=True)
class Span:
    """One token as it is shown.

    Attributes:
        token: the token with all its figures.
        look: colours, mark and label.
        step: index of its step, None in the prompt.
        place: index in the prompt, or in the step's proposals; the target's own token comes
            behind them.
        kept: whether its text is part of the prompt or of the output.
        lossy: accepted by a lossy rule against the target's own choice.
    """

    token: Token
    look: Look
    step: int | None
    place: int
    kept: bool
    lossy: bool = False

    @property
    def text(self) -> str:
        """The decoded text, "" for all but the last token of a split character."""
        return self.token.text

    @property
    def shown(self) -> str:
        """The text with signs for what would not be seen; one line, never empty."""
        return visible(self.token.text, self.token.data)

    @property
    def breaks(self) -> int:
        """Number of line breaks in the text: shown as signs, and to be broken after."""
        return self.token.text.count("\n")


def spans_of(events: Iterable[Event]) -> tuple[Span, ...]:
    """The spans of a run: the prompt, then the steps; a draft that waits for its verdict last."""
    spans: list[Span] = []
    waiting: Drafted | None = None
    for event in events:
        waiting = event if isinstance(event, Drafted) else None
        if isinstance(event, Prefilled) and event.header:
            spans.extend(prompt_spans(event.header.prompt_tokens))
        elif isinstance(event, Verified):
            spans.extend(step_spans(event))
    if waiting is not None:
        spans.extend(drafted_spans(waiting))
    return tuple(spans)


def prompt_spans(tokens: Sequence[PromptToken]) -> tuple[Span, ...]:
    """The spans of a prompt."""
    return tuple(Span(token, PROMPT, None, place, True) for place, token in enumerate(tokens))


def step_spans(step: Verified) -> tuple[Span, ...]:
    """The spans of a step: proposed tokens, then the target's own."""
    return tuple(_step_spans(step))


def drafted_spans(drafted: Drafted) -> tuple[Span, ...]:
    """The spans of a draft that has not been verified."""
    return tuple(
        Span(token, look_of(None), drafted.index, place, False)
        for place, token in enumerate(drafted.proposed)
    )


def joined_text(spans: Iterable[Span], *, prompt: bool = False) -> str:
    """The decoded text of the kept spans, exactly; a character cut off at the end is U+FFFD.

    Args:
        spans: spans of a run.
        prompt: whether the prompt's text stands before the output's.
    """
    kept = [span for span in spans if span.kept and (prompt or span.step is not None)]
    return "".join(span.text for span in kept) + loose_end(span.token.data for span in kept)


def _step_spans(step: Verified) -> Iterator[Span]:
    for place, token in enumerate(step.proposed):
        kept = token.fate in KEPT
        yield Span(token, look_of(token.fate), step.index, place, kept, is_lossy(token))
    target = step.target_token
    if target is not None:
        yield Span(target, look_of(target.fate), step.index, len(step.proposed), True)
