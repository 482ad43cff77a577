"""The exported page, opened from disk without a network: scrubbing, keys, hostile tokens, looks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from specviz.errors import TraceError
from specviz.export import export_html
from specviz.export.html import ASSETS
from specviz.trace import Trace, check
from tests.browser.test_viewer import contrast
from tests.export.evil import PAYLOADS, extremes, script_everywhere, wrong_types

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

SAMPLED = ASSETS / "traces" / "04-sampled-story.json"
PLACE = ".sv-place"
HIDDEN = "\u202e\u2066\x1b\x07\x00\u200b\ufeff\u2028\ud800\udc00"
Opener = Callable[..., Any]


@pytest.fixture
def opener(browser: Any, tmp_path: Path) -> Iterator[Opener]:
    """Opens a trace's page from a file; any error, warning or other request fails the test."""
    contexts: list[Any] = []
    trouble: list[str] = []

    def open_page(trace: Trace, *, fragment: str = "", **options: Any) -> Any:
        path = tmp_path / "run.html"
        path.write_text(export_html(trace), encoding="utf-8", newline="\n")
        settings = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
        context = browser.new_context(offline=True, **(settings | options))
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda line: trouble.append(line.text))
        page.on("dialog", lambda box: trouble.append(box.message))
        page.on("request", lambda request: asked.append(request.url))
        asked: list[str] = []
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector(".svx-section")
        assert [url.split("#")[0] for url in asked] == [path.as_uri()]
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.fixture
def sampled() -> Trace:
    """A recorded run with draws, and a plain run beside it."""
    return Trace.load(SAMPLED)


def test_opens_from_disk_with_figures_and_provenance(opener: Opener, sampled: Trace) -> None:
    page = opener(sampled)
    text = page.inner_text("body")
    for words in ("recorded on ", "Where the numbers come from", "Settings in force"):
        assert words in text
    fates = [token["fate"] for step in sampled.document["steps"] for token in step["proposed"]]
    accepted, rejected = fates.count("accepted"), fates.count("rejected")
    rate = f"{100 * accepted / (accepted + rejected):.1f}%"
    torch_version = sampled.document["provenance"]["torch"]
    for value in (rate, torch_version, "speculative_sampling", "target-glm"):
        assert value in text
    assert page.title() == "Speculative decoding – specviz"
    assert page.evaluate("() => document.querySelector('.sv').dataset.state") == "done"
    marks = page.evaluate(
        "() => ['accepted', 'rejected', 'residual', 'bonus', 'discarded'].map((fate) =>"
        " document.querySelectorAll('.sv-text .sv-' + fate).length)"
    )
    fates = [token.fate.value for step in sampled.steps for token in step.proposed if token.fate]
    counts = [fates.count(fate) for fate in ("accepted", "rejected", "discarded")]
    targets = [  # a token of a step that drafted nothing is the target's own, no bonus
        step.target_token.fate.value
        for step in sampled.steps
        if step.target_token and step.proposed
    ]
    assert marks == [*counts[:2], targets.count("residual"), targets.count("bonus"), counts[2]]


def test_keys_scrub_and_play(opener: Opener, sampled: Trace) -> None:
    page = opener(sampled)
    total = len(sampled.steps)
    press = page.keyboard.press
    press("Home")
    assert page.inner_text(PLACE) == f"step 0 of {total}"
    assert page.locator(".sv-text .sv-t:visible").count() == 0
    for _ in range(3):
        press("ArrowRight")
    press("ArrowLeft")
    press(".")
    assert page.inner_text(PLACE) == f"step 3 of {total}"
    shown = page.locator(".sv-text .sv-t:visible").count()
    tokens = [len(s.proposed) + bool(s.target_token) for s in sampled.steps[:3]]
    assert shown == sum(tokens)
    press("End")
    assert page.inner_text(PLACE) == f"step {total} of {total}"
    press("Home")
    press(" ")
    page.wait_for_function(f"() => !document.querySelector('{PLACE}').textContent.includes(' 0 ')")
    press(" ")
    page.fill(".sv-range", "7")
    assert page.inner_text(PLACE) == f"step 7 of {total}"


def test_a_token_tells_why(opener: Opener, sampled: Trace) -> None:
    page = opener(sampled)
    page.locator(".sv-text").focus()
    page.keyboard.press("Home")
    for _ in range(40):
        page.keyboard.press("ArrowRight")
        if "is not below" in page.inner_text(".sv-tip"):
            break
    text = page.inner_text(".sv-tip")
    assert "Rejected: the draw" in text and "p, target" in text and "q, draft" in text
    page.keyboard.press("Escape")
    assert page.locator(".sv-tip").is_hidden()
    page.locator(".sv-text .sv-accepted").first.hover()
    assert "Accepted:" in page.inner_text(".sv-tip")


def test_opens_at_a_step(opener: Opener, sampled: Trace) -> None:
    page = opener(sampled, fragment="#step=5")
    assert page.inner_text(PLACE) == f"step 5 of {len(sampled.steps)}"
    page.evaluate("() => { location.hash = 'step=9'; }")
    page.wait_for_function(f"() => document.querySelector('{PLACE}').textContent.includes(' 9 ')")
    page.evaluate("() => { location.hash = 'step=<img src=x>'; }")
    assert page.inner_text(PLACE).startswith("step 9 ")


