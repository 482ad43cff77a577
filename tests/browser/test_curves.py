"""Theory and sweep in a browser: curves are drawn, told, cancelled, and fit a phone."""

from __future__ import annotations

import pytest

from tests.browser.pilot import Pilot
from tests.ui.fake_runs import FakeRuns

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


def test_theory_draws_the_run_on_screen(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Theory")
    pilot.tab("Theory")
    page.wait_for_selector("#sv-theory .sv-point-run")
    assert page.locator("#sv-theory svg").count() == 6
    assert page.locator("#sv-theory .sv-point-best").count() == 1
    badges = set(pilot.texts("#sv-theory .sv-badge"))
    assert badges == {"measured here", "computed"}
    page.locator("#sv-theory svg").first.hover()
    assert page.locator(".sv-sheet-told").first.inner_text().startswith("draft length γ")


def test_theory_of_a_recorded_run_says_when_it_was_recorded(pilot: Pilot) -> None:
    page = pilot.open()
    page.get_by_role("tab", name="Theory").wait_for()
    pilot.tab("Theory")
    page.wait_for_selector("#sv-theory .sv-about, #sv-theory .sv-badge")
    text = page.locator("#sv-theory").inner_text()
    assert "recorded on" in text or "cost of a draft pass" in text


def test_a_sweep_runs_and_can_be_cancelled(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 100.0, 8
    page = pilot.open()
    page.get_by_role("tab", name="Sweep").wait_for()
    pilot.tab("Sweep")
    page.click("#sv-sweep-start")
    page.wait_for_selector("#sv-sweep progress")
    page.wait_for_selector("#sv-sweep .sv-sheet-note", timeout=30_000)
    assert page.locator("#sv-sweep svg").count() == 3
    assert page.locator("#sv-sweep svg").first.locator(".sv-dot-main").count() == 12
    source.num_steps = 200
    page.click("#sv-sweep-start")
    page.wait_for_selector("#sv-sweep progress")
    page.click("#sv-sweep-cancel")
    page.wait_for_selector("#sv-sweep .sv-about")
    assert page.locator("#sv-sweep .sv-about").inner_text().startswith("Stopped")


def test_curves_fit_a_phone(pilot: Pilot) -> None:
    page = pilot.open(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    pilot.run(prompt="Small")
    pilot.tab("Theory")
    page.wait_for_selector("#sv-theory svg")
    for chart in page.locator("#sv-theory svg").all():
        box = chart.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


WIDTHS = """() => [...document.querySelectorAll('#figures .js-plotly-plot, .js-plotly-plot')]
  .map((plot) => [plot.clientWidth, plot.querySelector('.main-svg').clientWidth])
  .filter(([room]) => room)"""


def test_figures_drawn_on_a_wide_page_fit_when_it_becomes_a_phone(pilot: Pilot) -> None:
    """While they are on screen, and while another tab hides them."""
    page = pilot.open()
    pilot.tab("Figures")
    page.wait_for_selector("#sv-fig-tokens .main-svg", timeout=30_000)
    for hidden in (False, True):
        page.set_viewport_size({"width": 1280, "height": 800})
        page.wait_for_timeout(600)
        wide = page.evaluate(WIDTHS)
        assert len(wide) == 4
        if hidden:
            pilot.tab("How to read this")
        page.set_viewport_size({"width": 390, "height": 844})
        if hidden:
            pilot.tab("Figures")
        page.wait_for_function(
            f"() => ({WIDTHS})().length === 4 && ({WIDTHS})().every(([room, drawn]) =>"
            " room < 340 && Math.abs(room - drawn) <= 2)",
            timeout=10_000,
        )
