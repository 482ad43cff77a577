"""The step inspector in a browser: which step it shows, keys, the plain line, hostile texts."""

from __future__ import annotations

import pytest

from tests.browser.pilot import Pilot
from tests.browser.test_viewer import HOSTILE
from tests.ui.fake_runs import FakeRuns

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
    page.wait_for_timeout(100)
    assert head.inner_text() == f"Step 1 of {total}"
    assert page.locator(".sv-picked").count() == 1
    assert not page.locator(".sv-tip").is_visible()
    page.keyboard.press(".")
    page.wait_for_timeout(100)
    assert head.inner_text() == f"Step 2 of {total}"
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
    page.wait_for_timeout(150)
    text = page.locator(".sv-inspect").inner_text()
    for part in ("u 0.900 ≥ 0.500", "residual", "drafted", "put here", "Chance of acceptance"):
        assert part in text, part
    card = page.locator(".sv-link.sv-picked")
    assert "rejected" in card.inner_text()
    page.locator(".sv-link").last.click()
    page.wait_for_timeout(150)
    assert "residual" in page.locator(".sv-link.sv-picked").inner_text()


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
