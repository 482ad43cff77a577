"""Whether the parts of a trace agree with each other: every invariant of the trace format.

The shape is validated first (``schema``), so this module only reads. The first contradiction is
raised as a ``TraceError`` whose sentence names the step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import fsum, isclose
from typing import Any

from specviz.config import MAX_NGRAM
from specviz.errors import TraceError
from specviz.events import DraftToken, Fate, Finished, NgramSource, Verified
from specviz.metrics import count
from specviz.trace.compare import first_difference
from specviz.trace.decode import finished_of, steps_of
from specviz.trace.encode import committed_tokens
from specviz.trace.record import Trace
from specviz.trace.schema import shown
from specviz.trace.store import accept
from specviz.trace.texts import split_texts

TIME_TOLERANCE = 0.05
CLOCK_GRAIN_S = 1e-6
CHECKED_FIGURES = (
    "acceptance_rate",
    "draft_yield",
    "block_efficiency",
    "num_steps",
    "num_tokens",
    "num_proposed",
    "num_accepted",
    "num_rejected",
    "num_discarded",
    "num_draft_forwards",
    "num_target_forwards",
)


def check(trace: Trace | Mapping[str, Any]) -> None:
    """Verify a trace.

    Args:
        trace: a ``Trace`` or its document.

    Raises:
        TraceError: the document has not the shape of a trace, or contradicts itself.
    """
    document = accept(trace.document if isinstance(trace, Trace) else trace)
    steps, finished = steps_of(document), finished_of(document)
    _check_prompt(document)
    for index, step in enumerate(steps):
        _check_step(step, index, last=index == len(steps) - 1)
        _check_memory(document["steps"][index], index)
        _check_sources(step, len(document["prompt"]["ids"]) + len(finished.ids))
    _check_ids(steps, finished)
    _check_text(steps, finished)
    _check_time(steps, finished)
    _check_metrics(steps, document["metrics"])
    if document.get("baseline") is not None:
        _check_baseline(document["baseline"], finished)


def _check_prompt(document: Mapping[str, Any]) -> None:
    prompt = document["prompt"]
    place = first_difference(prompt["ids"], [token["id"] for token in prompt["tokens"]])
    if place is not None:
        raise TraceError(f"prompt: ids and tokens differ at token {place}")


def _check_step(step: Verified, index: int, *, last: bool) -> None:
    if step.index != index:
        raise TraceError(f"step {index}: its index must be {index}, got {step.index}")
    trouble = _fate_trouble([token.fate for token in step.proposed])
    trouble = trouble or _target_trouble(step) or _parent_trouble(step.proposed)
    if trouble is None and not step.committed_ids:
        trouble = "commits no token"
    if trouble is None and step.cut and not last:
        trouble = f"is cut by {step.cut!r}, but the run goes on"
    if trouble:
        raise TraceError(f"step {index}: {trouble}")


def _fate_trouble(fates: Sequence[Fate | None]) -> str | None:
    """Accepted ones first, then at most one rejected, then discarded ones."""
    order = (Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED)
    places = [order.index(fate) for fate in fates if fate is not None]
    for place, (before, after) in enumerate(pairwise(places), start=1):
        if after < before:
            return f"proposed {place} is {order[after].value} behind a {order[before].value} token"
        if before == after == 1:
            return "more than one proposed token is rejected"
    return None


def _target_trouble(step: Verified) -> str | None:
    fates = [token.fate for token in step.proposed]
    target = step.target_token
    if step.cut is not None:
        odd = "has a target token" if target else "a token is rejected"
        fine = target is None and Fate.REJECTED not in fates
        return None if fine else f"is cut by {step.cut!r}, yet {odd}"
    if target is None:
        return "has no target token, though it is not cut"
    if Fate.DISCARDED in fates and Fate.REJECTED not in fates:
        return "tokens are discarded, though none is rejected and the step is not cut"
    wanted = Fate.RESIDUAL if Fate.REJECTED in fates else Fate.BONUS
    if target.fate is not wanted:
        why = "a token is rejected" if wanted is Fate.RESIDUAL else "no token is rejected"
        return f"the target token must be {wanted.value}, since {why}; got {target.fate.value}"
    return None


def _parent_trouble(proposed: Sequence[DraftToken]) -> str | None:
    for place, token in enumerate(proposed):
        if token.parent >= place:
            return f"proposed {place} follows token {token.parent}, which does not come before it"
    return None


def _check_sources(step: Verified, context: int) -> None:
    """Copies come from the context, or a viewer would look for them for hours."""
    for place, token in enumerate(step.proposed):
        origin = token.source
        if not isinstance(origin, NgramSource):
            continue
        if origin.start > context or origin.ngram > min(origin.start, MAX_NGRAM):
            raise TraceError(
                f"step {step.index}: proposed {place} is copied from token {origin.start} behind "
                f"{origin.ngram} equal ones, but the whole text has {context} tokens and an "
                f"n-gram at most {MAX_NGRAM}"
            )


def _check_memory(step: Mapping[str, Any], index: int) -> None:
    parts = step.get("memory")
    if parts is not None and step["memory_bytes"] != sum(
        parts.get(name, 0) for name in ("target_cache_bytes", "draft_cache_bytes", "logits_bytes")
    ):
        raise TraceError(f"step {index}: memory_bytes is not the sum of its parts")


def _check_ids(steps: Sequence[Verified], finished: Finished) -> None:
    start = 0
    for index, step in enumerate(steps):
        ids = step.committed_ids
        if finished.ids[start : start + len(ids)] != ids:
            raise TraceError(f"step {index}: its committed ids are not those of the output")
        start += len(ids)
    if start != len(finished.ids):
        raise TraceError(
            f"the output has {len(finished.ids)} ids, but all {len(steps)} steps commit {start}"
        )


def _check_text(steps: Sequence[Verified], finished: Finished) -> None:
    """The output's text is that of its tokens, and split characters are where they belong."""
    placed = [
        (index, token) for index, step in enumerate(steps) for token in committed_tokens(step)
    ]
    tokens = [token for _, token in placed]
    data = b"".join(token.data for token in tokens)
    joined = "".join(token.text for token in tokens)
    if finished.text not in (joined, data.decode("utf-8", "replace")):
        raise TraceError(
            f"the text of the output is not the decoding of its ids: {shown(finished.text)} "
            f"against {shown(joined)}"
        )
    if data != finished.text.encode("utf-8", "surrogatepass"):
        return  # not plain UTF-8, or bytes not known: nothing to compare each token with
    wanted = split_texts([token.data for token in tokens])
    for (index, token), text in zip(placed, wanted, strict=True):
        if token.text != text:
            raise TraceError(
                f"step {index}: token {token.id} must have the text {shown(text)}, which is "
                f"complete with its bytes, got {shown(token.text)}"
            )


