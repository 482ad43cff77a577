"""Events -> compact messages for the viewer. Pure: no threads, no Gradio.

A message is one JSON *string* that holds only what is new::

    {"v": 1, "run": id, "seq": n, "ev": [record, ...], "at": ms,
     "end": "done", "error": [code, sentence]}

A record is a list whose first item is its kind: ``open``, ``start``, ``draft``, ``step``,
``finish`` or ``compare`` (the functions below make one each); ``at`` is the time of the oldest
record in ms since 1970; ``end`` and ``error`` appear in the last message only. Strings, because
Gradio's structural diff corrupts nested lists that shrink; ASCII, because a lone surrogate in
plain text breaks the connection; null for NaN.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from specviz.events import (
    Drafted,
    DraftToken,
    Fate,
    Finished,
    LayerSource,
    NgramSource,
    PiecesSource,
    Prefilled,
    RunHeader,
    Source,
    TargetToken,
    TopToken,
    Verified,
)
from specviz.render.names import MAX_NAME, plain_words, short
from specviz.ui.running import Running

VERSION = 1
FATE_CODES = {
    Fate.ACCEPTED: "a",
    Fate.REJECTED: "r",
    Fate.DISCARDED: "d",
    Fate.RESIDUAL: "s",
    Fate.BONUS: "b",
}
MAX_PROMPT = 1500  # tokens of the prompt that are drawn, the last ones
HEAVY_KEYS = ("tt", "dt", "rt")  # alternatives: left out when the viewer cannot keep up

Record = list[Any]


def dumps(value: Any, *, ascii_only: bool = True) -> str:
    """JSON that is also inert inside a script element; in ASCII unless its texts are our own."""
    text = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def number(value: float | None, digits: int = 6) -> float | None:
    """``value`` with so many significant digits, None where it is missing or not finite."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def milliseconds(seconds: float) -> float | None:
    """Seconds as milliseconds."""
    return number(1e3 * seconds)


