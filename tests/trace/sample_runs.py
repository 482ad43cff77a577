"""Runs written by hand for the tests of metrics, trace and render."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

from specviz.events import (
    DraftToken,
    Event,
    Fate,
    Finished,
    Prefilled,
    PromptToken,
    RunHeader,
    TargetToken,
    Verified,
)

FATES = {"a": Fate.ACCEPTED, "r": Fate.REJECTED, "d": Fate.DISCARDED}


def drafted(id: int, fate: Fate, text: str | None = None, **options: Any) -> DraftToken:
    """A judged token; its text is a letter unless given."""
    letter = chr(97 + id % 26) if text is None else text
    data = options.pop("data", letter.encode("utf-8", "surrogatepass"))
    return DraftToken(id, letter, data, fate=fate, **options)


def own(id: int, fate: Fate, text: str | None = None, **options: Any) -> TargetToken:
    """A token of the target; its text is a letter unless given."""
    letter = chr(97 + id % 26) if text is None else text
    data = options.pop("data", letter.encode("utf-8", "surrogatepass"))
    return TargetToken(id, fate, letter, data, **options)


def step(index: int, fates: str, *, cut: str | None = None, **options: Any) -> Verified:
    """A step by its fates: ``"aard"`` is two accepted, one rejected, one discarded token."""
    tokens = tuple(drafted(10 * index + i, FATES[fate]) for i, fate in enumerate(fates))
    kind = Fate.RESIDUAL if "r" in fates else Fate.BONUS
    target = None if cut else own(10 * index + len(fates), kind)
    timed = {"draft_s": 0.01, "verify_s": 0.02, "other_s": 0.005} | options
    return Verified(index, max(1, len(fates)), tokens, target, cut=cut, **timed)


def sized(index: int, proposed: int, accepted: int, **options: Any) -> Verified:
    """A step by its numbers of proposed and accepted tokens."""
    refused = "r" * (accepted < proposed) + "d" * (proposed - accepted - 1)
    return step(index, "a" * accepted + refused, **options)


def header(**options: Any) -> RunHeader:
    """A header with a prompt of two tokens, "Hi" and a newline."""
    known: dict[str, Any] = {
        "provenance": {"kind": "measured", "specviz": "0.1.0", "threads": 1},
        "request": {"gamma": 3, "temperature": 0.0, "stop": []},
        "method": {
            "key": "speculative",
            "drafter": "speculative",
            "rule": "greedy_match",
            "lossless": True,
        },
        "models": {"target": {"id": "t", "bytes": 1000}, "draft": {"id": "d", "bytes": 100}},
        "prompt_text": "Hi\n",
        "prompt_tokens": (PromptToken(1, "Hi", b"Hi"), PromptToken(2, "\n", b"\n")),
        "load_s": 0.5,
        "created": "2026-01-01T00:00:00Z",
    }
    return RunHeader(**(known | options))


def run(steps: Sequence[Verified], **options: Any) -> list[Event]:
    """A whole run around its steps, without the ``Drafted`` events."""
    texts = [t.text for s in steps for t in (*s.accepted, *filter(None, [s.target_token]))]
    known: dict[str, Any] = {
        "ids": tuple(token_id for s in steps for token_id in s.committed_ids),
        "finish_reason": "length",
        "decode_s": fsum(s.seconds for s in steps),
        "text": "".join(texts),
    }
    return [Prefilled(2, 0.1, header=header()), *steps, Finished(**(known | options))]
