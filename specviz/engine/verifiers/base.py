"""What a verification rule is: a pure function of the draft, the target's scores and the draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from specviz.engine.drafters.base import Draft


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome of one verification; nothing has been cut for an end token or a limit yet.

    Attributes:
        num_accepted: length of the accepted prefix, n.
        next_id: the target's token: residual where n is less than drafted, else bonus.
        accept_probs: chance of acceptance of each judged position (n, or n + 1 with a rejection).
        draws: the uniform numbers of the judged positions; empty where none are drawn.
        residual: (V,) distribution that a residual token was drawn from, None otherwise.
        judged: (positions, V) distribution that is realised at the judged positions where it is
            not p (lossy rules), else None.
    """

    num_accepted: int
    next_id: int
    accept_probs: tuple[float, ...] = ()
    draws: tuple[float, ...] = ()
    residual: Tensor | None = field(default=None, compare=False)
    judged: Tensor | None = field(default=None, compare=False)


class Verifier(Protocol):
    """A verification rule.

    Attributes:
        key: name in the trace.
        lossless: whether the output keeps the target's distribution.
    """

    key: str
    lossless: bool

    def judge(self, draft: Draft, scores: Tensor, rng: torch.Generator) -> Verdict:
        """Decide how many of the G drafted tokens stay, and what follows them.

        Args:
            draft: the drafted ids and, where known, their distributions.
            scores: (G + 1, V) processed scores of the target, float32.
            rng: source of all random numbers of the run.
        """
