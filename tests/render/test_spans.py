"""Token spans and visible signs."""

from dataclasses import replace

import pytest
from hypothesis import given

from specviz.events import DraftToken, Event, Fate, Finished, Prefilled
from specviz.render import joined_text, spans_of, step_spans, visible
from specviz.render.visible import pieces
from specviz.trace.decode import drafted_of
from tests.trace.sample_runs import drafted, header, own, run, sized, step
from tests.trace.strategies import TEXTS, few, is_inert, runs


def texts(*words: str) -> list[Event]:
    """A run of accepted tokens with these texts and a bonus token "."."""
    tokens = tuple(drafted(7, Fate.ACCEPTED, word) for word in words)
    only = replace(step(0, "a"), proposed=tokens, target_token=own(8, Fate.BONUS, "."))
    return run([only])


def test_blanks_and_equal_neighbours_have_their_own_spans() -> None:
    """U45: seven tokens, seven boxes, nothing empty, and the text is that of the output."""
    words = (" ", "\n", "\n\n", "\t", "", "a", "a")
    events = texts(*words)
    spans = [span for span in spans_of(events) if span.step is not None]
    assert [span.shown for span in spans] == ["␣", "↵", "↵↵", "⇥", "∅", "a", "a", "."]
    assert [span.breaks for span in spans] == [0, 1, 2, 0, 0, 0, 0, 0]
    assert [span.place for span in spans] == list(range(8))
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert joined_text(spans) == finished.text == "".join(words) + "."


@given(runs())
@few(30)
def test_joined_text_is_the_output_and_every_token_is_seen(events: list[Event]) -> None:
    spans = spans_of(events)
    start, finished = events[0], events[-1]
    assert isinstance(start, Prefilled)
    assert isinstance(finished, Finished)
    assert start.header is not None
    assert joined_text(spans) == finished.text
    prompt = "".join(token.text for token in start.header.prompt_tokens)
    assert joined_text(spans, prompt=True) == prompt + finished.text
    assert all(span.shown and is_inert(span.shown) for span in spans)


def test_spans_come_in_reading_order() -> None:
    spans = spans_of(run([sized(0, 3, 1), step(1, "")]))
    assert [(span.step, span.look.key, span.kept) for span in spans] == [
        (None, "prompt", True),
        (None, "prompt", True),
        (0, "accepted", True),
        (0, "rejected", False),
        (0, "discarded", False),
        (0, "residual", True),
        (1, "bonus", True),
    ]


def test_match_behind_a_rejection_is_not_green() -> None:
    """U33: draft 10 99 12 98 against 10 11 12 13."""
    fates = (Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED, Fate.DISCARDED)
    tokens = tuple(drafted(i, fate) for i, fate in zip((10, 99, 12, 98), fates, strict=True))
    spans = step_spans(replace(step(0, "ar"), proposed=tokens, target_token=own(11, Fate.RESIDUAL)))
    looks = [(span.token.id, span.look.key) for span in spans]
    assert looks == [
        (10, "accepted"),
        (99, "rejected"),
        (12, "discarded"),
        (98, "discarded"),
        (11, "residual"),
    ]


def test_draft_that_waits_is_shown_until_it_is_judged() -> None:
    one = sized(0, 2, 1)
    waiting = [Prefilled(2, 0.1, header=header()), drafted_of(one)]
    keys = [span.look.key for span in spans_of(waiting) if span.step is not None]
    assert keys == ["drafted", "drafted"]
    assert joined_text(spans_of(waiting)) == ""
    judged = [span.look.key for span in spans_of([*waiting, one]) if span.step is not None]
    assert judged == ["accepted", "rejected", "residual"]


def test_empty_run_has_no_spans() -> None:
    assert spans_of([]) == ()


def test_split_character_shows_its_bytes_and_then_itself() -> None:
    tokens = (
        DraftToken(1, "", b"\xe2\x82", fate=Fate.ACCEPTED),
        DraftToken(2, "€", b"\xac", fate=Fate.ACCEPTED),
    )
    spans = step_spans(replace(step(0, "aa"), proposed=tokens, target_token=own(3, Fate.BONUS, "")))
    assert [span.shown for span in spans] == ["⟨E2 82⟩", "€", "∅"]
    assert joined_text(spans) == "€"


def test_character_cut_off_at_the_end_is_a_replacement_sign() -> None:
    spans = step_spans(replace(step(0, "a"), target_token=own(1, Fate.BONUS, "", data=b"\xf0\x9f")))
    assert joined_text(spans) == "a\ufffd"


def test_lossy_token_is_marked() -> None:
    token = drafted(5, Fate.ACCEPTED, target_choice=6, total_variation=0.2)
    spans = step_spans(replace(step(0, "a"), proposed=(token,)))
    assert [span.lossy for span in spans] == [True, False]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" the", "·the"),
        ("  ", "␣␣"),
        ("a\r\nb", "a␍↵b"),
        ("\x00\x1b[31m", "␀␛[31m"),
        ("\x7f\x85", "␡⟨U+0085⟩"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\u200b\ufeff", "⟨U+200B⟩⟨U+FEFF⟩"),
        ("\u2028", "⟨U+2028⟩"),
        ("\u00a0", "⟨U+00A0⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\ufffe", "⟨U+FFFE⟩"),
        ("\ue000", "⟨U+E000⟩"),
        ("\u3164", "⟨U+3164⟩"),
        ("\u0301e", "\u25cc\u0301e"),
        ("é€😀", "é€😀"),
        ("<b>&amp;", "<b>&amp;"),
    ],
)
def test_visible_shows_what_would_be_hidden(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(TEXTS)
@few(60)
def test_pieces_keep_the_text(text: str) -> None:
    assert "".join(piece.text for piece in pieces(text)) == text
    assert is_inert(visible(text))
