"""The exported page: self-contained, inert, under a strict policy, the same each time."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from specviz.events import Event
from specviz.export import export_html
from specviz.export.html import ASSETS, SCRIPTS, STYLES
from specviz.export.inert import inert_json
from specviz.export.words import OWN, VIEWER, texts
from specviz.metrics import summarise
from specviz.trace import Trace
from tests.export.evil import PAYLOADS, good, script_everywhere
from tests.export.pages import Page
from tests.trace.sample_runs import run, step
from tests.trace.strategies import few, runs

ROOT = ASSETS.parent
TRACES = sorted((ASSETS / "traces").glob("*.json"))
GOOD = Trace.from_document(good())


def test_needs_neither_torch_nor_gradio() -> None:
    code = (
        "import sys, specviz.export; from specviz.cli import parser; parser();"
        "print({'torch', 'gradio', 'plotly', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_a_page_holds_the_run_the_figures_and_the_trace(path: Path) -> None:
    trace = Trace.load(path)
    page = Page(export_html(trace))
    assert page.data("svx-trace") == trace.document
    (message,) = page.data("svx-run")
    kinds = [record[0] for record in message["ev"]]
    assert kinds[:2] == ["open", "start"] and kinds.count("step") == len(trace.steps)
    assert message["ev"][0][1]["kind"] == "recorded"
    sheet = page.data("svx-sheet")
    rows = {row[0]: row[1] for section in sheet["sections"] for row in section["rows"]}
    figures = summarise(trace.events(), trace.baseline)
    assert rows["svx_rate"] == figures["acceptance_rate"]
    assert rows["svx_speedup"] == figures["measured_speedup"]
    assert rows["svx_date"] == sheet["created"] == trace.document["created"]
    assert rows["svx_torch"] == trace.document["provenance"]["torch"]
    assert rows["svx_target_sha"] == trace.document["models"]["target"]["sha256"][:16]


def test_the_policy_allows_these_scripts_and_nothing_else() -> None:
    page = Page(export_html(GOOD))
    assert page.elements["script"] == 4 and page.elements["style"] == 1
    parts = dict(part.split(" ", 1) for part in page.policy.split("; "))
    assert parts["default-src"] == parts["base-uri"] == parts["form-action"] == "'none'"
    for kind, tag in (("script-src", "script"), ("style-src", "style")):
        digest = hashlib.sha256(page.content(tag).encode()).digest()
        assert parts[kind] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert set(parts) == {"default-src", "base-uri", "form-action", "script-src", "style-src"}
    typed = [value for tag, name, value in page.attributes if (tag, name) == ("script", "type")]
    assert typed == ["application/json"] * 3


def test_nothing_is_fetched_and_no_element_acts() -> None:
    page = Page(export_html(GOOD))
    names = {name for _, name, _ in page.attributes}
    assert not names & {"src", "href", "srcset", "action", "style", "poster", "data", "ping"}
    assert not [name for name in names if name.startswith("on")]
    style = page.content("style")
    assert "url(" not in style and "@import" not in style
    code = page.content("script").replace("http://www.w3.org/2000/svg", "")
    for word in ("http:", "https:", "fetch(", "XMLHttpRequest", "import(", "WebSocket", "eval("):
        assert word not in code


def test_the_same_trace_gives_the_same_page() -> None:
    assert export_html(GOOD) == export_html(Trace.from_document(good()))


def test_hostile_texts_change_no_element() -> None:
    plain = Page(export_html(GOOD))
    page = Page(export_html(Trace.from_document(script_everywhere())))
    assert page.elements == plain.elements and page.attributes == plain.attributes
    assert page.content("script") == plain.content("script")
    assert page.data("svx-trace") == script_everywhere()


@pytest.mark.parametrize("payload", PAYLOADS, ids=ascii)
def test_inert_json_is_ascii_without_markup_and_means_the_same(payload: str) -> None:
    text = inert_json({payload: [payload, None, 1.5]})
    assert text.isascii() and text.isprintable()
    assert not set("<>&") & set(text)
    assert json.loads(text) == {payload: [payload, None, 1.5]}
    with pytest.raises(ValueError):
        inert_json(float("nan"))


@given(runs())
@few(25)
def test_any_run_can_be_exported(events: list[Event]) -> None:
    trace = Trace.from_events(events)
    page = Page(export_html(trace))
    assert page.data("svx-trace") == trace.document
    assert page.elements["script"] == 4


def test_a_run_without_steps_or_drafts_has_no_bars() -> None:
    for events in (run([]), run([step(0, ""), step(1, "")])):
        sheet = Page(export_html(Trace.from_events(events))).data("svx-sheet")
        assert [section.get("bars", []) for section in sheet["sections"]] == [[]] * 8


def test_assets_can_stand_inside_their_elements() -> None:
    """No text of ours ends its own element or hides the next one."""
    for name in (*SCRIPTS, *STYLES, "specviz-standalone.js"):
        text = (ASSETS / name).read_text("utf-8").lower()
        for word in ("</script", "</style", "<!--", "<script"):
            assert word not in text, name


def used_words() -> set[str]:
    sources = [ASSETS / "specviz-standalone.js", *(ROOT / "specviz" / "export").glob("*.py")]
    return set(re.findall(r"svx_\w+", "\n".join(path.read_text("utf-8") for path in sources)))


def test_every_text_is_used_and_every_used_text_is_there() -> None:
    english = json.loads((OWN / "en.json").read_text("utf-8"))
    beginnings = {word for word in used_words() if word not in english}
    assert [word for word in beginnings if not any(k.startswith(word) for k in english)] == []
    unused = set(english) - used_words()
    made = ("svx_num_", "svx_end_", "svx_place_", "svx_kept_")
    named = {f"svx_{name}" for name in NAMED}
    assert [key for key in unused if not key.startswith(made) and key not in named] == []


NAMED = (
    "device", "dtype", "threads", "specviz", "python", "torch", "transformers",
    "draft_s", "verify_s", "other_s", "target", "draft", "target_sha", "draft_sha",
    "target_weights", "draft_weights", "peak_target_cache", "peak_draft_cache", "peak_logits",
    "peak_allocated",
)  # fmt: skip


@pytest.mark.parametrize("path", sorted(OWN.glob("*.json")), ids=lambda path: path.stem)
def test_languages_have_the_same_texts_and_places(path: Path) -> None:
    english = json.loads((OWN / "en.json").read_text("utf-8"))
    table: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert list(table) == list(english)
    for key, text in table.items():
        assert text.strip()
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", english[key]))


def test_the_page_speaks_the_viewers_languages() -> None:
    assert set(texts()) == {path.stem for path in VIEWER.glob("*.json")}
    assert set(texts()) <= {path.stem for path in OWN.glob("*.json")}
    assert "svx_results" in texts()["en"] and "sv_title" in texts()["en"]


def test_no_two_scripts_declare_the_same_name() -> None:
    """They share one scope, where the second function of a name silently replaces the first."""
    declared = re.compile(r"^(?:async )?(?:function|class|const|let) +(\w+)", re.MULTILINE)
    names = [
        name
        for script in ("specviz-standalone.js", *SCRIPTS)
        for name in declared.findall((ASSETS / script).read_text("utf-8"))
    ]
    assert [name for name in set(names) if names.count(name) > 1] == []
