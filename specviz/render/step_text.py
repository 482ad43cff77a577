"""One step in full, as text: every judged token with its numbers and its alternatives."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.events import DraftToken, TargetToken, TopToken, Verified
from specviz.render.palette import look_of
from specviz.render.text import painted
from specviz.render.visible import visible


def step_report(step: Verified, *, color: bool = False) -> str:
    """A step as several lines: its figures, then a paragraph per token.

    Args:
        step: the step.
        color: ANSI colours.
    """
    cut = f", cut by {step.cut}" if step.cut else ""
    lines = [
        f"step {step.index}: gamma {step.gamma}, {len(step.proposed)} proposed, "
        f"{len(step.accepted)} accepted, {len(step.committed_ids)} committed{cut}",
        f"  draft {_ms(step.draft_s)}, verify {_ms(step.verify_s)}, other {_ms(step.other_s)}; "
        f"{step.num_draft_forwards} draft and {step.num_target_forwards} target forwards",
    ]
    for token in step.proposed:
        lines += _draft_lines(token, color)
    if step.target_token is not None:
        lines += _target_lines(step.target_token, color)
    return "\n".join(lines)


def _draft_lines(token: DraftToken, color: bool) -> list[str]:
    numbers = [
        _number("p", token.target_prob),
        _number("q", token.draft_prob),
        _number("accept with", token.accept_prob),
        _number("drawn", token.draw),
        _number("overlap", token.overlap),
    ]
    return [
        _head(token, color),
        *_line(", ".join(number for number in numbers if number)),
        *_alternatives("target", token.target_top),
        *_alternatives("draft", token.draft_top),
    ]


def _target_lines(token: TargetToken, color: bool) -> list[str]:
    return [
        _head(token, color),
        *_line(_number("p", token.target_prob)),
        *_alternatives("target", token.target_top),
        *_alternatives("residual", token.residual_top),
    ]


def _head(token: DraftToken | TargetToken, color: bool) -> str:
    look = look_of(token.fate)
    shown = painted(look.mark + " " + visible(token.text, token.data), look, color)
    return f"  {shown}  ({look.label.lower()}, id {token.id})"


def _alternatives(name: str, tokens: Sequence[TopToken]) -> list[str]:
    if not tokens:
        return []
    listed = "  ".join(f"{visible(token.text)} {token.prob:.3f}" for token in tokens)
    return [f"      {name}: {listed}"]


def _line(text: str) -> list[str]:
    return [f"      {text}"] if text else []


def _number(name: str, value: float | None) -> str:
    return "" if value is None else f"{name} {value:.4g}"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2f} ms"
