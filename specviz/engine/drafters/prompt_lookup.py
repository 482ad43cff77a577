"""Prompt lookup decoding: draft by copying.

The last n tokens are searched for earlier in the text, longest n first; what followed them there is
proposed. It costs almost nothing, and pays off where the output repeats its input: summaries,
rewrites, code. Where nothing matches, the step is a plain one.

Source: Saxena 2023, "Prompt Lookup Decoding"; the first match wins, as in Transformers.
"""

from __future__ import annotations

from specviz.config import MethodCard
from specviz.engine.context import Context
from specviz.engine.drafters.base import Draft, Drafter, Parts
from specviz.engine.language_model import Outputs
from specviz.events import NgramSource

METHOD = MethodCard(
    key="prompt_lookup",
    title="Prompt lookup",
    summary="Copies what followed the same words earlier in the text.",
    paper="Saxena 2023; Yang et al. 2023, arXiv 2304.04487",
    settings=("gamma", "schedule", "ngram"),
    order=20,
)


class PromptLookup(Drafter):
    """Finds the last n-gram in an index that grows with the text instead of being re-scanned."""

    def __init__(self, max_ngram: int, vocab_size: int) -> None:
        self._max_ngram = max_ngram
        self._vocab_size = vocab_size
        self._index: dict[tuple[int, ...], int] = {}
        self._indexed = 0

    def begin(self, context: Context, outputs: Outputs | None) -> None:
        """Index the prompt."""
        self._index, self._indexed = {}, 1
        self._extend(context.ids)

    def propose(self, context: Context, gamma: int) -> Draft:
        """Copy up to ``gamma`` tokens from behind the first earlier match."""
        ids = context.ids
        for ngram in range(min(self._max_ngram, len(ids) - 1), 0, -1):
            start = self._index.get(tuple(ids[-ngram:]))
            if start is not None:
                copied = self._usable(context, ids[start : start + gamma])
                source = NgramSource(start=start, ngram=ngram)
                return Draft(tuple(copied), sources=(source,) * len(copied))
        return Draft()

    def commit(self, context: Context, outputs: Outputs, kept: int) -> None:
        """Index the new tokens."""
        self._extend(context.ids)

    def _extend(self, ids: list[int]) -> None:
        """Note for each n-gram that has a successor where that stands; the first place stays."""
        for end in range(self._indexed, len(ids)):
            for ngram in range(1, min(self._max_ngram, end) + 1):
                self._index.setdefault(tuple(ids[end - ngram : end]), end)
        self._indexed = max(self._indexed, len(ids))

    def _usable(self, context: Context, copied: list[int]) -> list[int]:
        """The copy up to an end token or a token that the logits processors forbid."""
        for index, token in enumerate(copied):
            if token in context.end_ids:
                copied = copied[:index]
                break
        allowed = context.processors.num_allowed(context.ids, copied, self._vocab_size)
        return copied[:allowed]


def build(parts: Parts) -> Drafter:
    """A drafter over the run's own text."""
    return PromptLookup(parts.config.ngram, parts.target.vocab_size)
