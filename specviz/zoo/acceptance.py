"""Acceptance rates without an engine: one teacher-forced pass instead of many draft rounds.

Under greedy decoding the text is the target's own; a draft token is tested only after all drafts
before it were right, so its context is that text too. Whether each draft would be right is
therefore known from one pass over the finished text, and `walk` only replays the rounds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

DraftCheck = Callable[[int, int], bool | None]
"""From (position of the last known token, depth) to: right, wrong, or nothing drafted."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of draft rounds."""

    tested: int = 0
    accepted: int = 0
    rounds: int = 0
    emitted: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.tested + other.tested,
            self.accepted + other.accepted,
            self.rounds + other.rounds,
            self.emitted + other.emitted,
        )

    @property
    def acceptance_rate(self) -> float:
        """Accepted over tested draft tokens."""
        return self.accepted / self.tested if self.tested else 0.0

    @property
    def block_efficiency(self) -> float:
        """Tokens emitted per target pass."""
        return self.emitted / self.rounds if self.rounds else 0.0


def walk(check: DraftCheck, *, first: int, last: int, gamma: int) -> Tally:
    """Replay draft rounds over a finished text.

    Args:
        check: tells whether a draft is right.
        first: index of the last token of the prompt.
        last: index of the last token of the text.
        gamma: draft tokens per round.
    """
    tested = accepted = rounds = 0
    at = first
    while at < last:
        rounds += 1
        right = 0
        for depth in range(min(gamma, last - at - 1)):
            verdict = check(at, depth)
            if verdict is None:
                break
            tested += 1
            if not verdict:
                break
            right += 1
        accepted += right
        at += right + 1
    return Tally(tested, accepted, rounds, last - first)


def from_choices(choices: Tensor, ids: Sequence[int]) -> DraftCheck:
    """Drafts of a model that reads the plain text: `choices[t]` is its token after ids[: t + 1]."""
    chosen = choices.tolist()
    return lambda at, depth: chosen[at + depth] == ids[at + depth + 1]


def from_depths(choices: Sequence[Tensor], ids: Sequence[int], *, offset: int) -> DraftCheck:
    """Drafts of a model with one set of choices per depth.

    Args:
        choices: `choices[j][i]` is the token drafted at depth j in the round of index i.
        ids: the finished text.
        offset: the round after known token `at` has index `at - offset`.
    """
    chosen = [choice.tolist() for choice in choices]

    def check(at: int, depth: int) -> bool | None:
        index = at - offset
        if depth >= len(chosen) or not 0 <= index < len(chosen[depth]):
            return None
        return chosen[depth][index] == ids[at + depth + 1]

    return check


def from_lookup(ids: Sequence[int], *, max_ngram: int = 3) -> DraftCheck:
    """Drafts copied from after the first earlier occurrence of the last n tokens."""
    found: dict[int, int | None] = {}

    def source(at: int) -> int | None:
        for n in range(max_ngram, 0, -1):
            tail = list(ids[at - n + 1 : at + 1])
            for begin in range(at - n + 1):
                if list(ids[begin : begin + n]) == tail:
                    return begin + n
        return None

    def check(at: int, depth: int) -> bool | None:
        if at not in found:
            found[at] = source(at)
        begin = found[at]
        if begin is None or begin + depth > at:
            return None
        return ids[begin + depth] == ids[at + depth + 1]

    return check


def overlap(target: Tensor, draft: Tensor) -> Tensor:
    """Chance of acceptance at temperature 1 per position: sum of min(p, q) over (..., V) logits."""
    return torch.minimum(target.softmax(-1), draft.softmax(-1)).sum(-1)
