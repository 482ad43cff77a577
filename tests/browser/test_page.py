"""The page in a browser: first paint, runs, Stop, refusals, sessions, traces."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from specviz.trace import Trace, check
from tests.browser.pilot import Pilot
from tests.ui.fake_runs import FakeRuns, request

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


def expected_text(source: FakeRuns, method: str, prompt: str) -> str:
    """The text of an invented run of 128 new tokens or less."""
    calm = FakeRuns(num_steps=source.num_steps, texts=source.texts)
    events = list(calm.stream(request(method, prompt, max_new_tokens=128)))
    return str(events[-1].text)


def threads_end() -> bool:
    """Whether all threads of runs end within three seconds."""
    until = time.monotonic() + 3
    while any(t.name.startswith("specviz-") for t in threading.enumerate()):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def test_first_paint_is_a_recorded_run_that_plays(pilot: Pilot, source: FakeRuns) -> None:
    before = source.forwards
    begin = time.monotonic()
    page = pilot.open()
    page.wait_for_selector(".sv-text .sv-accepted", timeout=10_000)
    assert time.monotonic() - begin < 10
    assert "recorded on" in page.locator(".sv-badge").first.inner_text()
    assert page.locator(".sv-card .sv-from").first.inner_text().startswith("recorded on")
    first = page.locator(".sv-place").inner_text()
    page.wait_for_function(
        "(text) => document.querySelector('.sv-place').textContent !== text", arg=first
    )
    assert source.forwards == before


def test_a_run_streams_and_ends_with_the_right_text(pilot: Pilot, source: FakeRuns) -> None:
    page = pilot.open()
    pilot.run(prompt="Tell me more")
    assert page.locator(".sv-lane").count() == 2
    assert pilot.copied() == "Tell me more" + expected_text(source, "speculative", "Tell me more")
    assert pilot.texts(".sv-lane h3") == ["Speculative decoding", "Plain decoding"]
    assert page.locator(".sv-badge").first.inner_text() == "measured here"
    assert "first difference" in page.locator(".sv-card-gain .sv-note").inner_text()
    page.wait_for_function("() => document.querySelector('#sv-status textarea').value === 'Done'")


def test_figures_on_screen_are_those_of_the_metrics(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Figures please")
    with page.expect_download() as download:
        page.click(".sv-share-trace")
    trace = Trace.load(download.value.path())
    check(trace)
    metrics = trace.metrics
    shown = page.locator(".sv-card-rate .sv-value").inner_text()
    assert shown == f"{100 * metrics['acceptance_rate']:.1f}%"
    shown = page.locator(".sv-card-tau .sv-value").inner_text()
    assert shown == f"{metrics['block_efficiency']:.2f}"
    note = page.locator(".sv-card-tau .sv-note").inner_text()
    assert note == f"{metrics['num_tokens']} tokens in {metrics['num_steps']} steps"
    shown = page.locator(".sv-card-gain .sv-value").inner_text()
    assert shown == f"{metrics['measured_speedup']:.2f}×"


def test_messages_are_few_small_and_complete(pilot: Pilot, source: FakeRuns) -> None:
    """How late they are is measured by ``tests.browser.figures``: it depends on the machine."""
    source.rate, source.num_steps = 40.0, 80
    page = pilot.open()
    pilot.show_all()
    page.uncheck("#sv-beside input")
    pilot.length(1000)
    before = pilot.stats()
    pilot.run(prompt="Once upon a time there were many words")
    stats = pilot.stats()
    seconds = page.locator(".sv-text .sv-step").count() / source.rate
    assert seconds == 2
    assert 2 < stats["messages"] - before["messages"] <= 20 * seconds
    assert stats["frames"] - before["frames"] <= stats["messages"] - before["messages"] + 5
    assert stats["gaps"] == 0
    assert stats["biggest"] < 70_000


def test_stop_ends_the_run_and_the_page_stays_usable(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 20.0, 2000
    page = pilot.open()
    pilot.length(1000)
    pilot.run(prompt="Never ending", wait=False)
    pilot.settle("running")
    page.wait_for_function("() => document.querySelectorAll('.sv-text .sv-step').length > 3")
    late = source.late
    page.click("#sv-stop")
    pilot.settle("cancelled")
    assert source.late <= late + 1
    steps = page.locator(".sv-text .sv-step").count()
    assert steps > 3  # what was decoded stays
    source.num_steps = 5
    pilot.run(prompt="Once more")
    assert pilot.copied().startswith("Once more")


def test_run_and_stop_again_and_again(pilot: Pilot, source: FakeRuns) -> None:
    """U40: every Stop is told, and Run works afterwards."""
    source.rate, source.num_steps = 30.0, 2000
    page = pilot.open()
    pilot.length(1000)
    pilot.show_all()
    for turn in range(6):
        pilot.run(prompt=f"Turn {turn}", wait=False)
        page.wait_for_function(
            "(text) => document.querySelector('.sv-prompt')?.textContent === text"
            " && document.querySelectorAll('.sv-text .sv-step').length > 2",
            arg=f"Turn {turn}",
        )
        page.click("#sv-stop")
        pilot.settle("cancelled")
        page.wait_for_function(
            "() => document.querySelector('#sv-status textarea').value === 'Stopped'"
        )
        page.wait_for_timeout(300)
    assert threads_end()


def test_closing_the_tab_ends_its_run(pilot: Pilot, source: FakeRuns) -> None:
    """U39: no forward pass for a page that is gone."""
    source.rate, source.num_steps = 20.0, 2000
    page = pilot.open()
    pilot.length(1000)
    pilot.run(prompt="Never ending", wait=False)
    pilot.settle("running")
    closed = source.closed
    page.close()
    until = time.monotonic() + 3
    while source.closed == closed and time.monotonic() < until:
        time.sleep(0.02)
    assert source.closed == closed + 1
    assert threads_end()


def test_a_run_that_waits_in_the_queue_can_be_stopped(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 20.0, 60
    one, two = pilot.open(), pilot.open()
    pilot.run(one, prompt="First", wait=False)
    one.wait_for_function("() => document.querySelector('.sv').dataset.state === 'running'")
    pilot.run(two, prompt="Second", wait=False)
    two.wait_for_timeout(300)
    two.click("#sv-stop")
    two.wait_for_function("() => document.querySelector('#sv-status textarea').value === 'Stopped'")
    pilot.settle("done", one)
    forwards = source.forwards
    two.wait_for_timeout(500)
    assert source.forwards == forwards
    source.rate = 0
    pilot.run(two, prompt="Third")
    assert pilot.copied(two).startswith("Third")


def test_a_refusal_is_a_sentence_and_changes_nothing_else(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="Fine")
    kept = pilot.copied()
    pilot.run(prompt="   ", wait=False)
    page.wait_for_selector(".sv-alert:visible")
    assert page.locator(".sv-alert").inner_text() == "The prompt is empty; type some text"
    assert pilot.copied() == kept
    pilot.run(prompt="Fine again")
    assert not page.locator(".sv-alert").is_visible()


def test_a_fault_of_ours_shows_no_exception_text(pilot: Pilot) -> None:
    page = pilot.open()
    pilot.run(prompt="crash", wait=False)
    page.wait_for_selector(".sv-alert:visible")
    text = page.locator("body").inner_text()
    assert "our side" in page.locator(".sv-alert").inner_text()
    assert "secret path" not in text
    pilot.run(prompt="Works again")


def test_two_tabs_keep_apart_and_the_second_one_waits(pilot: Pilot, source: FakeRuns) -> None:
    source.rate, source.num_steps = 20.0, 30
    one, two = pilot.open(), pilot.open()
    pilot.run(one, prompt="Red apple", wait=False)
    one.wait_for_function("() => document.querySelector('.sv').dataset.state === 'running'")
    pilot.run(two, prompt="Blue sky", wait=False)
    two.wait_for_selector("#sv-status .progress-text, #sv-status .meta-text", timeout=5000)
    two.get_by_role("tab", name="Traces").click()  # light events answer while it waits
    two.wait_for_selector("#sv-open:visible", timeout=1000)
    pilot.settle("done", one)
    two.wait_for_function(
        "() => document.querySelector('.sv').svViewer.feed.run.kind === 'live'", timeout=20_000
    )
    pilot.settle("done", two)
    assert pilot.copied(one).startswith("Red apple")
    assert pilot.copied(two).startswith("Blue sky")
    three = pilot.open()
    assert "recorded on" in three.locator(".sv-badge").first.inner_text()


def test_missed_messages_are_fetched(pilot: Pilot, source: FakeRuns) -> None:
    page = pilot.open()
    page.evaluate("""() => {
      const feed = document.querySelector('.sv').svViewer.feed;
      const receive = feed.receive.bind(feed);
      let n = 0;
      feed.receive = (text) => { n += 1; if (n !== 2 && n !== 3) receive(text); };
    }""")
    source.rate, source.num_steps = 30.0, 30
    pilot.run(prompt="With gaps")
    page.wait_for_function("() => document.querySelector('.sv').svViewer.feed.stats.gaps >= 1")
    assert pilot.copied() == "With gaps" + expected_text(source, "speculative", "With gaps")


def test_settings_follow_the_method(pilot: Pilot) -> None:
    page = pilot.open()
    page.wait_for_selector("#sv-set-gamma:visible")
    assert not page.locator("#sv-set-ngram").is_visible()
    page.get_by_text("Prompt lookup", exact=True).click()
    page.wait_for_selector("#sv-set-ngram:visible")
    assert not page.locator("#sv-draft").is_visible()
    assert "exit layer" in page.locator(".sv-hidden-why").first.inner_text()
    page.get_by_text("Plain decoding", exact=True).click()
    page.wait_for_selector("#sv-set-gamma", state="hidden")


def test_a_trace_can_be_saved_and_opened_again(pilot: Pilot, tmp_path: Path) -> None:
    page = pilot.open()
    pilot.run(prompt="Keep this")
    with page.expect_download() as download:
        page.click(".sv-share-trace")
    path = tmp_path / "kept.json"
    download.value.save_as(path)
    kept = pilot.copied()
    pilot.run(prompt="Something else")
    page.get_by_role("tab", name="Traces").click()
    page.set_input_files(".sv-traces input[type=file]", str(path))
    page.wait_for_function(
        "() => document.querySelector('.sv').svViewer.feed.run.kind === 'loaded'"
    )
    pilot.show_all()
    assert pilot.copied() == kept


@pytest.mark.parametrize("fault", ["json", "newer", "ids"])
def test_a_broken_trace_is_refused_with_a_sentence(
    pilot: Pilot, recorded: Path, tmp_path: Path, fault: str
) -> None:
    document = json.loads(recorded.read_text("utf-8"))
    if fault == "newer":
        document["version"] = 99
    if fault == "ids":
        document["output"]["ids"] = document["output"]["ids"][1:]
    text = "{ not json" if fault == "json" else json.dumps(document)
    path = tmp_path / f"{fault}.json"
    path.write_text(text, "utf-8")
    page = pilot.open()
    page.get_by_role("tab", name="Traces").click()
    page.set_input_files(".sv-traces input[type=file]", str(path))
    page.wait_for_selector(".sv-alert:visible")
    sentence = page.locator(".sv-alert").inner_text()
    assert len(sentence) > 20
    assert "Traceback" not in sentence
    assert str(tmp_path) not in sentence
    page.wait_for_function(
        "() => { const box = document.querySelector('.sv-alert').getBoundingClientRect();"
        " return box.top >= 0 && box.bottom <= innerHeight; }"
    )


def test_figures_fill_their_boxes(pilot: Pilot) -> None:
    """U44: plots opened after the run are as wide as their container."""
    page = pilot.open()
    pilot.run(prompt="Draw me")
    page.get_by_role("tab", name="Figures").click()
    page.wait_for_selector("#sv-fig-time .main-svg", timeout=20_000)
    page.wait_for_timeout(500)
    for name in ("acceptance", "time", "histogram", "tokens"):
        widths = page.evaluate(
            "(id) => { const box = document.querySelector(id);"
            " const plot = box.querySelector('.main-svg').getBoundingClientRect().width;"
            " const style = getComputedStyle(box);"
            " return [plot, box.clientWidth - parseFloat(style.paddingLeft)"
            " - parseFloat(style.paddingRight)]; }",
            f"#sv-fig-{name}",
        )
        assert abs(widths[0] - widths[1]) <= 6, (name, widths)


def test_models_load_once_whoever_comes(pilot: Pilot, source: FakeRuns) -> None:
    """The app loads them when it starts to serve, not a visitor."""
    for _ in range(2):
        pilot.open()
    assert source.num_warm_ups == 1
