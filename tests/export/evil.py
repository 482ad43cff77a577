"""A corpus of traces made by hand to do harm: each must be refused with a sentence, or be inert."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from typing import Any

from specviz.events import (
    DraftToken,
    Event,
    Fate,
    Finished,
    LayerSource,
    Memory,
    NgramSource,
    PiecesSource,
    Prefilled,
    PromptToken,
    TopToken,
    Verified,
)
from specviz.trace import Trace
from tests.trace.sample_runs import header, own

PAYLOADS = (
    "</script><script>window.hit=1</script>",
    "<img src=x onerror=window.hit=2>",
    "<!--<script>",
    "-->",
    "]]>",
    '" onmouseover="window.hit=3',
    "' autofocus onfocus='window.hit=4",
    "${window.hit=5}",
    "{{window.hit=6}}",
    "$script",
    "\u2028window.hit=7\u2029",
    "\x00",
    "\x1b[31m\x1b]0;title\x07",
    "\ud800",
    "\udc00x",
    "\u202eevil\u2066",
    "&lt;b&gt;",
    '__i18n__{"key":"sv_run"}',
    "javascript:window.hit=8",
    "\u200b\ufeff",
    "</style><style>*{display:none}",
    "__proto__",
)
FIXED = {"format", "kind", "fate", "cut", "finish_reason", "speed_verdict", "costliest_term"}
HEX = {"bytes"}


def rich_events() -> list[Event]:
    """A run that has every kind of field: sources, alternatives, draws, a cut, memory."""
    tops = (TopToken(1, 0.5, "x"), TopToken(2, 0.25, "y"))
    known: dict[str, Any] = {
        "target_prob": 0.5, "draft_prob": 0.7, "accept_prob": 0.6, "overlap": 0.8, "draw": 0.1,
        "target_top": tops, "draft_top": tops, "target_entropy": 0.4, "draft_entropy": 0.3,
        "total_variation": 0.1, "target_choice": 9,
    }  # fmt: skip
    sources = (NgramSource(2, 1), LayerSource(2), PiecesSource((3, 4), ("a", "b")))
    fates = (Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED)
    proposed = tuple(
        DraftToken(10 + i, "abc"[i], b"abc"[i : i + 1], i - 1, fate, source=sources[i], **known)
        for i, fate in enumerate(fates)
    )
    more = {"residual_top": tops, "target_top": tops, "target_prob": 0.5, "target_entropy": 0.2}
    memory = Memory(100, 50, 25, 400)
    times = {"draft_s": 0.01, "verify_s": 0.02, "other_s": 0.005, "memory": memory}
    steps = (
        Verified(
            0, 3, proposed, own(20, Fate.RESIDUAL, "d", **more), num_draft_forwards=3, **times
        ),
        Verified(
            1,
            1,
            (replace(proposed[0], source=sources[2]),),
            own(21, Fate.BONUS, "e", **more),
            num_unsent=1,
            **times,
        ),
        Verified(2, 2, proposed[:1], None, cut="stop", num_draft_forwards=1, **times),
    )
    prompt = (PromptToken(1, "Hi", b"Hi"), PromptToken(2, "\n", b"\n"))
    end = Finished(
        ids=(10, 20, 10, 21, 10), finish_reason="stop", decode_s=0.105, text="adaea", error=None
    )
    return [Prefilled(2, 0.1, memory, header(prompt_tokens=prompt)), *steps, end]


def good() -> dict[str, Any]:
    """A sound document with every kind of field, a plain run beside it included."""
    baseline = {
        "ids": [10, 20, 10, 21, 7], "decode_s": 0.2, "seconds_per_token": 0.04, "step_s": 0.03,
        "verify_s": 0.02, "identical": False, "first_difference": 4, "gap": 0.1,
    }  # fmt: skip
    found: dict[str, Any] = json.loads(Trace.from_events(rich_events(), baseline).dumps())
    found["method"]["title"] = "Some method"
    return found


def script_everywhere(first: int = 0) -> dict[str, Any]:
    """The good document with a payload in every text and every unknown name; it stays sound.

    Over all values of ``first``, every place holds every payload once.
    """
    document = good()
    payloads = cycle((*PAYLOADS[first:], *PAYLOADS[:first]))
    _poison(document, payloads)
    for token in _committed(document):
        lone = any("\ud800" <= char <= "\udfff" for char in token["text"])
        token["bytes"] = "" if lone else token["text"].encode().hex()
    document["output"]["text"] = "".join(token["text"] for token in _committed(document))
    document["prompt"]["text"] = "".join(token["text"] for token in document["prompt"]["tokens"])
    return document


def _poison(node: Any, payloads: Iterator[str]) -> None:
    """Replace each free text, and add a hostile name to each object."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            if isinstance(item, str):
                node[index] = next(payloads)
            else:
                _poison(item, payloads)
        return
    if not isinstance(node, dict):
        return
    for name, value in node.items():
        if isinstance(value, str) and name not in FIXED | HEX:
            node[name] = next(payloads)
        else:
            _poison(value, payloads)
    if "format" not in node:
        node[next(payloads)] = next(payloads)


