"""One recorded run as a page in one file: it opens from disk, needs no server and asks for nothing.

The page is the viewer's own scripts and style around the run's messages, under a content security
policy that allows exactly these scripts, by hash, and no request at all. The run travels as JSON
data; the scripts write text as text only. The same trace always gives the same page.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from string import Template

from specviz.export.inert import csp_hash, escaped, inert_json
from specviz.export.sheet import sheet_of
from specviz.export.words import texts
from specviz.trace import Trace
from specviz.ui import shelf
from specviz.ui.registry import Run
from specviz.ui.scripts import SCRIPTS

ASSETS = Path(__file__).parents[2] / "assets"
STYLES = ("specviz.css", "specviz-standalone.css")
UNBOUNDED = 2**40  # bytes of a message: the whole run in one, with all alternatives


def export_html(trace: Trace) -> str:
    """A self-contained page of a recorded run.

    Args:
        trace: the run; ``specviz.trace.check`` should have passed.

    Returns:
        HTML, to be written as UTF-8 with ``\\n`` line ends; it holds the trace itself, too.
    """
    style, script = _style(), _script()
    policy = (
        f"default-src 'none'; script-src {csp_hash(script)}; style-src {csp_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return Template(_asset("specviz-standalone.html")).substitute(
        policy=policy,
        style=style,
        script=script,
        run=_messages(trace),
        sheet=inert_json(sheet_of(trace)),
        trace=escaped(trace.dumps()).strip(),
    )


def _messages(trace: Trace) -> str:
    """The messages that the page's viewer would get, as a JSON list."""
    run = Run(owner="", id="export", kind="recorded")
    run.traces[0] = trace
    messages = shelf.messages(run, max_bytes=UNBOUNDED)
    return inert_json([json.loads(text) for text in messages])


@cache
def _style() -> str:
    return "\n" + "".join(map(_asset, STYLES))


@cache
def _script() -> str:
    """All code of the page; the host's part comes first, since the viewer looks for it."""
    bodies = "\n".join(map(_asset, ("specviz-standalone.js", *SCRIPTS)))
    return f"\n'use strict';\nconst SV_TEXTS = {inert_json(texts())};\n{bodies}"


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