def plain(value: Any) -> Any:
    """A JSON-like value made of dicts, lists, strings and finite numbers only."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


def named(value: Any) -> Any:
    """What a file says about a run, with names that fit on a line (see ``render.names``)."""
    return plain_words(plain(value), MAX_NAME)


def open_record(*, kind: str, lanes: Sequence[Mapping[str, Any]], name: str = "") -> Record:
    """The first record: what will be drawn; ``kind`` is live, recorded or loaded."""
    return ["open", {"kind": kind, "name": name, "lanes": plain(lanes)}]


def compare_record(lane: int, figures: Mapping[str, Any]) -> Record:
    """How a lane compares with the plain run beside it."""
    return ["compare", lane, plain(figures)]


def notice(code: str, sentence: str, at: float) -> str:
    """A message of no run: a sentence to be shown above whatever is on screen."""
    head = {"v": VERSION, "run": "", "seq": 0, "ev": [], "at": int(1e3 * at)}
    return dumps({**head, "end": "error", "error": [code, sentence]})


class LaneEncoder:
    """Turns the events of one lane into records, and keeps its running figures."""

    def __init__(self, lane: int) -> None:
        self.lane = lane
        self.running = Running()
        self.weight: float | None = None  # of the target, where two distributions are mixed

    def encode(self, event: Prefilled | Drafted | Verified | Finished) -> Record:
        """The record of one event."""
        if isinstance(event, Prefilled):
            self.weight = _weight(event.header)
            return ["start", self.lane, _start(event)]
        if isinstance(event, Drafted):
            texts = [[token.text, hex_of(token)] for token in event.proposed]
            return ["draft", self.lane, {"i": event.index, "x": texts}]
        if isinstance(event, Finished):
            return ["finish", self.lane, self._finish(event)]
        self.running.add(event)
        return ["step", self.lane, self._step(event)]

    def _step(self, event: Verified) -> dict[str, Any]:
        tokens = [draft_token(token, self.weight) for token in event.proposed]
        if event.target_token is not None:
            tokens.append(target_token(event.target_token))
        return without_nulls(
            {
                "i": event.index,
                "g": event.gamma,
                "cut": event.cut,
                "c": event.confidence or None,
                "ms": [milliseconds(s) for s in (event.draft_s, event.verify_s, event.other_s)],
                "n": [event.num_draft_forwards, event.num_target_forwards, event.num_unsent],
                "m": event.memory.total_bytes,
                "tok": tokens,
                "run": self._figures(event),
            }
        )

    def _figures(self, event: Verified) -> list[float | None]:
        """Running figures after this step; the places are named in ``specviz-model.js``."""
        so_far, committed = self.running, len(event.committed_ids)
        per_token = 1e3 * event.seconds / committed if committed else None
        values = (
            so_far.acceptance_rate,
            so_far.block_efficiency,
            so_far.tokens_per_second,
            so_far.tokens,
            1e3 * so_far.seconds,
            *so_far.shares(),
            per_token,
            so_far.accepted,
            so_far.judged,
            so_far.proposed,
        )
        return [number(value) for value in values]

    def _finish(self, event: Finished) -> dict[str, Any]:
        return without_nulls(
            {
                "reason": event.finish_reason,
                "tokens": len(event.ids),
                "decode_ms": milliseconds(event.decode_s),
                "error": None if event.error is None else short(event.error),
            }
        )


def _start(event: Prefilled) -> dict[str, Any]:
    start = {"n": event.num_prompt_tokens, "prefill_ms": milliseconds(event.prefill_s)}
    return start | (_header(event.header) if event.header is not None else {})


def _header(header: RunHeader) -> dict[str, Any]:
    return {
        "provenance": named(header.provenance),
        "request": named({k: v for k, v in header.request.items() if k != "prompt"}),
        "method": named(header.method),
        "models": named(header.models),
        "prompt": [[token.text, hex_of(token)] for token in header.prompt_tokens[-MAX_PROMPT:]],
        "skipped": max(0, len(header.prompt_tokens) - MAX_PROMPT),
        "load_ms": milliseconds(header.load_s),
        "created": short(header.created, MAX_NAME),
    }


def _weight(header: RunHeader | None) -> float | None:
    """Weight of the target in the mixture that judges; None where the target judges alone."""
    if header is None or header.method.get("lossless", True):
        return None
    request = header.request
    value = request.get("config", request).get("ensemble_weight")
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def mixture(token: DraftToken, weight: float | None) -> float | None:
    """w·p + (1 − w)·q of a judged token, None where nothing is mixed."""
    parts = (token.target_prob, token.draft_prob)
    if weight is None or token.accept_prob is None or None in parts:
        return None
    return weight * parts[0] + (1 - weight) * parts[1]


def draft_token(token: DraftToken, weight: float | None = None) -> dict[str, Any]:
    """A drafted and judged token under short keys (see ``specviz-model.js``).

    Args:
        token: the token.
        weight: weight of the target where the rule mixes both distributions.
    """
    return without_nulls(
        {
            "x": token.text,
            "h": hex_of(token),
            "f": FATE_CODES[token.fate] if token.fate is not None else None,
            "id": token.id,
            "p": number(token.target_prob),
            "q": number(token.draft_prob),
            "a": number(token.accept_prob),
            "m": number(mixture(token, weight)),
            "u": number(token.draw),
            "o": number(token.overlap),
            "e": number(token.target_entropy),
            "de": number(token.draft_entropy),
            "tv": number(token.total_variation),
            "tc": token.target_choice,
            "tt": tops(token.target_top),
            "dt": tops(token.draft_top),
            "src": source(token.source),
        }
    )


def target_token(token: TargetToken) -> dict[str, Any]:
    """The target's own token under the same short keys."""
    return without_nulls(
        {
            "x": token.text,
            "h": hex_of(token),
            "f": FATE_CODES[token.fate],
            "id": token.id,
            "p": number(token.target_prob),
            "e": number(token.target_entropy),
            "tt": tops(token.target_top),
            "rt": tops(token.residual_top),
        }
    )


def tops(top: Sequence[TopToken]) -> list[list[Any]] | None:
    """Alternatives as [id, text, probability], None where there are none."""
    return [[item.id, item.text, number(item.prob)] for item in top] or None


def source(origin: Source | None) -> list[Any] | None:
    """Where a drafted token came from, as a list whose first item is its kind."""
    if isinstance(origin, NgramSource):
        return ["ngram", origin.start, origin.ngram]
    if isinstance(origin, LayerSource):
        return ["layer", origin.depth]
    if isinstance(origin, PiecesSource):
        return ["pieces", list(origin.ids), list(origin.texts)]
    return None


def hex_of(token: Any) -> str | None:
    """Bytes of a token in hex where its text does not show them, as in a split character."""
    data: bytes = token.data
    if not data or token.text.encode("utf-8", "surrogatepass") == data:
        return None
    return data.hex()


def light(record: Record) -> Record:
    """A step record without alternatives; the viewer asks for them when they are looked at."""
    if record[0] != "step":
        return record
    tokens = [{k: v for k, v in t.items() if k not in HEAVY_KEYS} for t in record[2]["tok"]]
    return [record[0], record[1], record[2] | {"tok": tokens, "light": 1}]


def without_nulls(table: dict[str, Any]) -> dict[str, Any]:
    """The table without its empty entries: absent and null mean the same to the viewer."""
    return {key: value for key, value in table.items() if value is not None}
