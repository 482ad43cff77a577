"""Models are loaded once, in the background, when the first page is open."""

from __future__ import annotations

import threading

from specviz.ui.handlers import Page
from specviz.ui.registry import Registry
from tests.ui.fake_runs import FakeRuns


def test_only_the_first_visitor_starts_the_loading():
    source = FakeRuns()
    page = Page(source, Registry())
    for _ in range(3):
        page.warm_up()
    for thread in threading.enumerate():
        if thread.name == "warm-up":
            thread.join(2)
    assert source.num_warm_ups == 1
