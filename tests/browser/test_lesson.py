"""The lesson and the cards of methods in a browser: keys, what is lit, and what comes back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.pilot import Pilot
from tests.ui.fake_runs import CARDS

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

LIT = (
    ".sv-card-tau",
    ".sv-chain",
    ".sv-inspect-head",
    ".sv-link.sv-picked",
    ".sv-inspect-detail",
    ".sv-lane .sv-text",
    ".sv-cards",
    ".sv-headline",
)
STATE = """() => {
  const v = document.querySelector('.sv').svViewer;
  const kept = v.cursor.at && { ...v.cursor.at };
  const { mode, pace } = v.player;
  return [v.feed.run.id, v.player.shown(v.feed.run), mode, pace, v.active, kept, scrollY];
}"""
BOXES = """(selector) => {
  const box = (node) => {
    const { left, top, right, bottom } = node.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const find = (name) => box(document.querySelector(name));
  return { lit: find('.sv ' + selector), hole: find('.sv-spot-hole'), card: find('.sv-lesson') };
}"""
FATE = """() => {
  const v = document.querySelector('.sv').svViewer;
  return v.lanes[0].text.tokens[v.cursor.at.k].token.f;
}"""


def begin(pilot: Pilot, **options: Any) -> Any:
    """A page with the lesson open, without motion."""
    page = pilot.open(reduced_motion="reduce", **options)
    page.click(".sv-lesson-open")
    page.wait_for_selector(".sv-lesson")
    return page


def lit_and_card(page: Any, selector: str) -> dict[str, list[float]]:
    """Boxes after the page has settled."""
    page.wait_for_timeout(120)
    return dict(page.evaluate(BOXES, selector))


def test_keys_reach_all_eight_stops_and_the_right_part_is_lit(pilot: Pilot) -> None:
    page = begin(pilot)
    titles, fates = [], []
    for at, selector in enumerate(LIT):
        boxes = lit_and_card(page, selector)
        gaps = [abs(a - b) for a, b in zip(boxes["lit"], boxes["hole"], strict=True)]
        assert all(4 <= gap <= 8 for gap in gaps), (selector, boxes)
        assert boxes["lit"][1] >= 0
        assert boxes["card"][0] >= 0
        assert boxes["card"][3] <= 800
        assert page.locator(".sv-lesson-place").inner_text() == f"Lesson: {at + 1} of 8"
        assert "{" not in page.locator(".sv-lesson").inner_text()
        titles.append(page.locator(".sv-lesson h2").inner_text())
        fates.append(page.evaluate(FATE))
        page.keyboard.press("ArrowRight")
    assert len(set(titles)) == 8
    assert [fates[i] for i in (3, 4, 5)] == ["a", "r", "b"]
    assert page.locator(".sv-lesson-place").inner_text() == "Lesson: 8 of 8"  # no run over the end
    page.keyboard.press("ArrowLeft")
    assert page.locator(".sv-lesson-place").inner_text() == "Lesson: 7 of 8"


def test_the_numbers_are_those_that_the_inspector_shows(pilot: Pilot) -> None:
    page = begin(pilot)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    sentence = page.locator(".sv-lesson p").inner_text()
    card = page.locator(".sv-link.sv-picked")
    for number in card.locator(".sv-tip-num").all_inner_texts():
        assert number in sentence
    assert card.locator(".sv-t").inner_text() in sentence


def test_escape_closes_the_lesson_and_brings_back_what_was_on_screen(pilot: Pilot) -> None:
    page = pilot.open(reduced_motion="reduce")
    pilot.run(prompt="Before the lesson")
    pilot.show_all()
    page.locator(".sv-inspect").focus()
    for key in ("Home", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    page.evaluate("() => { document.querySelector('.sv').svViewer.player.pace = 8; }")
    page.evaluate("() => window.scrollTo(0, 40)")
    before = page.evaluate(STATE)
    page.evaluate("() => document.querySelector('.sv-lesson-open').click()")
    page.wait_for_selector(".sv-lesson")
    assert page.evaluate(STATE)[0] == "lesson"
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    page.wait_for_timeout(120)
    assert page.locator(".sv-lesson").count() == 0
    assert page.evaluate(STATE) == before
    assert page.evaluate("() => document.activeElement.className") == "sv-lesson-open"
    assert page.locator(".sv-name").inner_text() == "Speculative decoding"
    pilot.run(prompt="After the lesson")
    assert pilot.state() == "done"


def test_the_held_step_comes_back(pilot: Pilot) -> None:
    page = pilot.open(reduced_motion="reduce")
    page.evaluate(
        "() => { const v = document.querySelector('.sv').svViewer; v.player.hold(v.feed.run, 5); }"
    )
    before = page.evaluate(STATE)
    # Playwright's own click may scroll the page before the lesson reads where it stands.
    page.evaluate("() => document.querySelector('.sv-lesson-open').click()")
    page.wait_for_selector(".sv-lesson")
    page.click(".sv-lesson-close")
    assert page.evaluate(STATE) == before


def test_focus_stays_in_the_card_and_buttons_do_what_keys_do(pilot: Pilot) -> None:
    page = begin(pilot)
    name = "() => document.activeElement.className"
    assert "sv-lesson-next" in page.evaluate(name)
    seen = set()
    for _ in range(6):
        page.keyboard.press("Tab")
        seen.add(page.evaluate(name).split()[-1])
    assert seen == {"sv-lesson-close", "sv-lesson-next"}  # there is no way back yet
    page.click(".sv-lesson-next")
    assert page.locator(".sv-lesson-place").inner_text() == "Lesson: 2 of 8"
    page.click(".sv-lesson-back")
    assert page.locator(".sv-lesson-place").inner_text() == "Lesson: 1 of 8"
    assert "sv-lesson-next" in page.evaluate(name)
    for _ in range(8):
        page.keyboard.press("Enter")  # Next, and at the end Finish
    assert page.locator(".sv-lesson").count() == 0
    assert page.evaluate("() => document.querySelector('.gradio-container').inert") is False


def test_a_message_that_comes_during_the_lesson_waits(pilot: Pilot) -> None:
    page = begin(pilot)
    message = """(text) => document.querySelector('.sv').svViewer.feed.receive(text)"""
    late = '{"v":1,"run":"","seq":0,"ev":[],"end":"error","error":["X","late news"]}'
    page.evaluate(message, late)
    assert not page.locator(".sv-alert").is_visible()
    page.keyboard.press("Escape")
    assert page.locator(".sv-alert").inner_text() == "Late news"


def test_motion_is_only_for_those_who_did_not_ask_for_less(pilot: Pilot) -> None:
    duration = "() => getComputedStyle(document.querySelector('.sv-spot-hole')).transitionDuration"
    assert begin(pilot).evaluate(duration) == "0s"
    page = pilot.open(reduced_motion="no-preference")
    page.click(".sv-lesson-open")
    page.wait_for_selector(".sv-lesson")
    assert "0.2s" in page.evaluate(duration)


def test_the_lesson_fits_a_phone(pilot: Pilot) -> None:
    size = {"width": 390, "height": 844}
    page = begin(pilot, viewport=size, is_mobile=True, has_touch=True)
    for selector in LIT:
        boxes = lit_and_card(page, selector)
        left, top, right, bottom = boxes["card"]
        assert left >= 0
        assert right <= 390
        assert top >= 0
        assert bottom <= 844
        assert top >= boxes["lit"][3] or bottom <= boxes["lit"][1] or boxes["lit"][3] > 560
        page.locator(".sv-lesson-next").tap()
    assert page.locator(".sv-lesson").count() == 0
    widths = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    assert widths[0] <= widths[1]


def test_the_chosen_method_has_a_card_under_its_menu(pilot: Pilot) -> None:
    page = pilot.open()
    page.locator(".sv-method-fold summary").click()
    for card in CARDS:
        page.locator(f"#sv-method input[value={card.key}]").check(force=True)
        shown = page.locator(f"#sv-card [data-method={card.key}]")
        shown.wait_for(state="visible")  # it stays open while methods change
        assert shown.locator("svg rect").count() > 3
        assert len(shown.locator("dd").all_inner_texts()) == 4


def test_the_tab_shows_a_card_for_every_method(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.tab("Methods")
    page.wait_for_selector("#sv-methods .sv-method-card")
    keys = page.eval_on_selector_all(
        "#sv-methods .sv-method-card", "(all) => all.map((card) => card.dataset.method)"
    )
    assert keys == [card.key for card in CARDS]
    for box in page.locator("#sv-methods .sv-method-card").all():
        assert box.locator("svg.sv-pic").is_visible()
        assert all(text.strip() for text in box.locator("dd").all_inner_texts())
