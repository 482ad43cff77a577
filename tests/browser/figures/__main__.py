"""Measure the page and print one Markdown table: ``python -m tests.browser.figures``."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import Any

from playwright.sync_api import sync_playwright

from specviz.ui.build import launch
from tests.browser.conftest import FLAGS, PLACES
from tests.browser.figures.abreast import AbreastRuns
from tests.browser.figures.first_view import first_view
from tests.browser.figures.live import ROOT, live
from tests.browser.figures.streaming import scrubbing, streaming
from tests.browser.figures.table import Row, machine, markdown
from tests.browser.pilot import Pilot

LANES = (1, 2, 4)
STEPS = (400, 2000)


def main() -> None:
    """Measure what was asked for; with --live also with the embedded models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--live", action="store_true", help="only with the embedded models")
    options = parser.parse_args()
    with sync_playwright() as player:
        found = next((path for name in PLACES if (path := shutil.which(name))), None)
        browser = player.chromium.launch(executable_path=found, args=list(FLAGS))
        rows = machine(browser.version)
        rows += live(browser) if options.live else invented(browser)
        browser.close()
    print(markdown(rows))


def invented(browser: Any) -> list[Row]:
    """The figures that need no model, each on a page of its own."""
    traces = tuple(sorted((ROOT / "assets" / "traces").glob("*.json")))
    source = AbreastRuns(traces=traces)
    app = launch(port=None, source=source, prevent_thread_lock=True, quiet=True)
    try:
        rows = first_view(browser, app.local_url)
        for lanes in LANES:
            rows += told(streaming(Pilot(browser, app.local_url, source), lanes))
        for steps in STEPS:
            rows += told(scrubbing(Pilot(browser, app.local_url, source), steps))
    finally:
        app.close(verbose=False)
    return rows


def told(rows: list[Row]) -> list[Row]:
    """The rows, once they were told to somebody who waits."""
    print("\n".join(": ".join(row) for row in rows), file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    main()
