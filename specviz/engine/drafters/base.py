"""What a drafter is, and what all drafters share: ``Parts``, ``Draft``, ``Drafter``, ``Chain``.

A drafter proposes tokens and learns what became of them. It keeps only its own cache and counts,
changes nothing in any model, and never looks at the verification rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from specviz.config import DecodeConfig
from specviz.engine.context import Context
from specviz.engine.language_model import LanguageModel, Outputs, Want
from specviz.events import Source


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that a method may be built from; a method's card names what it ``needs``.

    Attributes:
        target: the model whose text is wanted.
        config: the settings of the run.
        draft: a smaller model, for drafting.
        vocabulary: how the two tokenizers relate (universal assisted decoding).
        drafter_model: MTP layers, a Gemma 4 assistant or a DFlash drafter: a module that reads
            the target's hidden states.
        drafter_method: the method whose drafts an ensemble verifies.
    """

    target: LanguageModel
    config: DecodeConfig
    draft: LanguageModel | None = None
    vocabulary: Any = None
    drafter_model: nn.Module | None = None
    drafter_method: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """G drafted tokens, in order.

    Attributes:
        ids: target token ids, G of them; empty means a plain step.
        scores: (G, V) processed scores of the drafter, None where it has none.
        probs: (G, V) distribution that each token was drawn from; None under greedy and for
            drafters without one.
        sources: where each token came from.
        num_forwards: forward passes of the drafter in this step.
        num_unsent: tokens drafted beyond ``ids``.
        loose_end: whether the last token may be a word cut short by γ, which the target would
            have said in one token (drafters with other tokens).
    """

    ids: tuple[int, ...] = ()
    scores: Tensor | None = field(default=None, compare=False)
    probs: Tensor | None = field(default=None, compare=False)
    sources: tuple[Source | None, ...] = ()
    num_forwards: int = 0
    num_unsent: int = 0
    loose_end: bool = False

    def distribution(self) -> Tensor | None:
        """q of each drafted token (G, V), None where the drafter has none."""
        if self.probs is not None or self.scores is None:
            return self.probs
        return self.scores.softmax(-1)


class Drafter:
    """A source of drafts. This base proposes nothing, which is plain decoding."""

    want = Want()

    def begin(self, context: Context, outputs: Outputs | None) -> None:
        """Start a run; ``outputs`` are the target's for all of the prompt but its last token."""

    def propose(self, context: Context, gamma: int) -> Draft:
        """Draft up to ``gamma`` ≥ 0 tokens that follow ``context.ids``."""
        return Draft()

    def verify(self, context: Context, draft: Draft) -> Outputs | None:
        """Score the draft with the target, where the drafter has done part of that work already.

        None asks the engine for an ordinary forward pass over the last token and the draft.
        """
        return None

    def commit(self, context: Context, outputs: Outputs, kept: int) -> None:
        """Learn the outcome.

        Args:
            context: with the kept ids appended.
            outputs: of the verification, over the last token and the draft.
            kept: how many of its positions stand before the new last token (accepted drafts + 1,
                or fewer at a cut).
        """

    @property
    def cache_bytes(self) -> int:
        """Bytes of the drafter's own cache."""
        return 0


class Chain:
    """A draft in the making: one token after another, each from the logits before it."""

    def __init__(self, context: Context, vocab_size: int) -> None:
        self.ids: list[int] = []
        self._context = context
        self._vocab_size = vocab_size
        self._scores: list[Tensor] = []
        self._probs: list[Tensor] = []
        self._last_prob: float | None = None

    def add(self, logits: Tensor) -> int:
        """Take the next token from logits (1, V of the drafter): argmax, or a draw from q."""
        context = self._context
        logits = fit_vocabulary(logits, self._vocab_size)
        scores = context.processors.scores(logits, context.ids, self.ids)
        if context.processors.greedy:
            token = int(scores.argmax(-1))
            probs = scores.softmax(-1) if context.config.confidence else None
        else:
            probs = scores.softmax(-1)
            token = int(torch.multinomial(probs[0], 1, generator=context.rng))
            self._probs.append(probs)
        self._scores.append(scores)
        self._last_prob = None if probs is None else float(probs[0, token])
        self.ids.append(token)
        return token

    @property
    def stopped(self) -> bool:
        """Whether drafting on is useless: an end token, or a token that q is not sure of."""
        if not self.ids:
            return False
        unsure = self._last_prob is not None and self._last_prob < self._context.config.confidence
        return unsure or self.ids[-1] in self._context.end_ids

    def draft(self, sources: tuple[Source | None, ...], num_forwards: int) -> Draft:
        """The finished draft."""
        if not self.ids:
            return Draft(num_forwards=num_forwards)
        probs = torch.cat(self._probs) if self._probs else None
        scores = torch.cat(self._scores)
        return Draft(tuple(self.ids), scores, probs, sources, num_forwards)


def fit_vocabulary(logits: Tensor, vocab_size: int) -> Tensor:
    """Logits (n, any V) as (n, ``vocab_size``): padding ids that the target lacks are cut off,
    ids that the drafter lacks get probability 0."""
    missing = vocab_size - logits.shape[-1]
    if missing <= 0:
        return logits[..., :vocab_size]
    return nn.functional.pad(logits, (0, missing), value=float("-inf"))
