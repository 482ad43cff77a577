"""The time line: valid trace events, exact touching slices, counters, readable hostile texts."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from specviz.events import Event, Memory
from specviz.export import export_timeline
from specviz.export.html import ASSETS
from specviz.trace import Trace
from tests.export.evil import good, script_everywhere
from tests.trace.sample_runs import run, sized
from tests.trace.strategies import few, is_inert, runs

TRACES = sorted((ASSETS / "traces").glob("*.json"))


def events_of(trace: Trace) -> list[dict[str, Any]]:
    text = export_timeline(trace)
    assert text.isascii() and text.endswith("\n") and not set("<>&") & set(text)
    found: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    return found


def on(events: list[dict[str, Any]], track: str) -> list[dict[str, Any]]:
    """The slices of a track, by its name."""
    names = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
    return [e for e in events if e["ph"] == "X" and e["tid"] == names[track]]


def test_by_hand() -> None:
    """Prompt 100 ms; steps of 10 + 20 + 5 ms; 2 of 3, then 1 of 1 judged and kept."""
    memory = Memory(1000, 200, 30, 9000)
    steps = [sized(0, 3, 2, num_draft_forwards=3, memory=memory), sized(1, 1, 1)]
    events = events_of(Trace.from_events(run(steps)))
    assert [(e["name"], e["ts"], e["dur"]) for e in on(events, "steps")] == [
        ("prompt", 0, 100_000), ("step 1", 100_000, 35_000), ("step 2", 135_000, 35_000),
    ]  # fmt: skip
    assert [(e["ts"], e["dur"]) for e in on(events, "draft")] == [
        (100_000, 10_000), (135_000, 10_000),
    ]  # fmt: skip
    assert [(e["ts"], e["dur"]) for e in on(events, "verify")] == [
        (110_000, 20_000), (145_000, 20_000),
    ]  # fmt: skip
    first = on(events, "verify")[0]["args"]
    assert [token["fate"] for token in first["tokens"]] == [
        "accepted", "accepted", "rejected", "residual",
    ]  # fmt: skip
    assert (first["forwards"], first["positions"]) == (1, 4)
    assert all("fate" not in token for token in on(events, "draft")[0]["args"]["tokens"])
    assert on(events, "steps")[1]["args"]["text"] == "abd"
    rates = [e for e in events if e["name"] == "acceptance rate so far"]
    assert [(e["ts"], e["args"]["rate"]) for e in rates] == [(135_000, 2 / 3), (170_000, 0.75)]
    held = next(e["args"] for e in events if e["name"] == "memory (bytes)")
    assert held == {"target_cache": 1000, "draft_cache": 200, "logits": 30}
    assert [e["args"] for e in events if e["name"] == "GPU allocator (bytes)"] == [{"peak": 9000}]


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_recorded_runs_fill_their_decoding_time(path: Path) -> None:
    trace = Trace.load(path)
    events = events_of(trace)
    steps = on(events, "steps")[1:]
    assert len(steps) == len(trace.steps)
    for one, two in pairwise(steps):
        assert one["ts"] + one["dur"] == pytest.approx(two["ts"], abs=1e-3)
    total_us = sum(e["dur"] for track in ("draft", "verify", "other") for e in on(events, track))
    assert total_us == pytest.approx(1e6 * trace.document["timing"]["decode_s"], rel=0.05)
    last = [e for e in events if e["name"] == "acceptance rate so far"][-1]
    assert last["args"]["rate"] == pytest.approx(trace.metrics["acceptance_rate"])


def test_shape_is_that_of_the_format() -> None:
    for event in events_of(Trace.from_document(good())):
        assert event["ph"] in {"X", "C", "M"} and event["pid"] == 1
        assert isinstance(event["name"], str) and isinstance(event["args"], dict)
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0
        if event["ph"] == "C":
            assert all(isinstance(value, (int, float)) for value in event["args"].values())


def test_a_rate_without_judged_tokens_is_no_zero() -> None:
    events = events_of(Trace.from_events(run([sized(0, 0, 0)])))
    assert "acceptance rate so far" not in {event["name"] for event in events}


def test_hostile_texts_are_shown_with_signs() -> None:
    """Neither a viewer in C++ nor one in a browser has to know what a lone surrogate is."""
    for text in _strings(json.loads(export_timeline(Trace.from_document(script_everywhere())))):
        assert is_inert(text), ascii(text)


@given(runs())
@few(40)
def test_any_run_has_a_time_line(events: list[Event]) -> None:
    for text in _strings(events_of(Trace.from_events(events))):
        assert is_inert(text), ascii(text)


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for item in pair for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return [value] if isinstance(value, str) else []
