"""Speculative decoding with a draft model.

A smaller model with the same tokenizer writes γ tokens one by one; the target scores all of them in
one forward pass and keeps the prefix that its own distribution allows. The draft model pays off
when it is much cheaper than the target and guesses well.

Source: Leviathan et al., arXiv 2211.17192, algorithm 1; Chen et al., arXiv 2302.01318.
"""

from __future__ import annotations

from specviz.config import MethodCard
from specviz.engine.cache import KVCache
from specviz.engine.context import Context
from specviz.engine.drafters.base import Chain, Draft, Drafter, Parts
from specviz.engine.language_model import LanguageModel, Outputs
from specviz.events import Source

METHOD = MethodCard(
    key="speculative",
    title="Speculative decoding",
    summary="A smaller model with the same tokenizer drafts, the target verifies.",
    paper="Leviathan et al. 2023, arXiv 2211.17192",
    provides_probs=True,
    needs=frozenset({"draft_model"}),
    settings=("gamma", "schedule", "confidence"),
    order=10,
)


class ModelDrafter(Drafter):
    """Drafts with a language model that keeps its own cache of the accepted tokens."""

    def __init__(self, model: LanguageModel, vocab_size: int, source: Source | None = None) -> None:
        self._model = model
        self._vocab_size = vocab_size
        self._source = source
        self._cache: KVCache = model.new_cache(1)

    def begin(self, context: Context, outputs: Outputs | None) -> None:
        """Read the prompt, all but its last token."""
        self._cache = self._model.new_cache(context.capacity)
        if context.prompt_length > 1:
            self._model.prefill(context.ids[:-1], self._cache)

    def propose(self, context: Context, gamma: int) -> Draft:
        """Feed what the cache lacks (one token, or two after full acceptance), then draft."""
        chain, forwards = Chain(context, self._vocab_size), 0
        inputs = context.ids[self._cache.length :]
        while forwards < gamma and not chain.stopped:
            token = chain.add(self._model.forward(inputs, self._cache).logits)
            inputs, forwards = [token], forwards + 1
        return chain.draft((self._source,) * len(chain.ids), forwards)

    def commit(self, context: Context, outputs: Outputs, kept: int) -> None:
        """Forget the drafts that were not kept."""
        self._cache.crop(min(self._cache.length, len(context.ids) - 1))

    @property
    def cache_bytes(self) -> int:
        """Bytes of the draft model's cache."""
        return self._cache.num_bytes


def build(parts: Parts) -> Drafter:
    """A drafter that uses ``parts.draft``."""
    assert parts.draft is not None, "speculative decoding needs a draft model"
    return ModelDrafter(parts.draft, parts.target.vocab_size)