def _committed(document: dict[str, Any]) -> list[dict[str, Any]]:
    tokens = []
    for step in document["steps"]:
        tokens += [token for token in step["proposed"] if token["fate"] == "accepted"]
        tokens += [step["target_token"]] if step["target_token"] else []
    return tokens


WRONG: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, 2**53, 10**400, "", PAYLOADS[0], [], {}, [[]], {"__proto__": {}},
)  # fmt: skip


def wrong_types() -> Iterator[dict[str, Any]]:
    """The good document with one place after another holding something of another kind."""
    base = good()
    values = cycle(WRONG)
    for path in _paths(base):
        for _ in range(3):
            document = copy.deepcopy(base)
            node: Any = document
            for part in path[:-1]:
                node = node[part]
            node[path[-1]] = next(values)
            yield document


def _paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place, but of long lists the first two items only."""
    items = node.items() if isinstance(node, dict) else enumerate(node[:2])
    for name, value in list(items):
        yield (*path, name)
        if isinstance(value, (dict, list)):
            yield from _paths(value, (*path, name))


def extremes() -> dict[str, Any]:
    """A sound document whose free numbers are as large as they may be."""
    document = good()
    document["timing"] |= {"load_s": 1e9, "prefill_s": 1e9}
    document["created"] = "9" * 100_000
    document["provenance"] |= {"threads": 10**9, "device": "d" * 100_000}
    document["request"] |= {f"s{n}": n for n in range(1000)}
    document["request"] |= {"seed": 2**63 - 1, "max_new_tokens": 10**9, "list": [[0] * 9] * 999}
    document["models"]["target"]["parameters"] = 2**53 - 1
    for step in document["steps"]:
        step["gamma"] = step["num_unsent"] = step["num_draft_forwards"] = 10**9
        step["num_target_forwards"] = 10**9
    document["metrics"] = {}
    return document


def texts() -> Iterator[tuple[str, str | bytes]]:
    """Files that are no documents: (name, content)."""
    whole = json.dumps(good())
    nested = "[" * 100_000
    yield "nested lists", nested
    yield "nested in a field", whole[:-1] + ',"x":' + '{"a":' * 5000 + "1" + "}" * 5001
    yield "64 levels of names", whole[:-1] + ',"x":' + '{"a":' * 80 + "1" + "}" * 81
    yield "huge", b" " * (65 * 2**20)
    yield "huge number", whole[:-1] + ',"x":' + "9" * 100_000 + "}"
    yield "not finite", whole[:-1] + ',"x":1e999}'
    yield "NaN", whole[:-1] + ',"x":NaN}'
    yield "same name twice", whole[:-1] + ',"format":"specviz.trace"}'
    yield "newer", whole.replace('"version": 1', '"version": 99', 1)
    yield "cut off", whole[: len(whole) // 2]
    yield "not JSON", "<html><script>alert(1)</script>"
    yield "not UTF-8", b"\xff\xfe" + whole.encode()
    yield "null", "null"
    yield "gzip", b"\x1f\x8b\x08" + bytes(100)
