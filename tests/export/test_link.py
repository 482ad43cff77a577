"""Links: what goes in comes out, what is hostile is refused with a sentence or passed over."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.config import DecodeConfig, RunRequest
from specviz.errors import SettingError
from specviz.export import parse_query, settings_query
from specviz.export.html import ASSETS
from specviz.export.link import MAX_PROMPT
from tests.export.evil import PAYLOADS
from tests.trace.strategies import few

TRACES = sorted((ASSETS / "traces").glob("*.json"))
NOTHING = {"settings": {}, "run": None, "step": None}
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
SETTINGS = st.fixed_dictionaries(
    {"method": st.sampled_from(("speculative", "prompt_lookup"))},
    optional={
        "prompt": TEXTS.filter(bool),
        "chat": st.just(True),
        "target": st.sampled_from(("target-glm", "org/Model-1.5B_x")),
        "draft": st.just("assistant"),
        "max_new_tokens": st.integers(1, 4096).filter(lambda n: n != 64),
        "gamma": st.integers(1, 16).filter(lambda n: n != 5),
        "temperature": st.floats(1e-6, 2),
        "top_p": st.floats(0.01, 0.99),
        "seed": st.integers(1, 2**63 - 1),
        "stop": st.lists(TEXTS.filter(bool), min_size=1, max_size=3).map(tuple),
    },
)


def read(query: str) -> Any:
    """As a server would: every name with the list of its values."""
    return parse_query(parse_qs(query, keep_blank_values=True, strict_parsing=True))


@given(SETTINGS, st.none() | st.integers(0, 10**6))
@few(150)
def test_settings_come_back(settings: dict[str, Any], step: int | None) -> None:
    query = settings_query(settings, run="1-story", step=step)
    assert query.isascii()
    assert read(query) == {"settings": settings, "run": "1-story", "step": step}


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_the_request_of_a_trace_comes_back(path: Any) -> None:
    document = json.loads(path.read_text("utf-8"))
    request = {**document["request"], "prompt": document["prompt"]["text"]}
    link = read(settings_query(request))
    again = RunRequest.of(**link["settings"])
    for name in ("method", "prompt", "target", "draft", "chat"):
        assert getattr(again, name) == request[name]
    for name in ("max_new_tokens", "gamma", "temperature", "seed", "exit_layer"):
        assert getattr(again.config, name) == request[name]
    assert not {"device", "dtype"} & set(link["settings"])


def test_defaults_and_unknown_names_are_left_out() -> None:
    defaults = {name: getattr(DecodeConfig(), name) for name in ("gamma", "top_p", "stop")}
    assert settings_query({**defaults, "device": "cuda", "bad_words_ids": ((1,),)}) == ""
    assert parse_query({"__theme": "dark", "view": "api", "device": "cuda:1"}) == NOTHING
    assert parse_query({}) == NOTHING


def test_a_run_and_a_step() -> None:
    assert settings_query({}, run="2-early-exit", step=7) == "run=2-early-exit&step=7"
    assert parse_query({"run": "2-early-exit", "step": "7"}) == {
        "settings": {}, "run": "2-early-exit", "step": 7,
    }  # fmt: skip
    assert parse_query({"step": "9" * 12})["step"] == 10**6


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("gamma", "0", "gamma must be a whole number from 1 to 16"),
        ("gamma", "99999999999999999999999", "gamma must be a whole number"),
        ("gamma", "٣", "gamma must be a whole number"),
        ("gamma", "1_0", "gamma must be a whole number"),
        ("gamma", ["3", "4"], "gamma must be given once"),
        ("gamma", 3, "in a way that cannot be read"),
        ("gamma", {"a": 1}, "in a way that cannot be read"),
        ("gamma", "3" * 1000, "at most 40 characters"),
        ("temperature", "nan", "temperature must be a number"),
        ("temperature", "inf", "temperature must be a number"),
        ("temperature", "1e99", "temperature must be a number from 0 to 100"),
        ("temperature", "-1", "temperature must be a number"),
        ("ensemble_weight", "1", "strictly between 0 and 1"),
        ("chat", "yes", "chat must be 0 or 1"),
        ("schedule", "random", "schedule must be one of"),
        ("method", "../../etc", "method must be made of small letters"),
        ("target", "/etc/passwd", "target must be made of letters"),
        ("target", "../secret", "target must be made of letters"),
        ("target", "a/../b", "target must be made of letters"),
        ("target", "a/b/c", "target must be made of letters"),
        ("target", "C:\\models", "target must be made of letters"),
        ("target", "a..b", "target must be made of letters"),
        ("draft", "http://host/x", "draft must be made of letters"),
        ("run", "../1-story", "run must be made of"),
        ("run", "1-story.json", "run must be made of"),
        ("step", "-1", "step must be a whole number"),
        ("prompt", "x" * (MAX_PROMPT + 1), "at most 2000 characters in a link"),
        ("prompt", "a\0b", "a character that cannot be in a link"),
        ("stop", [""], "texts that are not empty"),
        ("stop", ["x"] * 17, "in a way that cannot be read"),
    ],
)
def test_what_is_not_allowed_is_refused(name: str, value: Any, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence) as caught:
        parse_query({name: value})
    assert str(caught.value).isprintable() and len(str(caught.value)) < 250


@pytest.mark.parametrize("payload", PAYLOADS, ids=ascii)
def test_hostile_values_are_text_or_refused(payload: str) -> None:
    for name in ("method", "target", "run", "step", "gamma", "temperature", "chat", "schedule"):
        with pytest.raises(SettingError) as caught:
            parse_query({name: payload})
        assert str(caught.value).isprintable()
    if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in payload):
        with pytest.raises(SettingError, match="cannot be in a link"):
            settings_query({"prompt": payload})
        return
    query = settings_query({"prompt": payload, "stop": (payload,)})
    assert query.isascii() and not set("<>\"'`{} \n") & set(query)
    assert read(query)["settings"] == {"prompt": payload, "stop": (payload,)}


def test_no_link_is_made_that_could_not_be_read() -> None:
    unread = [{"target": "/home/model"}, {"prompt": "x" * 2001}, {"gamma": "<b>"}]
    for request in (*unread, {"max_new_tokens": 10**9}):
        with pytest.raises(SettingError):
            settings_query(request)
    with pytest.raises(SettingError):
        settings_query({}, run="../x")


@given(st.dictionaries(st.sampled_from(("gamma", "stop", "prompt", "target", "step", "x")),
                       st.text() | st.lists(st.text(), max_size=2) | st.none()))  # fmt: skip
@few(100)
def test_any_query_is_read_or_refused(query: dict[str, Any]) -> None:
    try:
        link = parse_query(query)
    except SettingError:
        return
    assert set(link) == {"settings", "run", "step"}
