"""The first view: seconds until a coloured token is painted, and bytes by kind."""

from __future__ import annotations

import gzip
import urllib.request
from collections import defaultdict
from typing import Any

from specviz.ui.head import head
from specviz.ui.theme import launch_options
from tests.browser.figures.table import Row, kilobytes, middle

REPEATS = 5
KINDS = ("the page itself", "Gradio", "fonts", "other files")
TOKEN = ".sv-text .sv-t"
PAINTED = f"""() => {{
  const watcher = new MutationObserver(() => {{
    if (!document.querySelector('{TOKEN}')) return;
    watcher.disconnect();
    requestAnimationFrame(() => {{
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {{ window.painted = performance.now(); }};
      channel.port2.postMessage(null);
    }});
  }});
  watcher.observe(document, {{ childList: true, subtree: true }});
}}"""


def first_view(browser: Any, address: str) -> list[Row]:
    """Seconds and bytes of a page that was never opened before."""
    seconds, loads = [], []
    for _ in range(REPEATS):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.add_init_script(f"({PAINTED})()")
        found = watch(context, page)
        page.goto(address)
        page.wait_for_function("() => window.painted", timeout=60_000)
        seconds.append(page.evaluate("() => window.painted") / 1000)
        page.wait_for_timeout(1500)  # what the page fetches once it is on screen
        loads.append(dict(found))
        context.close()
    longest = f"{middle(seconds):.2f} / {max(seconds):.2f} s"
    name = f"first view, first coloured token, median / longest of {REPEATS}"
    return [(name, longest), *weights(address, loads[-1])]


def watch(context: Any, page: Any) -> dict[str, float]:
    """Bytes on the wire by address, filled while the page loads."""
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    addresses: dict[str, str] = {}
    found: dict[str, float] = {}

    def asked(event: dict[str, Any]) -> None:
        if event["request"]["method"] == "GET" and event["request"]["url"].startswith("http"):
            addresses[event["requestId"]] = event["request"]["url"]

    def done(event: dict[str, Any]) -> None:
        if event["requestId"] in addresses:
            found[addresses[event["requestId"]]] = event["encodedDataLength"]

    session.on("Network.requestWillBeSent", asked)
    session.on("Network.loadingFinished", done)
    return found


def weights(address: str, found: dict[str, float]) -> list[Row]:
    """Bytes by kind: as they are, in gzip, and as they came over the wire."""
    raw: dict[str, int] = defaultdict(int)
    packed: dict[str, int] = defaultdict(int)
    for url in found:
        with urllib.request.urlopen(url, timeout=30) as answer:
            body = answer.read()
        raw[kind(url, address)] += len(body)
        packed[kind(url, address)] += len(gzip.compress(body))
    rows = [(f"first view, {name}", sizes(raw[name], packed[name])) for name in KINDS]
    ours = {"our script": head(), "our style": launch_options()["css"]}
    for name, text in ours.items():
        data = text.encode()
        rows.append((f"of the page itself, {name}", sizes(len(data), len(gzip.compress(data)))))
    total = sizes(sum(raw.values()), sum(packed.values()))
    wire = f"{total}, {kilobytes(sum(found.values()))} over the wire in {len(found)} requests"
    return [*rows, ("first view, all", wire)]


def kind(url: str, address: str) -> str:
    """Which part of the page an address belongs to."""
    path = url.removeprefix(address).partition("?")[0]
    if not path.strip("/"):
        return "the page itself"
    if path.endswith((".woff", ".woff2", ".ttf")):
        return "fonts"
    return "Gradio" if path.endswith((".js", ".css")) else "other files"


def sizes(raw: float, packed: float) -> str:
    """Both sizes."""
    return f"{kilobytes(raw)}, {kilobytes(packed)} in gzip"
