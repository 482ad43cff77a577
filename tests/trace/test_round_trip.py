"""Events -> document -> JSON -> document -> events loses nothing."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given

from specviz.errors import TraceError
from specviz.events import Event, Fate, Finished, Memory, PiecesSource, Prefilled
from specviz.metrics import summarise
from specviz.trace import Trace, baseline_of, check, json_schema
from tests.trace.sample_runs import drafted, header, own, run, sized, step
from tests.trace.strategies import few, runs


@given(runs())
@few(40)
def test_any_run_comes_back_as_it_was(events: list[Event]) -> None:
    trace = Trace.from_events(events)
    again = Trace.loads(trace.dumps())
    assert again == trace
    assert list(again.events()) == events
    assert Trace.from_events(again.events()) == trace
    check(again)


@given(runs())
@few(15)
def test_any_trace_fits_the_published_schema(events: list[Event]) -> None:
    document = json.loads(Trace.from_events(events).dumps())
    jsonschema.Draft202012Validator(json_schema()).validate(document)


def test_schema_types_every_figure() -> None:
    assert set(json_schema()["properties"]["metrics"]["properties"]) == set(summarise([]))


def test_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_trace_has_the_promised_keys() -> None:
    plain = run([step(i, "") for i in range(4)])
    events = run([sized(0, 3, 2)])
    trace = Trace.from_events(events, baseline_of(plain, [0, 1, 20]))
    document = trace.document
    assert list(document) == [
        *("format", "version", "created", "provenance", "request", "method", "models", "prompt"),
        *("prefill", "timing", "steps", "output", "metrics", "baseline"),
    ]
    assert document["format"] == "specviz.trace"
    assert document["version"] == 1
    assert document["prompt"]["tokens"][0] == {"id": 1, "text": "Hi", "bytes": "4869"}
    assert document["timing"].keys() == {"load_s", "prefill_s", "decode_s", "observe_s"}
    assert document["baseline"].keys() >= {
        *("ids", "decode_s", "seconds_per_token", "identical", "first_difference", "gap")
    }
    assert document["metrics"] == summarise(events, document["baseline"])
    first = document["steps"][0]
    assert [token["fate"] for token in first["proposed"]] == ["accepted", "accepted", "rejected"]
    assert first["target_token"]["fate"] == "residual"


def test_trace_offers_its_parts() -> None:
    trace = Trace.from_events(run([sized(0, 3, 2), sized(1, 1, 1)]))
    assert trace.output_ids == (0, 1, 3, 10, 11)
    assert trace.text == "abdkl"
    assert trace.steps == (sized(0, 3, 2), sized(1, 1, 1))
    assert trace.metrics["acceptance_rate"] == pytest.approx(3 / 4)
    assert trace.baseline is None


def test_memory_is_written_as_total_and_parts() -> None:
    document = Trace.from_events(run([replace(step(0, "a"), memory=Memory(1, 2, 3))])).document
    assert document["steps"][0]["memory_bytes"] == 6
    del document["steps"][0]["memory"]
    assert Trace.from_document(document).steps[0].memory.total_bytes == 6


def test_sources_are_objects_with_their_kind() -> None:
    token = drafted(3, Fate.ACCEPTED, source=PiecesSource((7, 8), ("a", "b")))
    only = replace(step(0, "a"), proposed=(token,))
    written = Trace.from_events(run([only])).document["steps"][0]["proposed"][0]["source"]
    assert written == {"kind": "pieces", "ids": [7, 8], "texts": ["a", "b"]}


def test_file_is_ascii_and_lone_surrogates_survive(tmp_path: Path) -> None:
    token = drafted(3, Fate.ACCEPTED, text="\ud800é\x00", data=b"")
    trace = Trace.from_events(run([replace(step(0, "a"), proposed=(token,))]))
    path = tmp_path / "run.json"
    trace.save(path)
    assert b"\\ud800\\u00e9\\u0000" in path.read_bytes()
    assert path.read_bytes().isascii()
    assert Trace.load(path) == trace
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


def test_save_replaces_a_file_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("old")
    broken = Trace({**Trace.from_events(run([])).document, "more": float("nan")})
    with pytest.raises(TraceError, match="finite"):
        broken.save(path)
    assert path.read_text() == "old"


def test_save_says_why_a_file_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"cannot write the trace .*: No such file"):
        Trace.from_events(run([])).save(tmp_path / "no folder" / "run.json")
    with pytest.raises(TraceError, match="Is a directory"):
        Trace.from_events(run([])).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_save_follows_a_link_and_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "run.json")
    trace = Trace.from_events(run([sized(0, 2, 1)]))
    trace.save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert Trace.load(tmp_path / "run.json") == trace


def test_unknown_fields_are_kept_on_saving_again(tmp_path: Path) -> None:
    document = json.loads(Trace.from_events(run([sized(0, 2, 1)])).dumps())
    document["later"] = {"deep": [1, 2]}
    document["steps"][0]["later"] = "x"
    document["steps"][0]["proposed"][0]["later"] = None
    path = tmp_path / "run.json"
    Trace.from_document(document).save(path)
    assert json.loads(path.read_text()) == document
    check(Trace.load(path))


def test_wrapping_a_document_does_not_share_it() -> None:
    document = json.loads(Trace.from_events(run([sized(0, 2, 1)])).dumps())
    trace = Trace.from_document(document)
    document["steps"].clear()
    assert len(trace.document["steps"]) == 1


def test_numbers_that_are_not_finite_become_null() -> None:
    token = drafted(3, Fate.ACCEPTED, draft_entropy=float("inf"), overlap=float("nan"))
    events = run([replace(step(0, "a"), proposed=(token,))])
    written = Trace.from_events(events).document["steps"][0]["proposed"][0]
    assert (written["draft_entropy"], written["overlap"]) == (None, None)


def test_run_that_broke_off_is_written_as_cancelled() -> None:
    trace = Trace.from_events(run([sized(0, 3, 2), sized(1, 1, 1)])[:-1])
    assert trace.document["output"]["finish_reason"] == "cancelled"
    assert trace.output_ids == (0, 1, 3, 10, 11)
    check(trace)


def test_run_that_broke_off_inside_a_character_has_a_replacement_sign() -> None:
    last = replace(step(0, "a"), target_token=own(1, Fate.BONUS, "", data=b"\xe2\x82"))
    trace = Trace.from_events(run([last])[:-1])
    assert trace.text == "a\ufffd"
    check(trace)


def test_run_without_a_header_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="header"):
        Trace.from_events([Prefilled(1, 0.1), Finished((), "length", 0.0)])


def test_header_values_are_made_plain() -> None:
    odd = header(request={"stop": ("a", "b"), "needs": frozenset({"y", "x"}), "bad": float("nan")})
    written = Trace.from_events([Prefilled(2, 0.1, header=odd)]).document["request"]
    assert written == {"stop": ["a", "b"], "needs": ["x", "y"], "bad": None}
    with pytest.raises(TypeError, match="object"):
        Trace.from_events([Prefilled(2, 0.1, header=header(request={"x": object()}))])
