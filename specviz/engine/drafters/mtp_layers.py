"""Decoding with multi-token-prediction (MTP) layers of the target's own checkpoint.

K extra layers were trained with the target, the k-th to predict one token further ahead; they read
its last hidden state and share its embedding and head. Each step they draft K tokens in a chain,
one layer per token, and the target verifies. No second model and no second tokenizer is needed, but
the checkpoint must hold the layers.

Source: DeepSeek-V3, arXiv 2412.19437, section 2.2; Gloeckle et al., arXiv 2404.19737.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from specviz.config import MethodCard
from specviz.engine.cache import KVCache
from specviz.engine.context import Context
from specviz.engine.drafters.base import Chain, Draft, Drafter, Parts
from specviz.engine.language_model import PREFILL_CHUNK, Outputs, Want
from specviz.engine.mtp import MtpStack, mtp_stack
from specviz.events import LayerSource

METHOD = MethodCard(
    key="mtp_layers",
    title="MTP layers",
    summary="Extra layers in the target's checkpoint draft one token each, the target verifies.",
    paper="DeepSeek-AI 2024, arXiv 2412.19437",
    provides_probs=True,
    needs=frozenset({"mtp_layers"}),
    settings=("confidence",),
    order=40,
)


class MtpLayersDrafter(Drafter):
    """Drafts with a chain of layers that keep a cache of their own.

    Entry t of layer k was made from the tokens up to t + 1 + k. So behind a rejection the last
    entries are wrong in the deeper layers; they are dropped in all layers, which stay at one
    length, and made again from the hidden states that are kept for it.
    """

    want = Want(hidden=True)

    def __init__(self, stack: MtpStack, vocab_size: int, max_depth: int) -> None:
        """``max_depth``: how many layers this run may ever need; the others are not run."""
        self._stack = stack
        self._vocab_size = vocab_size
        self._max_depth = max_depth
        self._cache: KVCache = stack.new_cache(1)
        self._hidden: Tensor | None = None  # the target's, from entry ``cache.length`` on
        self._assumed: list[int] = []  # the tokens that the entries were made from

    def begin(self, context: Context, outputs: Outputs | None) -> None:
        """Run the layers on the prompt where all know their tokens; the last entry is for later."""
        self._cache = self._stack.new_cache(context.capacity)
        self._assumed = list(context.ids)
        self._hidden = None if outputs is None else outputs.hidden
        if self._hidden is None:
            return
        depth = self._depth(context)
        whole = self._hidden.shape[0] - max(1, depth - 1) if depth > 0 else 0
        for start in range(0, whole, PREFILL_CHUNK):
            stop = min(start + PREFILL_CHUNK, whole)
            hidden = self._hidden[start:stop]
            for index in range(depth):
                ids = context.ids[start + index + 1 : stop + index + 1]
                hidden = self._stack.run(index, hidden, ids, self._cache, start)
            self._cache.extend(stop)
        self._hidden = self._hidden[self._cache.length :]

    def propose(self, context: Context, gamma: int) -> Draft:
        """One token from each layer; all layers run, even if fewer tokens may be sent."""
        hidden = self._hidden
        if hidden is None:
            return Draft()
        chain, depth = Chain(context, self._vocab_size), self._depth(context)
        start = self._cache.length
        num_sent: int | None = None
        for index in range(depth):
            ids = [*context.ids[-len(hidden) :], *chain.ids][-len(hidden) :]
            hidden = self._stack.run(index, hidden, ids, self._cache, start)
            chain.add(self._stack.logits(hidden[-1:]))
            if num_sent is None and chain.stopped:
                num_sent = len(chain.ids)
        self._cache.extend(len(context.ids) - 1)
        self._assumed = [*context.ids, *chain.ids]
        sources = tuple(LayerSource(depth=index + 1) for index in range(depth))
        return _first(chain.draft(sources, depth), min(gamma, num_sent or gamma))

    def commit(self, context: Context, outputs: Outputs, kept: int) -> None:
        """Keep the entries whose tokens have all come true, and the hidden states behind them."""
        assert outputs.hidden is not None
        new = outputs.hidden[:kept]
        self._hidden = new if self._hidden is None else torch.cat([self._hidden, new])
        first = len(context.ids) - 1 - self._hidden.shape[0]  # the entry of the first row
        valid = _common_prefix(self._assumed, context.ids) - self._depth(context)
        self._cache.crop(min(self._cache.length, max(0, valid)))
        self._hidden = self._hidden[self._cache.length - first :]

    @property
    def cache_bytes(self) -> int:
        """Bytes of the layers' cache."""
        return self._cache.num_bytes

    def _depth(self, context: Context) -> int:
        """Layers that this step or a later one needs: never more than tokens still fit."""
        return min(self._max_depth, context.remaining - 1)


def _common_prefix(left: list[int], right: list[int]) -> int:
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return index
    return min(len(left), len(right))


def _first(draft: Draft, count: int) -> Draft:
    """The draft without its tokens behind ``count``, which are counted as not sent."""
    if count >= len(draft.ids) or draft.scores is None:
        return draft
    return replace(
        draft,
        ids=draft.ids[:count],
        scores=draft.scores[:count],
        probs=None if draft.probs is None else draft.probs[:count],
        sources=draft.sources[:count],
        num_unsent=len(draft.ids) - count,
    )


def build(parts: Parts) -> Drafter:
    """A drafter that uses ``parts.drafter_model``, Transformers' ``MtpModel`` of the target."""
    assert parts.drafter_model is not None, "mtp_layers needs the layers of the target"
    stack = mtp_stack(parts.drafter_model, parts.target)
    constant = parts.config.schedule == "constant"
    max_depth = min(stack.num_layers, parts.config.gamma) if constant else stack.num_layers
    return MtpLayersDrafter(stack, parts.target.vocab_size, max_depth)
