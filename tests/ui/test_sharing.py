"""Links of the page: what is on screen comes back, and what cannot be followed changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from specviz.errors import SpecvizError
from specviz.trace import Trace
from specviz.ui import sharing, shelf, worker
from specviz.ui.handlers import Page
from specviz.ui.registry import Registry, Run
from tests.export.evil import PAYLOADS
from tests.ui.fake_runs import FakeRuns, request

LIMITS = {"max_new_tokens": (1, 1024), "gamma": (1, 16), "temperature": (0, 2), "seed": (0, 2**63)}
LIMITS |= {"exit_layer": (0, 63), "ensemble_weight": (0.05, 0.95)}


def run_of(**options: Any) -> Run:
    """A finished live run."""
    run = Registry().add(Run("me"))
    worker.start(run, FakeRuns(num_steps=5), [request(**options)])
    assert run.done.wait(10)
    return run


def opened(query: str) -> sharing.Filled:
    """What a link puts into the form."""
    link = sharing.read(iter(parse_qsl(query)))
    return sharing.fill(link["settings"], FakeRuns(), LIMITS)


def test_a_live_run_comes_back_as_prompt_method_and_settings() -> None:
    run = run_of(prompt="A fox & <b>", gamma=3, max_new_tokens=9, stop=("one", "two"), seed=7)
    filled = opened(sharing.query_of(run, 0, 4))
    assert filled.offer.method is not None
    assert filled.offer.method.key == "speculative"
    shown = {name: filled.values[name] for name in ("prompt", "gamma", "max_new_tokens", "seed")}
    assert shown == {"prompt": "A fox & <b>", "gamma": 3, "max_new_tokens": 9, "seed": 7}
    assert filled.values["stop"] == "one\ntwo"
    assert filled.values["temperature"] == 0  # a default, so the link leaves it out


def test_what_a_link_leaves_out_has_its_default_not_what_the_page_begins_with() -> None:
    assert opened("prompt=Hi").values["max_new_tokens"] == 64
    assert opened("prompt=Hi").values["exit_layer"] == 0  # the method decides
    assert "draft" not in opened("method=plain&draft=nobody").values


def test_a_recorded_run_comes_back_at_its_step_and_an_uploaded_one_as_its_settings() -> None:
    trace = Trace.from_events(
        FakeRuns(num_steps=5).stream(request(prompt="Hello", max_new_tokens=64))
    )
    recorded = shelf.shelve(Registry(), trace, owner="me", name="1-story")
    assert sharing.query_of(recorded, 0, 3) == "run=1-story&step=3"
    loaded = shelf.shelve(Registry(), trace, owner="me", kind="loaded", name="1-story")
    query = sharing.query_of(loaded, 0, 3)
    assert "run=" not in query and opened(query).values["prompt"] == "Hello"
    (message,) = shelf.messages(recorded, step=3, max_bytes=10**9)
    assert json.loads(message)["ev"][0][1]["at"] == 3


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("gamma=40", "gamma must be a whole number from 1 to 16, got 40"),
        ("temperature=3", "temperature must be from 0 to 2 on this page, got 3"),
        ("seed=9007199254740993", "seed must be from 0 to 9007199254740991 on this page"),
        ("max_new_tokens=4000", "max_new_tokens must be from 1 to 1024"),
        ("method=early_exit&exit_layer=12", "exit_layer must be from 0 to 11"),
        ("method=magic", "there is no method 'magic'; the methods are plain, speculative"),
        ("target=someone/else", "the target 'someone/else' is not in the menu"),
        ("method=speculative&draft=evil/model", "the draft model 'evil/model' is not in the menu"),
        ("target=other&method=speculative", "cannot run on 'other' here: no draft model fits"),
        ("method=ensemble&drafter=prompt_lookup", "cannot draft for 'ensemble'"),
        ("method=speculative&drafter=early_exit", "cannot draft for 'speculative'"),
        ("no_repeat_ngram_size=3", "no_repeat_ngram_size has no control on the page"),
        ("stop=a%0Ab", "several lines"),
        ("target=/etc/passwd", "target must be made of letters"),
    ],
)
def test_what_the_page_cannot_show_is_refused_in_a_sentence(query: str, sentence: str) -> None:
    with pytest.raises(SpecvizError, match=sentence.replace("?", ".")):
        opened(query)


def follow(name: str, text: str) -> None:
    """Do what a link with one name says, as far as it can be done without a page."""
    link = sharing.read(iter([(name, text)]))
    if link["run"]:
        sharing.recorded_path(FakeRuns(), link["run"])
    else:
        sharing.fill(link["settings"], FakeRuns(), LIMITS)


@pytest.mark.parametrize("payload", PAYLOADS, ids=ascii)
def test_payloads_are_plain_prompts_or_refused(payload: str) -> None:
    """As a prompt any text is only text; as anything else it is refused, in printable words."""
    for name in ("method", "target", "draft", "drafter", "gamma", "run", "step", "seed"):
        with pytest.raises(SpecvizError) as refused:
            follow(name, payload)
        assert str(refused.value).isprintable() and len(str(refused.value)) < 300
    hidden = (
        "\0" in payload
        or "__i18n__{" in payload
        or any("\ud800" <= char <= "\udfff" for char in payload)
    )
    if not hidden:
        link = sharing.read(iter([("prompt", payload)]))
        assert sharing.fill(link["settings"], FakeRuns(), LIMITS).values["prompt"] == payload


def test_the_page_answers_with_files_and_a_link_or_the_reason_why_not() -> None:
    page = Page(FakeRuns(), Registry())
    run = page.registry.add(run_of(prompt="x" * 3000))
    assert (page.document([run.id, 0]) or "").startswith("<!doctype html>")
    assert json.loads(page.timeline([run.id, 0]) or "")["traceEvents"]
    refused = json.loads(page.link([run.id, 0, 2]) or "")["refused"]
    assert refused.startswith("prompt must have at most 2000 characters in a link, got 3000")
    for nonsense in (None, [], [run.id], [run.id, 9], ["x", 0, 0], [run.id, 0, -1], [{}, 0, 0]):
        assert page.document(nonsense) is None or nonsense[:2] == [run.id, 0]
    assert page.link([run.id, 0]) is None
    shelved = shelf.shelve(page.registry, shelf.trace_of(run, 0), owner="me", name="1-story")
    assert json.loads(page.link([shelved.id, 0, 2]) or "") == {"query": "run=1-story&step=2"}
    assert "refused" in json.loads(page.link([shelved.id, 0, -1]) or "")


def test_totals_of_the_recorded_plain_run_are_those_of_the_trace() -> None:
    folder = Path(__file__).parents[2] / "assets" / "traces"
    trace = Trace.load(folder / "01-speculative-story.json")
    run = shelf.shelve(Registry(), trace, owner="", name="01-speculative-story")
    records = json.loads(shelf.messages(run, max_bytes=10**9)[0])["ev"]
    (compare,) = (record[2] for record in records if record[0] == "compare")
    beside = trace.document["baseline"]
    tokens = len(beside["ids"])
    assert compare["plain"]["tokens"] == tokens
    assert compare["plain"]["decode_ms"] == pytest.approx(1e3 * beside["decode_s"], rel=1e-5)
    assert compare["plain"]["speed"] == pytest.approx(tokens / beside["decode_s"], rel=1e-5)
