"""The page with the embedded models: from the start of the app to Stop, twenty times."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser.figures.streaming import RESET, VIEWER
from tests.browser.figures.table import Row, middle, part

ROOT = Path(__file__).parents[3]
TOKENS = 300
STOPS = 20
STORY = "Write a story about a brave fox named Lila. Then write another one about a bear."
NEW_RUN = f"(id) => {VIEWER}.feed.run.id !== id"
FIRST_STEP = f"(id) => {VIEWER}.feed.run.id !== id && {VIEWER}.feed.stats.lags.length > 0"
ENDED = "() => ['done', 'cancelled'].includes(document.querySelector('.sv').dataset.state)"


def live(browser: Any) -> list[Row]:
    """Start the app as a user does and measure with its own models."""
    with served() as (process, address, begin):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        rows = start_up(page, address, begin)
        length(page, TOKENS)
        page.uncheck("#sv-beside input")
        page.locator("#sv-method label").first.click()
        page.wait_for_timeout(1000)
        rows += long_run(page)
        length(page, 1000)
        rows += stopping(page, process.pid)
        context.close()
    return rows


@contextmanager
def served() -> Iterator[tuple[subprocess.Popen[bytes], str, float]]:
    """The app on a free port, its address, and when it was started."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    begin = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env={**os.environ, "GRADIO_SERVER_PORT": str(port)},
        stdout=subprocess.DEVNULL,
    )
    try:
        yield process, f"http://127.0.0.1:{port}/", begin
    finally:
        process.terminate()
        process.wait(timeout=30)


def start_up(page: Any, address: str, begin: float) -> list[Row]:
    """Seconds from the start of the app to its answer, to a recorded run, to a live step."""
    passed = []
    while not passed:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            passed.append(time.monotonic() - begin)
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    page.goto(address)
    page.wait_for_selector(".sv-text .sv-accepted", timeout=60_000)
    passed.append(time.monotonic() - begin)
    page.wait_for_selector("#sv-prompt textarea")
    run(page, None, FIRST_STEP)
    passed.append(time.monotonic() - begin)
    settle(page)
    names = ("its answer", "the recorded run on screen", "the first live step")
    return [
        (f"app: from start to {name}", f"{s:.1f} s") for name, s in zip(names, passed, strict=True)
    ]


def long_run(page: Any) -> list[Row]:
    """Updates per second and lag of plain decoding, the best of three runs."""
    found = []
    for _ in range(3):
        page.evaluate(RESET)
        run(page, "Emma was", NEW_RUN)
        settle(page)
        stats, end = page.evaluate(
            f"() => [{VIEWER}.feed.stats, {VIEWER}.feed.run.lanes[0].finish]"
        )
        rate = stats["frames"] / (end["decode_ms"] / 1000)
        found.append((part(stats["lags"], 0.95), middle(stats["lags"]), rate, end["tokens"]))
    p95, p50, rate, tokens = min(found)
    name = f"live plain run of {tokens} tokens, best of {len(found)}"
    late = f"{p50:.0f} / {p95:.0f} ms"
    return [(f"{name}: updates per second", f"{rate:.1f}"), (f"{name}: lag, median / p95", late)]


def stopping(page: Any, pid: int) -> list[Row]:
    """Run and Stop in turns: seconds, and what stays behind."""
    seconds, before = [], None
    for _ in range(STOPS + 1):
        run(page, STORY, NEW_RUN)
        page.wait_for_timeout(300)
        begin = time.monotonic()
        page.click("#sv-stop")
        page.wait_for_function(ENDED, timeout=30_000)
        seconds.append(time.monotonic() - begin)
        page.wait_for_timeout(500)
        before = before or resources(pid)
    page.wait_for_timeout(3000)
    name = f"{STOPS} times run and Stop"
    times = f"{middle(seconds[1:]):.2f} / {max(seconds[1:]):.2f} s"
    return [
        (f"{name}: until stopped, median / longest", times),
        (f"{name}: threads and memory before → after", f"{before} → {resources(pid)}"),
    ]


def run(page: Any, prompt: str | None, until: str) -> None:
    """Press Run and wait."""
    if prompt is not None:
        page.fill("#sv-prompt textarea", prompt)
    before = page.evaluate(f"() => {VIEWER}.feed.run.id")
    page.click("#sv-run")
    page.wait_for_function(until, arg=before, timeout=120_000)


def settle(page: Any) -> None:
    """Wait until the run is over and Run answers again."""
    page.wait_for_function(ENDED, timeout=120_000)
    page.wait_for_timeout(500)


def length(page: Any, tokens: int) -> None:
    """Set the number of new tokens."""
    field = page.locator("#sv-set-max_new_tokens input[type=number]")
    field.fill(str(tokens))
    field.press("Tab")


def resources(pid: int) -> str:
    """Threads and resident memory of a process, where the system tells."""
    status = Path(f"/proc/{pid}/status")
    if not status.is_file():
        return "unknown"
    lines = dict(line.split(":", 1) for line in status.read_text("utf-8").splitlines())
    megabytes = int(lines["VmRSS"].split()[0]) // 1024
    return f"{lines['Threads'].strip()} threads, {megabytes} MiB"
