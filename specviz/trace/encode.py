"""Events -> the JSON document of a trace.

Only plain dicts, lists, strings, ints, finite floats, booleans and None come out. Bytes are
written as hex. Nothing is judged here: see ``check``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from math import fsum, isfinite
from typing import Any

from specviz.events import (
    DraftToken,
    Event,
    Finished,
    LayerSource,
    Memory,
    NgramSource,
    PiecesSource,
    Prefilled,
    PromptToken,
    RunHeader,
    Source,
    TargetToken,
    TopToken,
    Verified,
)
from specviz.metrics import summarise
from specviz.trace.schema import FORMAT, VERSION
from specviz.trace.texts import loose_end


def document_of(
    events: Iterable[Event], baseline: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Write a run down.

    Args:
        events: the events of one run, with ``Prefilled.header``. A run that broke off before
            ``Finished`` is written as cancelled.
        baseline: the plain run beside it, as ``compare.baseline_of`` makes it.

    Raises:
        ValueError: there is no ``Prefilled`` event with a header, so nothing is known of the run.
    """
    run = list(events)
    prefilled = next((e for e in run if isinstance(e, Prefilled) and e.header), None)
    if prefilled is None or prefilled.header is None:
        raise ValueError("a trace needs a Prefilled event with a header")
    steps = [event for event in run if isinstance(event, Verified)]
    finished = next((e for e in run if isinstance(e, Finished)), None) or broken_off(steps)
    header = prefilled.header
    return {
        "format": FORMAT,
        "version": VERSION,
        "created": header.created,
        **{name: plain(getattr(header, name)) for name in HEADER_PARTS},
        "prompt": _prompt(header),
        "prefill": {
            "num_prompt_tokens": prefilled.num_prompt_tokens,
            **_memory(prefilled.memory),
        },
        "timing": {
            "load_s": number(header.load_s),
            "prefill_s": number(prefilled.prefill_s),
            "decode_s": number(finished.decode_s),
            "observe_s": number(finished.observe_s),
        },
        "steps": [step_document(step) for step in steps],
        "output": {
            "ids": list(finished.ids),
            "text": finished.text,
            "finish_reason": finished.finish_reason,
            "error": finished.error,
        },
        "metrics": plain(summarise(run, baseline)),
        "baseline": None if baseline is None else plain(baseline),
    }


HEADER_PARTS = ("provenance", "request", "method", "models")


def broken_off(steps: Sequence[Verified]) -> Finished:
    """The end of a run that broke off after ``steps``: what was committed until then."""
    tokens = [token for step in steps for token in committed_tokens(step)]
    text = "".join(token.text for token in tokens) + loose_end(token.data for token in tokens)
    return Finished(
        ids=tuple(token_id for step in steps for token_id in step.committed_ids),
        finish_reason="cancelled",
        decode_s=fsum(step.seconds for step in steps),
        text=text,
    )


def committed_tokens(step: Verified) -> list[DraftToken | TargetToken]:
    """The tokens that a step added to the output."""
    tail = [] if step.target_token is None else [step.target_token]
    return [*step.accepted, *tail]


def step_document(step: Verified) -> dict[str, Any]:
    """One step, with the keys of the trace format."""
    target = step.target_token
    return {
        "index": step.index,
        "gamma": step.gamma,
        "confidence": number(step.confidence),
        "cut": step.cut,
        "proposed": [_proposed(token) for token in step.proposed],
        "target_token": None if target is None else _target_token(target),
        "draft_s": number(step.draft_s),
        "verify_s": number(step.verify_s),
        "other_s": number(step.other_s),
        "num_draft_forwards": step.num_draft_forwards,
        "num_target_forwards": step.num_target_forwards,
        "num_unsent": step.num_unsent,
        **_memory(step.memory),
    }


def plain(value: object) -> Any:
    """A JSON-like value made of plain dicts, lists and scalars; what is not finite becomes None.

    Raises:
        TypeError: the value has no JSON form.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, float):
        return number(value)
    if value is None or isinstance(value, (str, bool, int)):
        return value
    raise TypeError(f"a trace cannot hold a value of type {type(value).__name__}")


def number(value: float | None) -> float | None:
    """A number that JSON can hold: None for what is not finite."""
    return value if value is None or isfinite(value) else None


def _prompt(header: RunHeader) -> dict[str, Any]:
    return {
        "text": header.prompt_text,
        "ids": [token.id for token in header.prompt_tokens],
        "tokens": [_token(token) for token in header.prompt_tokens],
    }


def _token(token: PromptToken | DraftToken | TargetToken) -> dict[str, Any]:
    return {"id": token.id, "text": token.text, "bytes": token.data.hex()}


def _proposed(token: DraftToken) -> dict[str, Any]:
    return {
        **_token(token),
        "parent": token.parent,
        "fate": None if token.fate is None else token.fate.value,
        "target_prob": number(token.target_prob),
        "draft_prob": number(token.draft_prob),
        "accept_prob": number(token.accept_prob),
        "overlap": number(token.overlap),
        "draw": number(token.draw),
        "target_top": _top(token.target_top),
        "draft_top": _top(token.draft_top),
        "target_entropy": number(token.target_entropy),
        "draft_entropy": number(token.draft_entropy),
        "total_variation": number(token.total_variation),
        "target_choice": token.target_choice,
        "source": _source(token.source),
    }


def _target_token(token: TargetToken) -> dict[str, Any]:
    return {
        **_token(token),
        "fate": token.fate.value,
        "target_prob": number(token.target_prob),
        "residual_top": _top(token.residual_top),
        "target_top": _top(token.target_top),
        "target_entropy": number(token.target_entropy),
    }


def _top(tokens: Sequence[TopToken]) -> list[dict[str, Any]]:
    return [{"id": t.id, "text": t.text, "prob": number(t.prob)} for t in tokens]


def _source(source: Source | None) -> dict[str, Any] | None:
    match source:
        case NgramSource(start=start, ngram=ngram):
            return {"kind": "ngram", "start": start, "ngram": ngram}
        case LayerSource(depth=depth):
            return {"kind": "layer", "depth": depth}
        case PiecesSource(ids=ids, texts=texts):
            return {"kind": "pieces", "ids": list(ids), "texts": list(texts)}
        case _:
            return None


def _memory(memory: Memory) -> dict[str, Any]:
    return {
        "memory_bytes": memory.total_bytes,
        "memory": {
            "target_cache_bytes": memory.target_cache_bytes,
            "draft_cache_bytes": memory.draft_cache_bytes,
            "logits_bytes": memory.logits_bytes,
            "allocated_bytes": memory.allocated_bytes,
        },
    }
