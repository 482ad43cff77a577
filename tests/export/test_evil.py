"""Traces made to do harm: refused with one sentence, or inert in ``replay`` and in both exports."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from specviz.cli import main
from specviz.errors import TraceError
from specviz.export import export_html, export_timeline
from specviz.trace import Trace, check
from tests.export.evil import PAYLOADS, extremes, good, script_everywhere, texts, wrong_types
from tests.export.pages import Page
from tests.trace.strategies import is_inert

Capture = pytest.CaptureFixture[str]
PLAIN = Page(export_html(Trace.from_document(good())))


def save(folder: Path, content: str | bytes | dict[str, Any]) -> Path:
    path = folder / "evil.json"
    text = json.dumps(content) if isinstance(content, dict) else content
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def commands(path: Path) -> list[list[str]]:
    page, line = path.with_suffix(".html"), path.with_suffix(".events")
    return [
        ["replay", str(path)],
        ["replay", str(path), "--step", "0"],
        ["export", str(path), "--html", str(page), "--timeline", str(line)],
    ]


@pytest.mark.parametrize(("name", "content"), list(texts()), ids=[name for name, _ in texts()])
def test_files_that_are_no_traces_are_refused(
    name: str, content: str | bytes, tmp_path: Path, capsys: Capture
) -> None:
    path = save(tmp_path, content)
    for command in commands(path):
        assert main(command) == 2, name
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("specviz: ") and err.count("\n") == 1
        assert err.strip().isprintable() and len(err) < 300
    assert [p.name for p in tmp_path.iterdir()] == ["evil.json"], "nothing is written"


SOUND: dict[str, Callable[[], dict[str, Any]]] = {"good": good, "extremes": extremes}
SOUND |= {f"script {n}": partial(script_everywhere, n) for n in range(len(PAYLOADS))}


@pytest.mark.parametrize("name", SOUND)
def test_sound_traces_are_inert(name: str, tmp_path: Path, capsys: Capture) -> None:
    path = save(tmp_path, SOUND[name]())
    for command in commands(path):
        assert main(command) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert all(is_inert(line) for line in out.split("\n")), ascii(out)
    page = Page(path.with_suffix(".html").read_text("utf-8"))
    assert page.elements == PLAIN.elements and page.attributes == PLAIN.attributes
    assert page.content("script") == PLAIN.content("script")
    json.loads(path.with_suffix(".events").read_text("ascii"))


def test_every_payload_is_in_the_corpus() -> None:
    text = json.dumps(script_everywhere())
    assert all(json.dumps(payload)[1:-1] in text for payload in PAYLOADS)


def test_wrong_kinds_of_values_are_refused_or_harmless() -> None:
    """A thousand documents, each with another kind of value in one place."""
    refused = exported = 0
    unfit: list[str] = []  # sentences that are no sentences
    for document in wrong_types():
        try:
            trace = Trace.from_document(document)
            check(trace)
        except TraceError as error:
            refused += 1
            unfit += [] if str(error).isprintable() and len(str(error)) < 400 else [ascii(error)]
            continue
        exported += 1
        page = Page(export_html(trace))
        assert page.elements == PLAIN.elements and page.attributes == PLAIN.attributes
        assert page.data("svx-trace") == document
        json.loads(export_timeline(trace))
    assert refused > 800 and exported > 50 and unfit == []


def test_a_long_run_is_exported_whole() -> None:
    """Two thousand steps: nothing is quadratic, nothing is left out."""
    document = good()
    step = json.dumps(document["steps"][1])
    document["steps"] = [{**json.loads(step), "index": index} for index in range(2000)]
    ids = [10, 21] * 2000
    document["output"] |= {"ids": ids, "text": "ae" * 2000, "finish_reason": "length"}
    document["timing"]["decode_s"] = 0.035 * 2000
    document["metrics"], document["baseline"] = {}, None
    trace = Trace.from_document(document)
    check(trace)
    (message,) = Page(export_html(trace)).data("svx-run")
    assert len(message["ev"]) == 2003
    assert len(json.loads(export_timeline(trace))["traceEvents"]) > 8000
