"""A race in a browser: live lanes, the replay on one clock, the table, Stop, two tabs, phone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.pilot import Pilot
from tests.ui.fake_race import REFUSED
from tests.ui.fake_runs import FakeRuns

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

OVER = "() => document.querySelector('.sv').svViewer.feed.run.race?.over"
EVIL = (" <img src=x onerror=window.evil=1>", " ${window.evil=1}", " </script>", " {{x}}", " ok")


def race_mode(page: Any, rounds: int = 2) -> None:
    page.locator("#sv-mode label").nth(1).click()
    page.wait_for_selector("#sv-race-go")
    field = page.locator("#sv-race-rounds input[type=number]")
    field.fill(str(rounds))
    field.press("Tab")


def race(page: Any, prompt: str, *, rounds: int = 2) -> None:
    """Run a race to its end, and show the end of its replay."""
    race_mode(page, rounds)
    page.fill("#sv-prompt textarea", prompt)
    page.click("#sv-race-go")
    page.wait_for_function(OVER, timeout=30_000)


def test_a_race_is_measured_live_and_replayed_on_one_clock(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 40.0, 16
    page = pilot.open()
    race_mode(page)
    page.fill("#sv-prompt textarea", "Race them")
    page.click("#sv-race-go")
    page.wait_for_function("() => document.querySelectorAll('.sv-runner').length === 4")
    notes = page.locator(".sv-runner-note").all_inner_texts()
    assert notes[0].startswith("round 1 of 2")
    assert notes[-1] == "waiting"
    assert pilot.texts(".sv-lane h3") == [
        "Plain decoding",
        "Speculative decoding",
        "Prompt lookup",
        "Early exit",
    ]
    page.wait_for_function(OVER, timeout=30_000)
    page.wait_for_function("() => document.querySelector('.sv').svViewer.player.mode === 'play'")
    page.wait_for_function(  # nothing is called done while the replay plays
        "() => document.querySelector('#sv-status textarea').value === 'Measured; see the replay'"
    )
    page.wait_for_function("() => document.querySelector('.sv').svViewer.player.count > 4")
    seen = page.evaluate(
        "() => { const v = document.querySelector('.sv').svViewer;"
        " return v.feed.run.lanes.map((lane, i) => [v.player.clock,"
        " (lane.steps[v.shown[i] - 1]?.run || [])[4] || 0,"
        " (lane.steps[v.shown[i]]?.run || [])[4]]); }"
    )
    for clock, shown, coming in seen:  # every lane shows what it had at the same moment
        assert shown <= clock
        assert coming is None or coming > clock - 250
    pilot.show_all()
    page.wait_for_function("() => document.querySelectorAll('.sv-home').length === 4")
    assert page.locator(".sv-first").count() >= 1
    assert page.locator(".sv-name").inner_text() == "Race of 4 methods"


def test_the_table_and_the_figures_of_a_race(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 0, 16
    page = pilot.open()
    race(page, "Table please", rounds=3)
    page.wait_for_selector(".sv-result-table")
    assert page.locator(".sv-result-table tbody").count() == 4
    gains = page.locator(".sv-col-speedup strong").all_inner_texts()
    assert gains[0] == "1.00×"
    outcome = page.evaluate(
        "() => document.querySelector('.sv').svViewer.feed.run.lanes"
        ".map((lane) => lane.compare.race.speedup[0])"
    )
    assert gains == [f"{value:.2f}×" for value in outcome]
    said = page.locator(".sv > .sv-sr").inner_text()
    assert said.startswith("Race finished. Fastest: ")
    sentences = page.locator(".sv-why").all_inner_texts()
    assert all(text.endswith(".") for text in sentences)
    assert "first difference at token" in page.locator("td.sv-col-same").nth(1).inner_text()
    pilot.tab("Comparison")
    page.wait_for_selector("#sv-race-fig-speedups .js-plotly-plot", timeout=20_000)
    page.wait_for_selector("#sv-race-fig-tokens .js-plotly-plot", timeout=20_000)


def test_steps_and_paces_of_the_replay(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 0, 10
    page = pilot.open()
    race(page, "Step by step")
    pilot.show_all()
    page.evaluate(
        "() => { const v = document.querySelector('.sv').svViewer; v.player.hold(v.feed.run, 0); }"
    )
    paces = page.locator(".sv-pace option").all_inner_texts()
    assert paces[:2] == ["replay, as fast as measured", "replay, 2× slower than measured"]
    assert page.locator(".sv-track-head").inner_text().startswith("Replay")
    page.locator(".sv-text").nth(1).focus()
    page.keyboard.press(".")
    counts = page.locator(".sv-runner-count").all_inner_texts()
    assert counts[1] != "0 tokens"
    page.keyboard.press(",")
    assert page.locator(".sv-runner-count").nth(1).inner_text() == "0 tokens"


def test_stop_ends_a_race_and_the_page_stays_usable(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 25.0, 400
    page = pilot.open()
    pilot.length(1000)
    race_mode(page)
    page.fill("#sv-prompt textarea", "Never ending")
    page.click("#sv-race-go")
    pilot.settle("running")  # until then, a recorded run is on screen
    page.wait_for_function("() => document.querySelectorAll('.sv-text .sv-step').length > 3")
    late = source.late
    page.click("#sv-stop")
    pilot.settle("cancelled")
    assert source.late <= late + 1
    assert "Stopped" in page.locator(".sv-track-head").inner_text()
    page.wait_for_function(
        "() => document.querySelector('#sv-status textarea').value === 'Stopped'"
    )
    page.wait_for_timeout(300)
    source.rate, source.num_steps = 0, 5
    page.fill("#sv-prompt textarea", "Once more")
    page.click("#sv-race-go")
    page.wait_for_function(OVER, timeout=30_000)
    page.locator("#sv-mode label").nth(0).click()
    page.wait_for_selector("#sv-run")
    pilot.run(prompt="And a single one")
    assert page.locator(".sv[data-race]").count() == 0
    assert page.locator(".sv-track-box").is_hidden()
    assert page.locator(".sv-cards").is_visible()


def test_two_tabs_race_apart(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 0, 8
    one, two = pilot.open(), pilot.open()
    race(one, "First tab")
    race(two, "Second tab")
    for page, prompt in ((one, "First tab"), (two, "Second tab")):
        assert page.locator(".sv-prompt").first.inner_text() == prompt
        assert page.evaluate(OVER)


def test_refusals_are_sentences(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 0, 6
    page = pilot.open()
    race(page, f"{REFUSED} here")
    pilot.show_all()
    assert "cannot run: no cache" in page.locator(".sv-runner-note").nth(2).inner_text()
    for key in ("speculative", "prompt_lookup", "early_exit"):
        page.locator(f"#sv-race-{key} input").uncheck()
    page.click("#sv-race-go")
    page.wait_for_function("() => !document.querySelector('.sv-alert').hidden")
    assert "1 to 3 methods" in page.locator(".sv-alert").inner_text()


def test_methods_that_the_target_does_not_serve_are_disabled_with_the_reason(pilot: Pilot) -> None:
    page = pilot.open()
    race_mode(page)
    page.click("#sv-target input")
    page.get_by_role("option", name="Other model").click()
    page.wait_for_function("() => document.querySelector('#sv-race-speculative input').disabled")
    assert "no draft model fits" in page.locator("#sv-race-speculative").inner_text()
    assert not page.locator("#sv-race-speculative input").is_checked()
    assert page.locator("#sv-race-prompt_lookup input").is_checked()


def test_hostile_texts_are_inert_in_a_race(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps, source.texts = 0, 12, EVIL
    page = pilot.open()
    race(page, "<b>${window.evil=1}</b> <script>window.evil=1</script>")
    pilot.show_all()
    pilot.tab("Comparison")
    page.wait_for_timeout(500)
    assert page.evaluate("() => window.evil") is None
    assert page.locator(".sv-lane img, .sv-lane script, .sv-result img").count() == 0
    assert "<img src=x" in page.locator(".sv-text").nth(1).inner_text()


def test_a_race_fits_a_phone_and_works_by_keyboard(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 0, 12
    page = pilot.open(viewport={"width": 390, "height": 844})
    page.locator("#sv-mode input").nth(1).focus()
    page.keyboard.press("Space")
    page.wait_for_selector("#sv-race-go")
    page.locator("#sv-race-go").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(OVER, timeout=30_000)
    pilot.show_all()
    page.wait_for_selector(".sv-result-table")
    wide = page.evaluate(
        "() => [...document.querySelectorAll('.sv *')].filter((node) =>"
        " node.getBoundingClientRect().right > 391"
        " && !node.closest('.sv-text, thead, .sv-align-scroll'))"
        ".map((node) => node.className)"
    )
    assert wide == []
    prompt = page.locator("#sv-prompt").bounding_box()
    stage = page.locator(".sv").bounding_box()
    assert prompt["y"] < stage["y"]
