"""The JSON document of a trace -> its events.

The document must have been validated (``schema.validate``); unknown fields are passed over here
and stay in the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specviz.events import (
    Drafted,
    DraftToken,
    Fate,
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

Node = Mapping[str, Any]


def prefilled_of(document: Node) -> Prefilled:
    """The first event of the run, with its header."""
    prefill = document.get("prefill", {})
    tokens = document["prompt"]["tokens"]
    return Prefilled(
        num_prompt_tokens=prefill.get("num_prompt_tokens", len(tokens)),
        prefill_s=document["timing"]["prefill_s"],
        memory=_memory(prefill),
        header=_header(document),
    )


def steps_of(document: Node) -> tuple[Verified, ...]:
    """The steps of the run."""
    return tuple(_step(step) for step in document["steps"])


def finished_of(document: Node) -> Finished:
    """The last event of the run."""
    output, timing = document["output"], document["timing"]
    return Finished(
        ids=tuple(output["ids"]),
        finish_reason=output["finish_reason"],
        decode_s=timing["decode_s"],
        observe_s=timing.get("observe_s", 0.0),
        text=output["text"],
        error=output.get("error"),
    )


def drafted_of(step: Verified) -> Drafted:
    """What was known of a step before the target judged it: the drafter's side only."""
    return Drafted(
        index=step.index,
        gamma=step.gamma,
        proposed=tuple(unjudged(token) for token in step.proposed),
        draft_s=step.draft_s,
        num_draft_forwards=step.num_draft_forwards,
    )


def unjudged(token: DraftToken) -> DraftToken:
    """A drafted token as it was before its step was verified."""
    return DraftToken(
        id=token.id,
        text=token.text,
        data=token.data,
        parent=token.parent,
        draft_prob=token.draft_prob,
        draft_top=token.draft_top,
        draft_entropy=token.draft_entropy,
        source=token.source,
    )


def _header(document: Node) -> RunHeader:
    prompt = document["prompt"]
    return RunHeader(
        provenance=document["provenance"],
        request=document["request"],
        method=document["method"],
        models=document["models"],
        prompt_text=prompt["text"],
        prompt_tokens=tuple(
            PromptToken(id=t["id"], text=t["text"], data=bytes.fromhex(t["bytes"]))
            for t in prompt["tokens"]
        ),
        load_s=document["timing"]["load_s"],
        created=document["created"],
    )


def _step(step: Node) -> Verified:
    target = step["target_token"]
    return Verified(
        index=step["index"],
        gamma=step["gamma"],
        proposed=tuple(_proposed(token) for token in step["proposed"]),
        target_token=None if target is None else _target_token(target),
        cut=step["cut"],
        confidence=step.get("confidence", 0.0),
        draft_s=step["draft_s"],
        verify_s=step["verify_s"],
        other_s=step["other_s"],
        num_draft_forwards=step["num_draft_forwards"],
        num_target_forwards=step["num_target_forwards"],
        num_unsent=step.get("num_unsent", 0),
        memory=_memory(step),
    )


def _proposed(token: Node) -> DraftToken:
    return DraftToken(
        id=token["id"],
        text=token["text"],
        data=bytes.fromhex(token["bytes"]),
        parent=token.get("parent", -1),
        fate=Fate(token["fate"]),
        target_prob=token.get("target_prob"),
        draft_prob=token.get("draft_prob"),
        accept_prob=token.get("accept_prob"),
        overlap=token.get("overlap"),
        draw=token.get("draw"),
        target_top=_top(token, "target_top"),
        draft_top=_top(token, "draft_top"),
        target_entropy=token.get("target_entropy"),
        draft_entropy=token.get("draft_entropy"),
        total_variation=token.get("total_variation"),
        target_choice=token.get("target_choice"),
        source=_source(token.get("source")),
    )


def _target_token(token: Node) -> TargetToken:
    return TargetToken(
        id=token["id"],
        fate=Fate(token["fate"]),
        text=token["text"],
        data=bytes.fromhex(token["bytes"]),
        target_prob=token.get("target_prob"),
        residual_top=_top(token, "residual_top"),
        target_top=_top(token, "target_top"),
        target_entropy=token.get("target_entropy"),
    )


def _top(token: Node, name: str) -> tuple[TopToken, ...]:
    tops = token.get(name, ())
    return tuple(TopToken(id=top["id"], prob=top["prob"], text=top["text"]) for top in tops)


def _source(source: Node | None) -> Source | None:
    if source is None:
        return None
    if source["kind"] == "ngram":
        return NgramSource(start=source["start"], ngram=source["ngram"])
    if source["kind"] == "layer":
        return LayerSource(depth=source["depth"])
    return PiecesSource(ids=tuple(source["ids"]), texts=tuple(source["texts"]))


def _memory(node: Node) -> Memory:
    """The parts where they are given, else the total as the target's."""
    parts = node.get("memory")
    if parts is None:
        return Memory(target_cache_bytes=node.get("memory_bytes", 0))
    names = ("target_cache_bytes", "draft_cache_bytes", "logits_bytes")
    owned = {name: parts.get(name, 0) for name in names}
    return Memory(**owned, allocated_bytes=parts.get("allocated_bytes"))
