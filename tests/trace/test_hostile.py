"""Files that are broken, too new or meant to harm are refused with a sentence."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.errors import TraceError
from specviz.trace import Trace, check, json_schema
from specviz.trace.store import accept
from tests.trace.sample_runs import run, sized, step
from tests.trace.strategies import few

GOOD: dict[str, Any] = json.loads(
    Trace.from_events(run([sized(0, 3, 2), step(1, "aad", cut="eos")])).dumps()
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"null", "not a trace"),
        (b"[]", "not a trace"),
        (b"{}", "not a trace"),
        (b'{"format":"other","version":1}', "not a trace"),
        (b'{"format":"specviz.trace"}', "version must be"),
        (b'{"format":"specviz.trace","version":true}', "version must be"),
        (b'{"format":"specviz.trace","version":0}', "version must be"),
        (b'{"format":"specviz.trace","version":1}', "is missing"),
        (b'{"format":"specviz.trace","version":2}', "version 2, this program reads up to"),
        (b'{"a":NaN}', "NaN is not a number"),
        (b'{"a":-Infinity}', "-Infinity is not a number"),
        (b'{"a":1e999}', "not finite"),
        (b'{"a":1,"a":2}', "the same name twice"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b'{"a":"\xed\xa0\x80"}', "not UTF-8"),
        (b"[" * 100_000, "too deeply"),
        (b"[" * 70 + b"]" * 70, "too deeply"),
        (b"9" * 10_000, "not JSON"),
    ],
)
def test_loads_refuses(text: bytes, sentence: str) -> None:
    with pytest.raises(TraceError, match=sentence):
        Trace.loads(text)


def test_loads_takes_a_byte_order_mark() -> None:
    assert Trace.loads(b"\xef\xbb\xbf" + json.dumps(GOOD).encode()).document == GOOD


def test_load_refuses_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(b" " * 1001)
    with pytest.raises(TraceError, match="too large: at most 1,000 bytes"):
        Trace.load(path, max_bytes=1000)
    with pytest.raises(TraceError, match="too large"):
        Trace.loads(" " * 1001, max_bytes=1000)


def test_load_says_why_a_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="No such file"):
        Trace.load(tmp_path / "missing.json")
    with pytest.raises(TraceError, match="cannot read"):
        Trace.load(tmp_path)


def change(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    """A change of one value; ``path`` is like ``steps.0.gamma``."""

    def apply(document: dict[str, Any]) -> None:
        node: Any = document
        *parents, name = path.split(".")
        for part in parents:
            node = node[int(part)] if part.isdigit() else node[part]
        node[int(name) if name.isdigit() else name] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("steps.0.gamma", True, "step 0, gamma: must be of type integer, got True"),
        ("steps.0.gamma", 3.0, "step 0, gamma"),
        ("steps.1.proposed.2.fate", "kept", "step 1, proposed 2, fate: must be 'accepted'"),
        ("steps.0.proposed.0.id", -1, "step 0, proposed 0, id: must be from 0"),
        ("steps.0.proposed.0.id", 10**400, "got a huge number"),
        ("steps.0.proposed.0.bytes", "zz", "step 0, proposed 0, bytes: must match"),
        ("steps.0.proposed.0.bytes", "61\n", "step 0, proposed 0, bytes: must match"),
        ("steps.0.proposed.0.target_prob", "0.5", "target_prob: must be of type"),
        ("steps.0.proposed.0.target_prob", 1.5, "target_prob: must be from 0"),
        ("steps.0.proposed.0.target_prob", float("nan"), "not finite"),
        ("steps.0.proposed.0.source", {"kind": "spell"}, "step 0, proposed 0, source"),
        ("steps.0.proposed.0.source", {"kind": "layer", "depth": "1"}, "source, depth"),
        ("steps.0.target_token", [], "step 0, target_token"),
        ("steps.0.target_token.fate", "accepted", "step 0, target_token, fate"),
        ("steps.0.draft_s", -0.1, "step 0, draft_s"),
        ("steps.0.draft_s", float("inf"), "not finite"),
        ("steps.0.memory_bytes", 1.5, "step 0, memory_bytes"),
        ("steps.0", None, "step 0: must be of type object"),
        ("steps", {"0": 1}, "steps: must be of type array"),
        ("steps.1.cut", "cancelled", "step 1, cut"),
        ("output.finish_reason", "done", "output, finish_reason"),
        ("output.text", 7, "output, text"),
        ("prompt.tokens.0.text", None, "prompt, tokens 0, text"),
        ("baseline", {}, "baseline: 'ids' is missing"),
        ("method.key", None, "method, key"),
        ("method", {"key": "plain"}, "method: 'drafter' is missing"),
        ("method.lossless", 1, "method, lossless"),
        ("models.target.bytes", 10**400, "models, target, bytes"),
        ("metrics.draft_yield", "<b>", "metrics, draft_yield: must be of type number"),
        ("metrics.accepted_histogram.0", "<b>", "metrics, accepted_histogram 0"),
        ("request.temperature", "hot", "request, temperature"),
        ("metrics", None, "metrics: must be of type object"),
        ("created", (1, 2), "tuple"),
    ],
)
def test_wrong_values_are_refused_by_name(path: str, value: object, sentence: str) -> None:
    document = copy.deepcopy(GOOD)
    change(path, value)(document)
    with pytest.raises(TraceError, match=sentence.replace("(", r"\(")):
        Trace.from_document(document)


def test_messages_are_short_and_on_one_line() -> None:
    document = copy.deepcopy(GOOD)
    change("output.finish_reason", "x\n\x1b[31m" * 10_000)(document)
    with pytest.raises(TraceError) as caught:
        Trace.from_document(document)
    message = str(caught.value)
    assert len(message) < 300
    assert message.isprintable()


def test_script_in_texts_is_only_text() -> None:
    document = copy.deepcopy(GOOD)
    document["method"]["key"] = "</script><script>alert(1)</script>"
    trace = Trace.from_document(document)
    assert trace.document["method"]["key"].startswith("</script>")
    check(trace)


def test_names_must_be_texts() -> None:
    with pytest.raises(TraceError, match="names in a trace"):
        Trace.from_document({**GOOD, 7: 1})  # type: ignore[dict-item]


# Left out are the two points where this program is stricter than Python's JSON Schema library:
# 1.0 is no integer, and a newline at the end is part of a text.
NUMBERS = st.integers(-2, 2) | st.floats(-2, 2).filter(lambda number: not number.is_integer())
WORDS = st.text(st.characters(exclude_characters="\n"), max_size=3)
JUNK = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner),
    max_leaves=4,
)


@given(st.data())
@few(60)
def test_validator_agrees_with_the_published_schema(data: st.DataObject) -> None:
    """Any value in any place: refused here exactly if a JSON Schema library refuses it."""
    document = copy.deepcopy(GOOD)
    node: Any = document
    while True:
        names = list(node) if isinstance(node, dict) else list(range(len(node)))
        name = data.draw(st.sampled_from(names))
        inner = node[name]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.booleans()):
            break
        node = inner
    node[name] = data.draw(JUNK)
    strict = jsonschema.Draft202012Validator(json_schema())
    try:
        accept(document)
        accepted = True
    except TraceError:
        accepted = False
    assert accepted == strict.is_valid(document)
