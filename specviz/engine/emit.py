"""Tensors to events: the only place where probabilities are unpacked into plain numbers.

Everything here happens while the run's clock is stopped. Numbers that no rule has (an accept
probability under a cut, q of a copied token) are None, never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specviz.engine.context import Commit
from specviz.engine.drafters.base import Draft
from specviz.engine.verifiers.base import Verdict
from specviz.events import Drafted, DraftToken, Fate, TargetToken, TopToken

NUM_TOP = 5


@dataclass(frozen=True, slots=True)
class Rows:
    """Plain numbers of the rows of a distribution (n, V)."""

    top: tuple[tuple[TopToken, ...], ...]
    entropy: tuple[float, ...]


def rows_of(probs: Tensor) -> Rows:
    """The five most likely tokens and the entropy (nats) of each row."""
    values, ids = probs.topk(min(NUM_TOP, probs.shape[-1]), -1)
    entropy = torch.special.entr(probs).sum(-1).tolist()
    top = tuple(
        tuple(
            TopToken(i, finite(prob))
            for i, prob in zip(row_ids, row_probs, strict=True)
            if prob > 0
        )
        for row_ids, row_probs in zip(ids.tolist(), values.tolist(), strict=True)
    )
    return Rows(top, tuple(entropy))


def drafted(index: int, gamma: int, draft: Draft, seconds: float) -> Drafted:
    """The event of a draft before it is judged: ids and where they came from."""
    tokens = tuple(
        DraftToken(token, parent=i - 1, source=_source(draft, i))
        for i, token in enumerate(draft.ids)
    )
    return Drafted(index, gamma, tokens, seconds, draft.num_forwards)


def judged_tokens(
    draft: Draft, scores: Tensor, verdict: Verdict, commit: Commit, *, greedy: bool
) -> tuple[DraftToken, ...]:
    """The drafted tokens with their fates and numbers; what was not judged has no target's."""
    count = len(draft.ids)
    if not count:
        return ()
    num_judged = _num_judged(verdict, commit, count)
    target = scores[:count].softmax(-1)
    target_rows, draft_probs = rows_of(target), draft.distribution()
    draft_rows = None if draft_probs is None else rows_of(draft_probs)
    target_at, draft_at = _at(target, draft.ids), _at(draft_probs, draft.ids)
    overlaps = _overlaps(target, draft_probs, target_at, verdict, greedy=greedy)
    distances = _distances(target, verdict.judged)
    tokens = []
    for i, token in enumerate(draft.ids):
        judged = i < num_judged
        tokens.append(
            DraftToken(
                id=token,
                parent=i - 1,
                fate=_fate(i, commit, num_judged),
                target_prob=target_at[i] if judged else None,
                draft_prob=draft_at[i],
                accept_prob=verdict.accept_probs[i] if judged else None,
                overlap=overlaps[i] if judged else None,
                draw=verdict.draws[i] if judged and verdict.draws else None,
                target_top=target_rows.top[i] if judged else (),
                draft_top=draft_rows.top[i] if draft_rows else (),
                target_entropy=target_rows.entropy[i] if judged else None,
                draft_entropy=draft_rows.entropy[i] if draft_rows else None,
                total_variation=distances[i] if judged and distances else None,
                target_choice=target_rows.top[i][0].id if judged else None,
                source=_source(draft, i),
            )
        )
    return tuple(tokens)


def target_token(
    draft: Draft, scores: Tensor, verdict: Verdict, commit: Commit
) -> TargetToken | None:
    """The target's own token of the step, None where the block was cut."""
    if commit.cut is not None:
        return None
    position = verdict.num_accepted
    probs = scores[position].softmax(-1)[None]
    rows = rows_of(probs)
    residual_top = () if verdict.residual is None else rows_of(verdict.residual[None]).top[0]
    return TargetToken(
        id=verdict.next_id,
        fate=Fate.BONUS if position == len(draft.ids) else Fate.RESIDUAL,
        target_prob=finite(float(probs[0, verdict.next_id])),
        residual_top=residual_top,
        target_top=rows.top[0],
        target_entropy=rows.entropy[0],
    )


def finite(number: float) -> float:
    """A number that JSON can carry; processed probabilities always are, so this only asserts."""
    assert math.isfinite(number), number
    return number


def _num_judged(verdict: Verdict, commit: Commit, count: int) -> int:
    """Accepted and kept, and the rejected one if the block was not cut before it."""
    if commit.cut is not None:
        return commit.num_accepted
    return min(verdict.num_accepted + 1, count)


def _fate(index: int, commit: Commit, num_judged: int) -> Fate:
    if index < commit.num_accepted:
        return Fate.ACCEPTED
    return Fate.REJECTED if index < num_judged else Fate.DISCARDED


def _at(probs: Tensor | None, ids: Sequence[int]) -> list[float | None]:
    if probs is None:
        return [None] * len(ids)
    return probs[torch.arange(len(ids)), torch.tensor(ids)].tolist()


def _overlaps(
    target: Tensor,
    draft_probs: Tensor | None,
    target_at: list[float | None],
    verdict: Verdict,
    *,
    greedy: bool,
) -> list[float | None]:
    """Chance of acceptance per position: Σ min(p, q), with the mixture for p in an ensemble;
    0 or 1 under greedy, p(token) where q is one-hot."""
    if greedy:
        chances: list[float | None] = [*verdict.accept_probs]
        return chances + [None] * (len(target_at) - len(chances))
    if draft_probs is None:
        return target_at
    held_to = target if verdict.judged is None else verdict.judged
    shared = torch.minimum(held_to, draft_probs[: held_to.shape[0]])
    return shared.sum(-1).clamp(max=1).tolist()


def _distances(target: Tensor, judged: Tensor | None) -> list[float] | None:
    """Total variation between the realised distribution and p, None for lossless rules."""
    if judged is None:
        return None
    return (0.5 * (target[: judged.shape[0]] - judged).abs().sum(-1)).tolist()


def _source(draft: Draft, index: int):  # type: ignore[no-untyped-def]
    return draft.sources[index] if index < len(draft.sources) else None
