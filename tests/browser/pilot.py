"""Drives one page: opens it, runs, stops, reads what is on screen."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tests.ui.fake_runs import FakeRuns

READY = "() => document.querySelector('.sv')?.svViewer"
STATE = "() => document.querySelector('.sv').dataset.state"
STATS = "() => document.querySelector('.sv').svViewer.feed.stats"
SETTLED = "(state) => document.querySelector('.sv').dataset.state === state"


class Pilot:
    """One browser context with one page.

    Args:
        browser: a Playwright browser.
        address: where the app is served.
        source: the invented runs behind it.
    """

    def __init__(self, browser: Any, address: str, source: FakeRuns) -> None:
        self.browser = browser
        self.address = address
        self.source = source
        self.errors: list[str] = []
        self.strangers: list[str] = []
        self.contexts: list[Any] = []
        self.page: Any = None

    def open(self, *, query: str = "", **options: Any) -> Any:
        """Open the page in a context of its own and wait until the viewer is there."""
        settings = {"viewport": {"width": 1280, "height": 800}, "accept_downloads": True} | options
        context = self.browser.new_context(**settings)
        self.contexts.append(context)
        context.route("**/*", self._guard)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(self.address + query)
        page.wait_for_function(READY, timeout=30_000)
        page.wait_for_selector("#sv-prompt textarea")
        self.page = self.page or page
        return page

    def _guard(self, route: Any) -> None:
        url = urlsplit(route.request.url)
        if url.hostname in ("127.0.0.1", "localhost", None) or url.scheme in ("data", "blob"):
            route.continue_()
            return
        self.strangers.append(route.request.url)
        route.abort()

    def close(self) -> None:
        """Close all contexts; fail on any error seen in them."""
        for context in self.contexts:
            context.close()
        assert self.errors == []
        assert self.strangers == []

    def run(self, page: Any = None, *, prompt: str | None = None, wait: bool = True) -> None:
        """Press Run; with ``wait``, until the run is done."""
        page = page or self.page
        if prompt is not None:
            page.fill("#sv-prompt textarea", prompt)
        before = page.evaluate("() => document.querySelector('.sv').svViewer.feed.run.id")
        page.click("#sv-run")
        if not wait:
            return
        page.wait_for_function(
            "(id) => document.querySelector('.sv').svViewer.feed.run.id !== id", arg=before
        )
        self.settle("done", page)
        page.wait_for_timeout(150)  # until Gradio knows as well, and Run answers again

    def length(self, tokens: int) -> None:
        """Set the number of new tokens."""
        field = self.page.locator("#sv-set-max_new_tokens input[type=number]")
        field.fill(str(tokens))
        field.press("Tab")

    def settle(self, state: str, page: Any = None) -> None:
        """Wait until the viewer says that it is done, cancelled, or the like."""
        (page or self.page).wait_for_function(SETTLED, arg=state, timeout=30_000)

    def state(self) -> str:
        """What the viewer says that it is."""
        return str(self.page.evaluate(STATE))

    def stats(self) -> dict[str, Any]:
        """What the viewer counted."""
        return dict(self.page.evaluate(STATS))

    def show_all(self, page: Any = None) -> None:
        """Stop the playing of a recorded run and show its end."""
        (page or self.page).evaluate(
            "() => { const v = document.querySelector('.sv').svViewer;"
            " v.player.hold(v.feed.run, 1e9); }"
        )

    def tab(self, name: str, page: Any = None) -> None:
        """Open a tab under the viewer, from the menu of those that do not fit if need be."""
        page = page or self.page
        shown = page.get_by_role("tab", name=name, exact=True)
        more = page.locator(".sv-tabs .overflow-menu > button").first
        # Gradio counts the tabs that fit after it has drawn them: wait for either.
        shown.filter(visible=True).or_(more.filter(visible=True)).first.wait_for()
        if shown.count() and shown.is_visible():
            shown.click()
            return
        more.click()
        page.locator(".sv-tabs .overflow-dropdown button", has_text=name).first.click()

    def texts(self, selector: str, page: Any = None) -> list[str]:
        """Texts of all visible elements that fit."""
        found = (page or self.page).locator(selector)
        return [text for text in found.all_inner_texts() if text]

    def copied(self, page: Any = None) -> str:
        """What a copy of the whole text of the first lane puts on the clipboard."""
        return str((page or self.page).evaluate(COPY))


COPY = """() => {
  const box = document.querySelector('.sv-text');
  const range = document.createRange();
  range.selectNodeContents(box);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  const data = new DataTransfer();
  const options = { clipboardData: data, bubbles: true, cancelable: true };
  const event = new ClipboardEvent('copy', options);
  box.dispatchEvent(event);
  selection.removeAllRanges();
  return data.getData('text/plain');
}"""
