"""A run beside plain decoding: where their ids part, how close the choice was, and the verdict.

"Identical" is said only of runs whose ids were compared and are equal. In half precision a near
tie may flip, so the gap of the two best target logits at the first difference is given with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite, log
from typing import Any

from specviz.events import Event, Finished, TopToken, Verified
from specviz.metrics import PlainTiming
from specviz.metrics.counts import ratio

SAMPLED_SENTENCE = "sampled runs may differ from each other, which is no fault"


def first_difference(ids_a: Sequence[int], ids_b: Sequence[int]) -> int | None:
    """Index of the first place where two id lists differ, None where they are equal.

    A list that ends earlier differs at its end.
    """
    for index, (a, b) in enumerate(zip(ids_a, ids_b, strict=False)):
        if a != b:
            return index
    return None if len(ids_a) == len(ids_b) else min(len(ids_a), len(ids_b))


def baseline_of(plain_events: Iterable[Event], ids: Sequence[int]) -> dict[str, Any]:
    """The ``baseline`` object of a trace.

    Args:
        plain_events: the events of the plain run.
        ids: the new ids of the run beside it.

    Returns:
        ``ids``, ``decode_s`` and ``seconds_per_token`` of the plain run, ``step_s`` and
        ``verify_s`` (medians of its step and its forward pass), ``identical``,
        ``first_difference`` (index or None), and ``gap``: log(p1/p2) of the plain run's two best
        tokens there, which equals the difference of their logits; None where unknown.
    """
    events = list(plain_events)
    steps = [event for event in events if isinstance(event, Verified)]
    plain_ids = [token_id for step in steps for token_id in step.committed_ids]
    finished = next((event for event in events if isinstance(event, Finished)), None)
    timing = PlainTiming.of_steps(steps)
    decode_s = sum(s.seconds for s in steps) if finished is None else finished.decode_s
    place = first_difference(plain_ids, ids)
    return {
        "ids": plain_ids,
        "decode_s": decode_s,
        "seconds_per_token": ratio(decode_s, len(plain_ids)),
        "step_s": timing.step_s,
        "verify_s": timing.forward_s,
        "identical": place is None,
        "first_difference": place,
        "gap": None if place is None else _gap_at(steps, place),
    }


def verdict_text(baseline: Mapping[str, Any], sampled: bool) -> str:
    """The comparison in words.

    Args:
        baseline: as made by ``baseline_of``.
        sampled: whether the run drew its tokens (temperature above 0).

    Returns:
        ``identical``, ``first difference at token n (gap g)``, or for sampled runs a neutral
        sentence: they promise the same distribution, not the same text.
    """
    if sampled:
        return SAMPLED_SENTENCE
    place = baseline["first_difference"]
    if place is None:
        return "identical"
    gap = baseline["gap"]
    words = "gap unknown" if gap is None else f"gap {gap:.3g}"
    return f"first difference at token {place} ({words})"


def _gap_at(steps: Iterable[Verified], place: int) -> float | None:
    tops = list(_committed_tops(steps))
    if place >= len(tops):
        return None
    probs = sorted((top.prob for top in tops[place]), reverse=True)[:2]
    if len(probs) < 2 or not probs[1] > 0:
        return None
    gap = log(probs[0] / probs[1])
    return gap if isfinite(gap) else None


def _committed_tops(steps: Iterable[Verified]) -> Iterator[tuple[TopToken, ...]]:
    for step in steps:
        yield from (token.target_top for token in step.accepted)
        if step.target_token is not None:
            yield step.target_token.target_top
