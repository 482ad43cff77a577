"""Uploaded traces made to do harm: inert and readable in text, card, inspector, plots, exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specviz.trace import Trace, check
from tests.browser.pilot import Pilot
from tests.browser.test_share import from_disk, saved
from tests.export.evil import PAYLOADS, extremes, good, script_everywhere

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

HUGE = 100_000
LOADED = "(id) => { const { run } = document.querySelector('.sv').svViewer.feed;" + (
    " return run.id !== id && run.kind === 'loaded' && run.end; }"
)
RUN_ID = "() => document.querySelector('.sv').svViewer.feed.run.id"
HIDDEN = "() => /[\\u202a-\\u202e\\u2066-\\u2069\\u0000-\\u0008\\u001b]/u.test(" + (
    "document.querySelector('.sv').innerText)"
)
STRANGE = "() => document.querySelectorAll('.sv img, .sv script, .sv-sheet img, [onerror]').length"
LONGEST = (
    "() => Math.max(...['.sv-name', '.sv-fact', '.sv-lane h3', '.sv-link .sv-t'].flatMap((s) =>"
    + (" [...document.querySelectorAll(s)].map((node) => node.textContent.length)))")
)


def monstrous() -> dict[str, Any]:
    """A sound trace with huge and hidden names, and pieces of a hundred thousand characters."""
    document = good()
    document["method"]["title"] = "T" * HUGE
    document["models"]["target"]["id"] = "\u202e\u2066" + "M" * HUGE
    document["provenance"]["device"] = "\x1b[31m" + "d" * HUGE
    for step in document["steps"]:
        for token in step["proposed"]:
            for top in token["target_top"]:
                top["text"] = "\u202e" + "t" * HUGE
            source = token["source"]
            if source and "texts" in source:
                source["texts"] = ["p" * HUGE] * 40
                source["ids"] = list(range(40))
    return document


def upload(pilot: Pilot, document: dict[str, Any], folder: Path) -> Any:
    """Load a document as a file, and show its end."""
    page = pilot.page
    path = folder / "evil.json"
    path.write_text(json.dumps(document), "utf-8")
    check(Trace.load(path))
    before = page.evaluate(RUN_ID)
    page.locator("input[type=file]").first.set_input_files(path)
    page.wait_for_function(LOADED, arg=before, timeout=30_000)
    pilot.show_all()
    return page


def walk(pilot: Pilot) -> None:
    """Look at every token, in the text with its card and in the inspector."""
    page = pilot.page
    page.locator(".sv-text").first.focus()
    page.keyboard.press("Home")
    for _ in range(9):
        page.wait_for_timeout(60)
        page.keyboard.press("ArrowRight")
        assert page.locator(".sv-tip").first.is_visible()
    assert page.evaluate(HIDDEN) is False
    assert page.evaluate(STRANGE) == 0
    assert page.evaluate("() => window.hit") is None
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


@pytest.fixture
def ready(pilot: Pilot) -> Pilot:
    """A page with its tab of traces open."""
    pilot.open(reduced_motion="reduce")
    pilot.tab("Traces")
    pilot.page.wait_for_selector("#sv-load")
    return pilot


@pytest.mark.parametrize("first", [0, 7, 14])
def test_script_in_every_string_is_only_text(ready: Pilot, tmp_path: Path, first: int) -> None:
    page = upload(ready, script_everywhere(first), tmp_path)
    walk(ready)
    seen = page.locator(".sv").inner_text() + page.locator(".sv-inspect").inner_text()
    assert sum(payload in seen for payload in PAYLOADS if payload.isprintable()) >= 3
    from_disk(ready, saved(page, "document", tmp_path))
    json.loads(saved(page, "timeline", tmp_path).read_text("ascii"))
    page.click(".sv-share-link")
    page.wait_for_selector(".sv-alert:visible, .sv-share-address:visible")
    ready.tab("Figures")
    page.wait_for_selector("#sv-fig-tokens .main-svg", timeout=30_000)
    assert page.evaluate("() => window.hit") is None
    assert (
        page.evaluate("() => document.querySelectorAll('.sv-plots script, .sv-plots img').length")
        == 0
    )


def test_huge_and_hidden_names_are_cut_and_shown_as_signs(ready: Pilot, tmp_path: Path) -> None:
    page = upload(ready, monstrous(), tmp_path)
    walk(ready)
    assert page.evaluate(LONGEST) < 140
    title = page.locator(".sv-name").inner_text()
    assert title == "T" * 80 + "…"
    facts = page.locator(".sv-facts").inner_text()
    assert "⟨U+202E⟩⟨U+2066⟩MMM" in facts and "␛[31mddd" in facts
    page.fill(".sv-range", "2")
    page.wait_for_selector(".sv-align-grid")
    assert page.locator(".sv-align-grid .sv-byte").count() == 96
    assert "Only the first 96 bytes" in page.locator(".sv-inspect").inner_text()
    from_disk(ready, saved(page, "document", tmp_path))
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(300)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_extreme_numbers_draw_and_say_why_there_is_no_link(ready: Pilot, tmp_path: Path) -> None:
    page = upload(ready, extremes(), tmp_path)
    walk(ready)
    ready.tab("Theory")
    page.wait_for_selector("#sv-theory svg, #sv-theory .sv-about", timeout=30_000)
    page.click(".sv-share-link")
    page.wait_for_selector(".sv-alert:visible")
    assert page.locator(".sv-share-address").is_hidden()
    assert "must be" in page.locator(".sv-alert").first.inner_text()
