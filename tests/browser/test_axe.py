"""axe-core finds nothing serious on any part of the page, in both themes and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from specviz.ui.i18n import texts
from tests.browser.axe import axe_source, grave
from tests.browser.pilot import Pilot

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]
WORDS = texts()["en"]
PHONE = {"width": 390, "height": 844}


def parts(pilot: Pilot, page: Any) -> Iterator[str]:
    """Opens the parts of the page one after the other; yields the name of each."""
    yield "landing"
    page.locator(".sv-lesson-open").click()
    page.wait_for_selector(".sv-lesson:visible")
    yield "lesson"
    page.keyboard.press("Escape")
    pilot.run(prompt="Once upon a time")
    page.click(".sv-help")
    page.locator(".sv-link").first.click()
    yield "run, inspector"
    for name in ("figures", "theory", "sweep", "trace"):
        pilot.tab(WORDS[f"sv_tab_{name}"])
        if name == "figures":
            page.wait_for_selector("#sv-fig-tokens .main-svg", timeout=30_000)
        yield name
    pilot.tab(WORDS["sv_card_tab"])
    yield "cards of methods"
    page.get_by_text(WORDS["sv_race_mode_race"], exact=True).first.click()
    page.click("#sv-race-go:visible")
    page.wait_for_selector(".sv-result-table", timeout=60_000)
    pilot.show_all()
    pilot.tab(WORDS["sv_tab_compare"])
    page.wait_for_selector("#sv-race-fig-tokens .main-svg", timeout=30_000)
    yield "race"


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_axe_finds_nothing_serious(pilot: Pilot, theme: str, width: int) -> None:
    source = axe_source()
    viewport = PHONE if width == PHONE["width"] else {"width": width, "height": 900}
    page = pilot.open(query=f"?__theme={theme}", viewport=viewport, reduced_motion="reduce")
    found = {}
    for part in parts(pilot, page):
        findings = [(f["id"], f["target"], f["why"]) for f in grave(page, source)]
        if findings:
            found[part] = findings
    assert found == {}


PLANT = """() => {
  const box = document.createElement('div');
  box.id = 'planted';
  box.style.cssText = 'position: fixed; top: 0; left: 0; z-index: 99999; background: #ffffff';
  const pale = document.createElement('p');
  pale.textContent = 'pale words';
  pale.style.color = '#bbbbbb';
  box.append(document.createElement('button'), pale);
  document.body.append(box);
}"""


def test_axe_sees_what_is_wrong(pilot: Pilot) -> None:
    """A button without a name and pale text are found, so the check can fail.

    They lie above all else on a ground of their own: what a page still draws or covers while it
    opens would make axe say that it cannot tell.
    """
    source = axe_source()
    page = pilot.open()
    page.evaluate(PLANT)
    found = list(grave(page, source))
    assert {("button-name", "#planted > button"), ("color-contrast", "#planted > p")} <= {
        (finding["id"], finding["target"]) for finding in found
    }, found
