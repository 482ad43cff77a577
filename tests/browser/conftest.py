"""One app with invented runs and one Chromium for all browser tests."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specviz.trace import Trace
from tests.browser.pilot import Pilot
from tests.ui.fake_race import RacingRuns
from tests.ui.fake_runs import WORDS, FakeRuns, request

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SAMPLED = Path(__file__).parents[2] / "assets" / "traces" / "04-sampled-story.json"
PLACES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of an invented run."""
    path = tmp_path_factory.mktemp("traces") / "story.json"
    events = FakeRuns(num_steps=24).stream(request(prompt="Once upon a time"))
    Trace.from_events(events).save(path)
    return path


@pytest.fixture(scope="session")
def source(recorded: Path) -> FakeRuns:
    """The invented runs that the app shows; a test may change their pace and texts."""
    return RacingRuns(traces=(recorded, SAMPLED))


@pytest.fixture(scope="session")
def address(source: FakeRuns) -> Iterator[str]:
    """The app, served on a free port of this machine."""
    from specviz.ui.build import launch

    app = launch(port=None, source=source, prevent_thread_lock=True, quiet=True)
    yield app.local_url
    app.close()
    gc.collect()  # what Gradio and its client leave open is told here, where it is no error


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium: the one of this machine, else the one of Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    found = next((path for name in PLACES if (path := shutil.which(name))), None)
    with playwright.sync_playwright() as player:
        try:
            opened = player.chromium.launch(executable_path=found, args=list(FLAGS))
        except playwright.Error as error:
            pytest.skip(f"Chromium is not installed: {error}")
        yield opened
        opened.close()


@pytest.fixture(autouse=True)
def _fresh_source(source: FakeRuns) -> None:
    source.rate, source.num_steps, source.texts = 60.0, 20, WORDS


@pytest.fixture
def pilot(browser: Any, address: str, source: FakeRuns) -> Iterator[Pilot]:
    """An open page; an error in it, or a request that leaves this machine, fails the test."""
    pilot = Pilot(browser, address, source)
    yield pilot
    pilot.close()