def _check_time(steps: Sequence[Verified], finished: Finished) -> None:
    total_s = fsum(step.seconds for step in steps)
    tolerance = max(TIME_TOLERANCE * finished.decode_s, CLOCK_GRAIN_S)
    if abs(total_s - finished.decode_s) > tolerance:
        raise TraceError(
            f"the times of all {len(steps)} steps add up to {total_s:.6g} s, but decode_s is "
            f"{finished.decode_s:.6g} s; they must agree within {TIME_TOLERANCE:.0%}"
        )


def _check_metrics(steps: Sequence[Verified], metrics: Mapping[str, Any]) -> None:
    counts = count(steps)
    for name in CHECKED_FIGURES:
        if name in metrics and not _agree(metrics[name], getattr(counts, name)):
            raise TraceError(
                f"metrics: {name} is {shown(metrics[name])}, but the steps give "
                f"{shown(getattr(counts, name))}"
            )


def _agree(stored: float | None, found: float | None) -> bool:
    if stored is None or found is None:
        return stored is found
    return isclose(stored, found, rel_tol=1e-6)


def _check_baseline(baseline: Mapping[str, Any], finished: Finished) -> None:
    place = first_difference(baseline["ids"], finished.ids)
    if baseline["first_difference"] != place or baseline["identical"] != (place is None):
        where = "nowhere" if place is None else f"at token {place}"
        raise TraceError(f"baseline: its ids differ {where} from the output's, it says otherwise")
