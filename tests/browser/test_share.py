"""Sharing in a browser: files of every kind of run, links there and back, hostile links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from specviz.trace import Trace, check
from tests.browser.pilot import Pilot
from tests.browser.test_race import race
from tests.export.evil import PAYLOADS
from tests.ui.fake_runs import FakeRuns

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

CARDS = ("rate", "tau", "speed", "gain")
FIGURES = f"() => {json.dumps(CARDS)}.map((name) =>" + (
    " document.querySelector('.sv-card-' + name + ' .sv-value').textContent)"
)
PLACE = "() => document.querySelector('.sv-place').textContent"
STORED = {"run": "story"}


def saved(page: Any, name: str, folder: Path) -> Path:
    """Press one of the buttons, and keep the file under its own name."""
    with page.expect_download() as download:
        page.click(f".sv-share-{name}")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def from_disk(pilot: Pilot, path: Path) -> list[str]:
    """The figures of a saved page, opened without a network."""
    context = pilot.browser.new_context(offline=True, reduced_motion="reduce")
    pilot.contexts.append(context)
    page = context.new_page()
    page.on("pageerror", lambda error: pilot.errors.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector(".svx-section")
    assert page.locator(".sv-share-row button").all_inner_texts() == ["Save trace"]
    return list(page.evaluate(FIGURES))


def link_of(page: Any) -> str:
    """The address that the button makes."""
    page.click(".sv-share-link")
    page.wait_for_selector(".sv-share-address")
    return str(page.input_value(".sv-share-address"))


def check_files(pilot: Pilot, folder: Path, method: str) -> None:
    """All three files of the lane looked at hold the figures on screen."""
    page = pilot.page
    pilot.show_all()
    shown = page.evaluate(FIGURES)
    trace = Trace.load(saved(page, "trace", folder))
    check(trace)
    assert trace.document["method"]["key"] == method
    assert shown[0] == f"{100 * trace.metrics['acceptance_rate']:.1f}%"
    path = saved(page, "document", folder)
    assert path.name == f"specviz-{method}.html"
    assert from_disk(pilot, path) == shown
    line = json.loads(saved(page, "timeline", folder).read_text("utf-8"))
    steps = [e for e in line["traceEvents"] if e["name"].startswith("step ")]
    assert len(steps) == len(trace.steps)


def test_files_of_a_recorded_run(pilot: Pilot, tmp_path: Path) -> None:
    pilot.open()
    check_files(pilot, tmp_path, "speculative")


def test_files_of_a_live_run(pilot: Pilot, tmp_path: Path) -> None:
    page = pilot.open()
    page.wait_for_selector(".sv-share-trace:enabled")
    pilot.run(prompt="Save me")
    check_files(pilot, tmp_path, "speculative")


def test_files_of_an_uploaded_trace(pilot: Pilot, tmp_path: Path, recorded: Path) -> None:
    page = pilot.open()
    document = json.loads(recorded.read_text("utf-8"))
    document["method"]["key"] = "../evil key"
    own = tmp_path / "own.json"
    own.write_text(json.dumps(document), "utf-8")
    pilot.tab("Traces")
    page.locator("#sv-load input[type=file], input[type=file]").first.set_input_files(own)
    page.wait_for_function(
        "() => document.querySelector('.sv').svViewer.feed.run.kind === 'loaded'"
    )
    pilot.show_all()
    shown = page.evaluate(FIGURES)
    path = saved(page, "document", tmp_path)
    assert path.name == "specviz--evil-key.html"
    assert from_disk(pilot, path) == shown


def test_each_lane_of_a_race_can_be_saved(pilot: Pilot, source: FakeRuns, tmp_path: Path) -> None:
    source.rate, source.num_steps = 0, 12
    page = pilot.open()
    race(page, "Save the race")
    pilot.show_all()
    lanes = page.locator(".sv-share-lane option").all_inner_texts()
    assert lanes == ["Plain decoding", "Speculative decoding", "Prompt lookup", "Early exit"]
    for place, method in ((1, "speculative"), (2, "prompt_lookup"), (3, "early_exit")):
        page.select_option(".sv-share-lane", str(place))
        trace = Trace.load(saved(page, "trace", tmp_path))
        assert trace.document["method"]["key"] == method
        assert trace.baseline is not None
        shown = from_disk(pilot, saved(page, "document", tmp_path))
        assert shown[0] == f"{100 * trace.metrics['acceptance_rate']:.1f}%"
        assert shown[3] == f"{trace.metrics['measured_speedup']:.2f}×"
        pilot.show_all()  # a replay that plays on takes the link of its last step away
        address = link_of(page)
        assert f"method={method}" in address


def test_a_link_reopens_a_recorded_run_at_its_step(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.show_all()
    page.fill(".sv-range", "7")
    assert page.evaluate(PLACE) == "step 7 of 24"
    shown = page.evaluate(FIGURES)
    address = link_of(page)
    assert address.endswith("/?run=story&step=7")
    other = pilot.open(query="?" + address.split("?")[1])
    other.wait_for_function(f"({PLACE})() === 'step 7 of 24'")
    assert other.evaluate(FIGURES) == shown
    other.wait_for_timeout(500)
    assert other.evaluate(PLACE) == "step 7 of 24"  # it does not play by itself


def test_a_link_fills_the_form_and_runs_nothing(pilot: Pilot, source: FakeRuns) -> None:
    page = pilot.open()
    page.locator("#sv-method label", has_text="Prompt lookup").click()
    page.wait_for_selector("#sv-set-ngram")
    pilot.length(48)
    pilot.run(prompt='Nothing & <b>runs</b> "here"')
    address = link_of(page)
    before = source.forwards
    other = pilot.open(query="?" + address.split("?")[1])
    other.wait_for_selector(".sv-share-filled")
    assert other.input_value("#sv-prompt textarea") == 'Nothing & <b>runs</b> "here"'
    assert other.locator("#sv-method label.selected").inner_text() == "Prompt lookup"
    assert other.input_value("#sv-set-max_new_tokens input[type=number]") == "48"
    assert other.locator("#sv-set-ngram").is_visible()
    other.wait_for_timeout(400)
    assert source.forwards == before
    assert (
        other.evaluate("() => document.querySelector('.sv').svViewer.feed.run.kind") == "recorded"
    )
    pilot.run(other)  # and Run does what the link says
    title = "() => document.querySelector('.sv').svViewer.feed.run.lanes[0].title"
    assert other.evaluate(title) == "Prompt lookup"


@pytest.mark.parametrize(
    "query",
    [
        "gamma=99&prompt=x",
        "run=../../etc/passwd",
        "run=nobody&prompt=x",
        "step=1e9&run=story",
        "method=__proto__&prompt=x",
        "prompt=" + "x" * 2001,
        "target=" + quote("<img src=x onerror=window.hit=1>"),
        "gamma=" + quote("\u202e3\u2066"),
        "seed=" + "9" * 400,
        "prompt=" + quote('__i18n__{"key":"sv_run"}'),
    ],
    ids=lambda query: query[:30],
)
def test_a_hostile_link_says_why_and_leaves_the_page_alone(pilot: Pilot, query: str) -> None:
    page = pilot.open(query="?" + query)
    page.wait_for_selector("#sv-share-note .sv-alert")
    told = page.locator("#sv-share-note .sv-alert").inner_text()
    assert told.startswith("The link was not followed: ") and told.isprintable()
    assert page.input_value("#sv-prompt textarea") == "Tell big a story."
    assert page.locator("#sv-method label.selected").inner_text() == "Speculative decoding"
    assert page.evaluate("() => document.querySelector('.sv').svViewer.feed.run.lanes.length") == 1
    assert page.evaluate("() => window.hit") is None


def test_payloads_in_a_link_are_only_text(pilot: Pilot) -> None:
    left = ("\0", "\x1b", "__i18n__")  # refused, not kept by text fields, refused
    prompt = "".join(p for p in PAYLOADS if p.isascii() and not any(x in p for x in left))
    page = pilot.open(query="?prompt=" + quote(prompt))
    page.wait_for_selector(".sv-share-filled")
    assert page.input_value("#sv-prompt textarea") == prompt
    assert page.evaluate("() => window.hit") is None


def test_sharing_fits_a_phone_and_the_keyboard(pilot: Pilot) -> None:
    page = pilot.open(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    page.wait_for_selector(".sv-share-trace:enabled")
    pilot.show_all()  # while a run plays, a link is that of a step gone by
    page.locator(".sv-share-link").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".sv-share-address")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    for box in page.locator(".sv-share-row > :visible").all():
        place = box.bounding_box()
        assert place["height"] >= 38 and place["x"] + place["width"] <= 390
