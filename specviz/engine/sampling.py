"""From logits to processed distributions, draws and residuals.

Transformers' own logits processors are used, in the order of ``generate()``: repetition penalty,
n-gram ban, banned words, minimum length, then (with sampling) temperature, top-k, top-p. They are
applied to the target's and to the draft model's logits alike, each row with the prefix that
stands before its position.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers.generation.logits_process import (
    LogitsProcessor,
    MinNewTokensLengthLogitsProcessor,
    NoBadWordsLogitsProcessor,
    NoRepeatNGramLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from specviz.config import DecodeConfig


class Processors:
    """The logits processors of one run."""

    def __init__(
        self,
        config: DecodeConfig,
        *,
        prompt_length: int,
        end_ids: Sequence[int],
        device: torch.device,
    ) -> None:
        self.greedy = config.greedy
        self._device = device
        self._with_history = _history_processors(config, prompt_length, end_ids, device)
        self._per_row = [] if config.greedy else _row_processors(config)

    def scores(self, logits: Tensor, prefix: Sequence[int], drafts: Sequence[int] = ()) -> Tensor:
        """Processed scores, float32, the same shape as ``logits``.

        Args:
            logits: (n, V); row i stands after ``prefix`` and the first i of ``drafts``.
            prefix: all ids before row 0.
            drafts: at least n − 1 ids.
        """
        scores = logits.to(self._device, torch.float32)
        if self._with_history:
            scores = self._apply_history(scores, prefix, drafts)
        for processor in self._per_row:
            scores = processor(None, scores)
        return scores

    def num_allowed(self, prefix: Sequence[int], drafts: Sequence[int], vocab_size: int) -> int:
        """How many of ``drafts`` come before the first one that a processor forbids."""
        if not self._with_history or not drafts:
            return len(drafts)
        level = torch.zeros(len(drafts), vocab_size, device=self._device)
        rows = self._apply_history(level, prefix, drafts)
        picked = rows[torch.arange(len(drafts)), torch.tensor(drafts)]
        return int(picked.isfinite().cumprod(0).sum())

    def _apply_history(
        self, scores: Tensor, prefix: Sequence[int], drafts: Sequence[int]
    ) -> Tensor:
        ids = torch.tensor([*prefix, *drafts], device=self._device)[None]
        base, rows = len(prefix), []
        for i in range(scores.shape[0]):
            row = scores[i : i + 1]
            for processor in self._with_history:
                row = processor(ids[:, : base + i], row)
            rows.append(row)
        return torch.cat(rows)


def _history_processors(
    config: DecodeConfig, prompt_length: int, end_ids: Sequence[int], device: torch.device
) -> list[LogitsProcessor]:
    found: list[LogitsProcessor] = []
    ends = list(end_ids)
    if config.repetition_penalty != 1:
        found.append(RepetitionPenaltyLogitsProcessor(float(config.repetition_penalty)))
    if config.no_repeat_ngram_size:
        found.append(NoRepeatNGramLogitsProcessor(config.no_repeat_ngram_size))
    if config.bad_words_ids:
        words = [list(word) for word in config.bad_words_ids]
        found.append(NoBadWordsLogitsProcessor(words, ends or None))
    if config.min_new_tokens and ends:
        found.append(
            MinNewTokensLengthLogitsProcessor(
                prompt_length, config.min_new_tokens, ends, device=str(device)
            )
        )
    return found


def _row_processors(config: DecodeConfig) -> list[LogitsProcessor]:
    found: list[LogitsProcessor] = []
    if config.temperature != 1:
        found.append(TemperatureLogitsWarper(float(config.temperature)))
    if config.top_k:
        found.append(TopKLogitsWarper(config.top_k))
    if config.top_p < 1:
        found.append(TopPLogitsWarper(float(config.top_p)))
    return found


def draw(probs: Tensor, rng: torch.Generator) -> int:
    """One id from unnormalised probabilities (V,)."""
    return int(torch.multinomial(probs, 1, generator=rng))


def residual(target: Tensor, draft: Tensor) -> Tensor:
    """norm(max(0, p − q)), (V,); p itself where p = q, so that a draw is always possible.

    Source: Leviathan et al., arXiv 2211.17192, section 2.3.
    """
    rest = (target - draft).clamp_(min=0)
    total = rest.sum()
    return rest / total if float(total) > 0 else target


def one_hot_residual(target: Tensor, token: int) -> Tensor:
    """The residual where q is certain of ``token``: p without it, normalised."""
    rest = target.clone()
    rest[token] = 0
    total = rest.sum()
    return rest / total if float(total) > 0 else target