def test_saves_the_trace_again(opener: Opener, sampled: Trace, tmp_path: Path) -> None:
    page = opener(sampled, accept_downloads=True)
    with page.expect_download() as download:
        page.click(".sv-share-trace")
    download.value.save_as(tmp_path / "again.json")
    again = Trace.load(tmp_path / "again.json")
    check(again)
    assert again == sampled


@pytest.mark.parametrize("first", [0, 5, 13])
def test_hostile_tokens_are_inert(opener: Opener, first: int) -> None:
    page = opener(Trace.from_document(script_everywhere(first)))
    for selector in (".sv-text .sv-t", ".sv-text .sv-pt"):
        boxes = page.locator(selector)
        for place in range(boxes.count()):
            boxes.nth(place).hover()
    page.locator(".sv-text .sv-t").first.click()
    assert page.locator("img, iframe, [onmouseover], [onfocus], [src], [href]").count() == 0
    assert page.locator("script").count() == 4
    assert page.evaluate("() => window.hit") is None
    assert page.locator(".sv-cards").is_visible()
    raw = [char for char in page.inner_text("body") if char in HIDDEN]
    assert raw == []


def test_all_payloads_are_readable_as_tokens(opener: Opener) -> None:
    """Each payload is shown, whole, somewhere: as typed, or with signs for what is hidden."""
    seen = ""
    for first in range(0, len(PAYLOADS), 4):
        page = opener(Trace.from_document(script_everywhere(first)))
        seen += "\n".join(page.locator(".sv-text .sv-t, .sv-text .sv-pt").all_inner_texts())
    for payload in ("<!--<script>", "{{window.hit=6}}", "␀", "␛[31m␛]0;title␇", "⟨U+D800⟩",
                    "⟨U+202E⟩evil⟨U+2066⟩", "javascript:window.hit=8"):  # fmt: skip
        assert payload in seen, payload


def test_odd_but_sound_traces_draw_without_an_error(opener: Opener) -> None:
    odd = [Trace.from_document(extremes())]
    for document in wrong_types():
        try:
            trace = Trace.from_document(document)
            check(trace)
        except TraceError:
            continue
        odd.append(trace)
    for trace in odd[::6]:
        page = opener(trace)
        widths = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
        assert widths[0] <= widths[1]
        page.context.close()


def test_dark_follows_the_system_and_can_be_read(opener: Opener, sampled: Trace) -> None:
    page = opener(sampled, color_scheme="light")
    paper = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "(dark) => document.body.classList.contains('dark') === dark", arg=scheme == "dark"
        )
        pairs = page.evaluate(PAIRS)
        assert len(pairs) > 10
        for selector, ink, ground in pairs:
            assert contrast(ink, ground) >= 4.5, (scheme, selector, ink, ground)
    page.wait_for_function(f"({paper})() !== '{light}'")  # the page hears of it a moment later


def test_fits_a_phone(opener: Opener, sampled: Trace) -> None:
    page = opener(sampled, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.locator(".sv-text .sv-rejected").first.tap()
    box = page.locator(".sv-tip").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    cut = page.evaluate(
        "() => [...document.querySelectorAll('.svx-rows dt, .svx-rows dd, .svx-bars th')]"
        ".filter((node) => node.scrollWidth > node.clientWidth + 1).map((n) => n.textContent)"
    )
    assert cut == []


def test_speaks_the_readers_language_or_english(opener: Opener, sampled: Trace) -> None:
    known = {path.stem for path in (ASSETS.parent / "specviz" / "ui" / "i18n").glob("*.json")}
    own = ASSETS.parent / "specviz" / "export" / "i18n"
    for locale in ("ko-KR", "zh-CN", "pt-BR", "ru-RU", "fr-FR", "en-GB"):
        tag = next((t for t in known if t in (locale, locale.split("-")[0])), "en")
        page = opener(sampled, locale=locale)
        assert page.evaluate("() => document.documentElement.lang") == tag
        title = json.loads((own / f"{tag}.json").read_text("utf-8"))["svx_results"]
        assert page.locator(".svx-section h2").first.inner_text() == title
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 1280
        page.context.close()


PAIRS = """() => ['.svx-brand', '.svx-top [data-svx=kind]', '.svx-keys', '.svx-keys kbd',
  '.svx-section h2', '.svx-rows dt', '.svx-rows dd', '.svx-note', '.svx-bars th', '.svx-bars td',
  '.svx-bars small', '.svx-foot', '.sv-name', '.sv-badge', '.sv-fact', '.sv-card .sv-from',
  '.sv-text .sv-accepted', '.sv-text .sv-residual', '.sv-place'].map((selector) => {
  const node = document.querySelector(selector);
  let back = node;
  while (back && /rgba\\(0, 0, 0, 0\\)/.test(getComputedStyle(back).backgroundColor)) {
    back = back.parentElement;
  }
  return [selector, getComputedStyle(node).color, getComputedStyle(back).backgroundColor];
})"""
