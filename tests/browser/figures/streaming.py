"""What streaming and scrubbing cost the page, with invented runs."""

from __future__ import annotations

import time
from typing import Any

from tests.browser.figures.table import Row, middle, part
from tests.browser.pilot import Pilot

RATE = 40.0  # steps per second and lane
WINDOW_S = 4.0
MOVES = 30
VIEWER = "document.querySelector('.sv').svViewer"
RESET = f"() => Object.assign({VIEWER}.feed.stats, {{ lags: [], messages: 0, frames: 0 }})"
STEPS = "(n) => document.querySelectorAll('.sv-text .sv-step').length >= n"
# From the key to the end of the frame that shows the move.
WATCH = """() => {
  window.moves = [];
  document.addEventListener('keydown', (event) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => window.moves.push(performance.now() - event.timeStamp);
    channel.port2.postMessage(null);
  }), true);
}"""
KEYS = ("Home", "PageUp", "ArrowRight", "End", "PageDown", "ArrowLeft")


def streaming(pilot: Pilot, lanes: int) -> list[Row]:
    """Share of the main thread, updates per second and lag while so many lanes stream."""
    pilot.source.rate, pilot.source.num_steps = RATE, 4000
    page = pilot.open()
    start(pilot, page, lanes)
    page.wait_for_function(STEPS, arg=int(2 * RATE * lanes), timeout=60_000)
    page.evaluate(RESET)
    wall = share(page, "timeTicks")
    stats = page.evaluate(f"() => {VIEWER}.feed.stats")
    cpu = share(page, "threadTicks")
    steps = page.locator(".sv-text .sv-step").count()
    page.context.close()
    name = f"{lanes} {'lane' if lanes == 1 else 'lanes'} at {RATE:.0f} steps/s"
    busy = f"{wall:.0%} of the time (its CPU time: {cpu:.0%}), after {steps} steps"
    lags = stats["lags"]
    late = f"{middle(lags):.0f} / {part(lags, 0.95):.0f} ms"
    return [
        (f"{name}: main thread busy", busy),
        (f"{name}: lag, median / p95", late),
        (f"{name}: updates per second", f"{stats['frames'] / WINDOW_S:.1f}"),
    ]


def start(pilot: Pilot, page: Any, lanes: int) -> None:
    """Start a run of one lane, or a race."""
    if lanes == 1:
        page.uncheck("#sv-beside input")
        page.click("#sv-run")
        return
    page.locator("#sv-mode label").nth(1).click()
    page.wait_for_selector("#sv-race-go")
    for place, key in enumerate(("speculative", "prompt_lookup", "early_exit")):
        page.locator(f"#sv-race-{key} input").set_checked(place < lanes - 1)
    page.wait_for_timeout(500)
    page.click("#sv-race-go")


def share(page: Any, clock: str) -> float:
    """Part of the time that the main thread works; ``threadTicks`` leaves out other programs."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": clock})
    before, begin = busy(session), time.perf_counter()
    time.sleep(WINDOW_S)
    worked, passed = busy(session) - before, time.perf_counter() - begin
    session.detach()
    return worked / passed


def busy(session: Any) -> float:
    """Seconds that the main thread has worked."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))


def scrubbing(pilot: Pilot, steps: int) -> list[Row]:
    """Time from a key on the scrubber to the end of the frame that shows it."""
    pilot.source.rate, pilot.source.num_steps = 0, steps
    page = pilot.open()
    page.click("#sv-run")
    page.wait_for_function(
        f"() => {VIEWER}.feed.run.kind === 'live' && {VIEWER}.feed.run.end === 'done'",
        timeout=120_000,
    )
    page.wait_for_timeout(1000)
    page.evaluate(WATCH)
    page.focus(".sv-range")
    for turn in range(MOVES):
        page.keyboard.press(KEYS[turn % len(KEYS)])
        page.wait_for_timeout(120)
    moves = page.evaluate("() => window.moves")
    page.context.close()
    name = f"scrubbing 2 lanes of {steps} steps, median / longest of {len(moves)} moves"
    return [(name, f"{middle(moves):.0f} / {max(moves):.0f} ms")]
