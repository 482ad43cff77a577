"""The step inspector in a browser: which step it shows, keys, the plain line, hostile texts."""

from __future__ import annotations

import re

import pytest

from tests.browser.pilot import Pilot
from tests.browser.test_viewer import HOSTILE
from tests.ui.fake_runs import FakeRuns

expect = pytest.importorskip("playwright.sync_api").expect
expect.set_options(timeout=15_000)
pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


def test_the_inspector_follows_steps_tokens_and_keys(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Inspect")
    pilot.show_all()
    total = page.evaluate(
        "() => document.querySelector('.sv').svViewer.feed.run.lanes[0].steps.length"
    )
    head = page.locator(".sv-inspect h3")
    page.wait_for_function(
        "(text) => document.querySelector('.sv-inspect h3').textContent === text",
        arg=f"Step {total} of {total}",
    )
    page.locator(".sv-inspect").focus()
    page.keyboard.press("Home")
    expect(head).to_have_text(f"Step 1 of {total}")
    expect(page.locator(".sv-picked")).to_have_count(1)
    assert not page.locator(".sv-tip").is_visible()
    page.keyboard.press(".")
    expect(head).to_have_text(f"Step 2 of {total}")
    assert not page.locator(".sv-inspect .sv-keys").is_visible()
    page.keyboard.press("?")
    assert page.locator(".sv-inspect .sv-keys").is_visible()
    line = page.locator(".sv-plain-line").inner_text()
    assert [part.split(":")[0].strip() for part in line.split(" | ")] == [
        "kept",
        "accepted",
        "rejected",
        "next",
    ]


def test_the_inspector_tells_the_numbers_of_a_refusal(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Numbers")
    page.locator(".sv-text .sv-rejected").first.click()
    panel = page.locator(".sv-inspect")
    for part in ("u 0.900 ≥ 0.500", "residual", "drafted", "put here", "Chance of acceptance"):
        expect(panel).to_contain_text(part)
    card = page.locator(".sv-link.sv-picked")
    assert "rejected" in card.inner_text()
    page.locator(".sv-link").last.click()
    expect(page.locator(".sv-link.sv-picked")).to_contain_text("residual")


def test_under_greedy_decoding_nothing_is_told_of_draws(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Greedy numbers")
    page.locator(".sv-text .sv-rejected").first.click()
    panel = page.locator(".sv-inspect")
    for part in ("≠ arg max p", "Rejected: the target's likeliest token", "β = 1 if the draft is"):
        expect(panel).to_contain_text(part)
    text = panel.inner_text()
    assert "accept\n" not in text and "u 0.900" not in text and "Σ min" not in text


def test_a_pinned_step_is_told_until_the_player_is_followed(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Pinned")
    head, note = page.locator(".sv-inspect h3"), page.locator(".sv-inspect-pinned")
    total = page.locator(".sv-lane").first.locator(".sv-step").count()
    page.locator(".sv-text .sv-t").first.click()
    expect(head).to_have_text(f"Step 1 of {total}")
    expect(note).to_contain_text(f"the player is at step {total}")
    note.locator("button").click()
    expect(head).to_have_text(f"Step {total} of {total}")
    expect(note).to_be_hidden()
    page.locator(".sv-text .sv-t").first.click()
    page.click(".sv-play")  # playing lets go of the token
    page.wait_for_timeout(300)
    page.click(".sv-play")
    expect(page.locator(".sv-cur")).to_have_count(0)
    place = page.locator(".sv-place").inner_text().split(" of ")[0].replace("step", "Step")
    expect(head).to_have_text(re.compile(re.escape(place) + " of "))


def test_help_leads_to_the_lesson(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.show_all()
    page.click(".sv-help")
    assert page.locator(".sv-guide").is_visible()
    page.click(".sv-guide button")
    page.wait_for_selector(".sv-lesson-place")
    page.click(".sv-lesson-close")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (1280, 420)])
def test_the_card_of_a_token_never_covers_it_nor_leaves_the_window(
    pilot: Pilot, width: int, height: int
) -> None:
    page = pilot.open(viewport={"width": width, "height": height})
    pilot.run(prompt="Cards")
    shown = page.locator(".sv-lane").first.locator(".sv-t")
    page.locator(".sv-text").first.scroll_into_view_if_needed()
    for index in range(0, shown.count(), 7):
        shown.nth(index).click()
        token, card = shown.nth(index).bounding_box(), page.locator(".sv-tip").bounding_box()
        assert card["y"] >= token["y"] + token["height"] or card["y"] + card["height"] <= token["y"]
        assert card["x"] >= 0 and card["x"] + card["width"] <= width
        assert card["y"] >= 0 and card["y"] + card["height"] <= height, (index, card)


def test_hostile_tokens_are_text_in_the_inspector(pilot: Pilot, source: FakeRuns) -> None:
    source.texts, source.num_steps = HOSTILE, 12
    page = pilot.open()
    pilot.run(prompt="<img src=x onerror=window.hit=6>")
    page.locator(".sv-inspect").focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(150)
    assert page.locator(".sv-inspect img, .sv-inspect script, .sv-inspect s").count() == 0
    assert page.evaluate("() => window.hit") is None


def test_the_inspector_fits_a_phone(pilot: Pilot) -> None:
    page = pilot.open(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    pilot.run(prompt="Small")
    page.wait_for_timeout(300)
    assert page.locator(".sv-inspect").is_visible()
    widths = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    assert widths[0] <= widths[1]
