"""Counts and rates of a run: events -> counts -> rates.

Names and definitions are those of the metrics table: the target's own token is no draft, so it is
in ``block_efficiency`` and in no rate; a step without proposals is in "steps" and in no rate; a
step cut short counts for every rate and for ``block_efficiency``, but is no full step. A rate
without a denominator is None. Times are in ``timing``, closed forms in ``theory``. This module
must not know models, tokenizers, torch or the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum

from specviz.events import DraftToken, Fate, Verified

JUDGED = (Fate.ACCEPTED, Fate.REJECTED)


@dataclass(frozen=True, slots=True)
class PositionRate:
    """Acceptance at one place of the draft.

    Attributes:
        position: place in the draft, 1 = the first drafted token.
        num_proposed: steps that proposed at least this many tokens.
        num_judged: those of them whose token here was accepted or rejected.
        num_accepted: those of them whose token here was accepted.
        rate: ``num_accepted / num_proposed``.
        conditional_rate: ``num_accepted / num_judged``: the chance here, given that every earlier
            token of the draft was accepted; None where nothing was judged.
    """

    position: int
    num_proposed: int
    num_judged: int
    num_accepted: int
    rate: float | None
    conditional_rate: float | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Exact counts of a run and the rates that follow from them.

    Attributes:
        num_steps: target steps.
        num_full_steps: steps that were not cut short by an end token, a stop or the limit.
        num_target_only_steps: steps without proposals.
        num_proposed: drafted ids sent to the target; = accepted + rejected + discarded.
        num_judged: accepted + rejected.
        num_discarded: proposed behind a rejection or a cut, so never judged.
        num_unsent: drafted ids that were never sent to the target ("drafted, not sent").
        num_residual, num_bonus: the target's own tokens, by kind.
        num_tokens: committed ids, the target's own included.
        num_lossy_accepted: accepted ids that differ from ``target_choice`` where the rule in force
            changes the distribution (``total_variation`` above 0).
        acceptance_rate: α̂ = Σ accepted / Σ judged.
        draft_yield: Σ accepted / Σ proposed.
        block_efficiency: τ = Σ committed / steps; plain decoding has 1.
        block_efficiency_full_steps: the same over full steps only.
        mean_proposed: Σ proposed / steps.
        mean_overlap: β = mean of Σ min(p, q) over judged positions that report it.
        mean_total_variation: mean distance between judged and target distribution, over judged
            positions that report it; 0 where the rule is lossless.
        acceptance_by_position: one ``PositionRate`` per place that was ever proposed.
        accepted_histogram: number of steps with 0, 1, 2, … accepted tokens; sums to ``num_steps``.
    """

    num_steps: int
    num_full_steps: int
    num_target_only_steps: int
    num_proposed: int
    num_judged: int
    num_accepted: int
    num_rejected: int
    num_discarded: int
    num_unsent: int
    num_residual: int
    num_bonus: int
    num_tokens: int
    num_draft_forwards: int
    num_target_forwards: int
    num_lossy_accepted: int
    acceptance_rate: float | None
    draft_yield: float | None
    block_efficiency: float | None
    block_efficiency_full_steps: float | None
    mean_proposed: float | None
    mean_overlap: float | None
    mean_total_variation: float | None
    acceptance_by_position: tuple[PositionRate, ...]
    accepted_histogram: tuple[int, ...]


def count(steps: Sequence[Verified]) -> Counts:
    """Count a run.

    Args:
        steps: the steps so far, in order; may be empty.

    Returns:
        Counts, and rates that are None where nothing was counted.
    """
    proposed = [token for step in steps for token in step.proposed]
    judged = [token for token in proposed if token.fate in JUDGED]
    num_accepted = _with_fate(proposed, Fate.ACCEPTED)
    full = [step for step in steps if step.cut is None]
    num_tokens = sum(len(step.committed_ids) for step in steps)
    return Counts(
        num_steps=len(steps),
        num_full_steps=len(full),
        num_target_only_steps=sum(not step.proposed for step in steps),
        num_proposed=len(proposed),
        num_judged=len(judged),
        num_accepted=num_accepted,
        num_rejected=_with_fate(proposed, Fate.REJECTED),
        num_discarded=_with_fate(proposed, Fate.DISCARDED),
        num_unsent=sum(step.num_unsent for step in steps),
        num_residual=_with_target(steps, Fate.RESIDUAL),
        num_bonus=_with_target(steps, Fate.BONUS),
        num_tokens=num_tokens,
        num_draft_forwards=sum(step.num_draft_forwards for step in steps),
        num_target_forwards=sum(step.num_target_forwards for step in steps),
        num_lossy_accepted=sum(is_lossy(token) for token in proposed),
        acceptance_rate=ratio(num_accepted, len(judged)),
        draft_yield=ratio(num_accepted, len(proposed)),
        block_efficiency=ratio(num_tokens, len(steps)),
        block_efficiency_full_steps=ratio(sum(len(s.committed_ids) for s in full), len(full)),
        mean_proposed=ratio(len(proposed), len(steps)),
        mean_overlap=_mean(token.overlap for token in judged),
        mean_total_variation=_mean(token.total_variation for token in judged),
        acceptance_by_position=tuple(_by_position(steps)),
        accepted_histogram=_histogram(steps),
    )


def ratio(part: float, whole: float) -> float | None:
    """``part / whole``, or None where there is nothing to divide by."""
    return part / whole if whole else None


def num_judged(step: Verified) -> int:
    """Proposed tokens of one step that were accepted or rejected."""
    return sum(token.fate in JUDGED for token in step.proposed)


def is_lossy(token: DraftToken) -> bool:
    """Whether a token was kept only because the rule in force is lossy.

    True for an accepted token that is not the target's own choice, at a position where the judged
    distribution is not the target's. Never true under a lossless rule, sampled or not.
    """
    differs = token.target_choice is not None and token.target_choice != token.id
    return token.fate is Fate.ACCEPTED and differs and bool(token.total_variation)


def _with_fate(tokens: Iterable[DraftToken], fate: Fate) -> int:
    return sum(token.fate is fate for token in tokens)


def _with_target(steps: Iterable[Verified], fate: Fate) -> int:
    return sum(step.target_token is not None and step.target_token.fate is fate for step in steps)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return ratio(fsum(known), len(known))


def _by_position(steps: Sequence[Verified]) -> Iterator[PositionRate]:
    longest = max((len(step.proposed) for step in steps), default=0)
    for place in range(longest):
        here = [step.proposed[place] for step in steps if len(step.proposed) > place]
        judged = sum(token.fate in JUDGED for token in here)
        accepted = _with_fate(here, Fate.ACCEPTED)
        yield PositionRate(
            position=place + 1,
            num_proposed=len(here),
            num_judged=judged,
            num_accepted=accepted,
            rate=ratio(accepted, len(here)),
            conditional_rate=ratio(accepted, judged),
        )


def _histogram(steps: Sequence[Verified]) -> tuple[int, ...]:
    sizes = [len(step.accepted) for step in steps]
    return tuple(sizes.count(size) for size in range(max(sizes, default=-1) + 1))


def counted(count: int, noun: str) -> str:
    """``1 token``, ``2 tokens``: an English noun behind its number."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
