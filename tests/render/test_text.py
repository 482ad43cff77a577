"""Text of spans, for terminals and pipes."""

import re
from dataclasses import replace

from hypothesis import given

from specviz.events import Event, Fate, Finished
from specviz.render import LOOKS, spans_of
from specviz.render.text import (
    CONTEXT_CHARS,
    colored_text,
    legend,
    marked_text,
    plain_text,
    run_text,
    step_line,
)
from tests.trace.sample_runs import drafted, own, run, sized, step
from tests.trace.strategies import few, is_inert, runs

SGR = re.compile(r"\x1b\[[0-9;]*m")


def test_step_is_one_line() -> None:
    assert step_line(sized(3, 4, 2), before="so·far") == "   3  so·far | ✓e ✓f | ✗g ○h | ◆i"


def test_step_line_of_a_match_behind_the_miss() -> None:
    """U33: draft 10 99 12 98 against 10 11 12 13, in letters."""
    fates = (Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED, Fate.DISCARDED)
    texts = ("ten", "bad", "twelve", "worse")
    tokens = tuple(drafted(1, f, t) for f, t in zip(fates, texts, strict=True))
    only = replace(step(0, "r"), proposed=tokens, target_token=own(11, Fate.RESIDUAL, "eleven"))
    assert step_line(only) == "   0  - | ✓ten | ✗bad ○twelve ○worse | ◆eleven"


def test_step_line_of_plain_and_of_cut_steps() -> None:
    assert step_line(step(0, "")) == "   0  - | - | - | ★a"
    assert step_line(step(1, "aad", cut="eos")) == "   1  - | ✓k ✓l | ○m | - | cut: eos"


def test_step_line_shows_only_the_end_of_what_stands_before() -> None:
    kept = step_line(step(0, ""), before="x" * 100).split(" | ")[0]
    assert kept == "   0  …" + "x" * (CONTEXT_CHARS - 1)


def test_step_line_stays_one_line_with_any_text() -> None:
    token = drafted(1, Fate.ACCEPTED, "a\nb\r\x1b[2J\u2028")
    line = step_line(replace(step(0, "a"), proposed=(token,)))
    assert line.isprintable()
    assert "✓a↵b␍␛[2J⟨U+2028⟩" in line


def test_step_line_marks_lossy_tokens() -> None:
    token = drafted(1, Fate.ACCEPTED, "x", target_choice=2, total_variation=0.3)
    assert "✓≠x" in step_line(replace(step(0, "a"), proposed=(token,)))


def test_run_text_carries_the_kept_text_along() -> None:
    lines = run_text(run([sized(0, 2, 1), step(1, "")])).split("\n")
    assert lines == ["   0  Hi↵ | ✓a | ✗b | ◆c", "   1  Hi↵ac | - | - | ★k"]


def test_marked_text_breaks_lines_behind_newlines() -> None:
    token = drafted(1, Fate.ACCEPTED, "a\n")
    spans = spans_of([replace(step(0, "a"), proposed=(token,))])
    assert marked_text(spans) == "✓a↵\n★b"


def test_colours_are_closed_and_marks_stay() -> None:
    line = step_line(sized(0, 3, 1), color=True)
    assert SGR.sub("", line) == step_line(sized(0, 3, 1))
    assert line.count("\x1b[0m") == 4
    assert "\x1b[32m✓a\x1b[0m" in line


@given(runs())
@few(25)
def test_plain_text_is_the_output_and_the_rest_cannot_move_the_cursor(events: list[Event]) -> None:
    spans, finished = spans_of(events), events[-1]
    assert isinstance(finished, Finished)
    assert plain_text(spans) == finished.text
    for text in (colored_text(spans), marked_text(spans, color=True), run_text(events, color=True)):
        assert is_inert(SGR.sub("", text).replace("\n", "").replace("\t", ""))


def test_colored_text_keeps_blanks_and_lines() -> None:
    token = drafted(1, Fate.ACCEPTED, " a\n\tb\x1b[31m")
    spans = spans_of([replace(step(0, "ar"), proposed=(token, drafted(2, Fate.REJECTED, "no")))])
    assert colored_text(spans, color=False) == " a\n\tb␛[31m" + "c"
    assert colored_text(spans) == "\x1b[32m a\x1b[0m\n\x1b[32m\tb␛[31m\x1b[0m\x1b[36mc\x1b[0m"


def test_legend_names_every_look() -> None:
    assert all(look.mark in legend() and look.meaning in legend() for look in LOOKS)
