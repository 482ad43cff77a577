"""axe-core in a page: what it finds that is serious or critical, less what only Gradio can mend."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

GRAVE = ("serious", "critical")
PLACE = "SPECVIZ_AXE"  # path of axe.min.js, from the npm package axe-core (MPL-2.0), not ours
RUN = """async () => {
  const found = await axe.run(document, { resultTypes: ['violations'] });
  return found.violations.flatMap(({ id, impact, nodes }) => nodes.map((node) =>
    ({ id, impact, target: node.target.flat().join(' '), html: node.html.slice(0, 200),
       why: node.any.concat(node.all, node.none).map((check) => check.message).join('; ') })));
}"""
# Rule -> parts of the page where Gradio's own markup breaks it, with the reason it stays.
GRADIOS: dict[str, tuple[tuple[str, str], ...]] = {
    "aria-prohibited-attr": (
        (".sv-plot-box > .empty", "gr.Plot without a figure names a plain div; gone with a figure"),
    ),
}


def axe_source() -> str:
    """The script; its test is skipped without it, but not in continuous integration."""
    path = os.environ.get(PLACE, "")
    if not path:
        reason = f"{PLACE} names no axe.min.js (.ci/run fetches it with npm)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return Path(path).read_text("utf-8")


def grave(page: Any, source: str) -> Iterator[dict[str, str]]:
    """Serious and critical findings that are not Gradio's."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(source)
    for finding in page.evaluate(RUN):
        if finding["impact"] in GRAVE and not gradios(page, finding):
            yield finding


def gradios(page: Any, finding: dict[str, str]) -> bool:
    """Whether a finding lies in a part whose markup is Gradio's own."""
    parts = [selector for selector, _ in GRADIOS.get(finding["id"], ())]
    matches = "([target, part]) => document.querySelector(target)?.matches(part) || false"
    return any(page.evaluate(matches, [finding["target"], part]) for part in parts)
