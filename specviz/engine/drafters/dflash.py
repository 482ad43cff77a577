"""Block drafting with hidden states of several target layers (DFlash).

A small drafter reads the outputs of several layers of the target as its context and fills a block
of mask tokens behind the last token in a single forward pass, each position at once, with the
target's own embedding and head. The target then verifies the block like any other draft. However
long the block, drafting costs one pass; the price is that its tokens do not see one another.

Source: Chen et al., arXiv 2602.06036; Transformers' ``speculation_type="dflash"``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers.cache_utils import DFlashCache

from specviz.config import MethodCard
from specviz.engine.cache import ModuleCache
from specviz.engine.context import Context
from specviz.engine.drafters.base import Chain, Draft, Drafter, Parts
from specviz.engine.language_model import PREFILL_CHUNK, LanguageModel, Outputs, Want
from specviz.events import LayerSource

METHOD = MethodCard(
    key="dflash",
    title="Block drafter",
    summary="A drafter that reads several layers of the target fills a whole block at once.",
    paper="Chen et al. 2026, arXiv 2602.06036",
    provides_probs=True,
    needs=frozenset({"dflash_drafter"}),
    settings=("gamma", "schedule", "confidence"),
    order=60,
)


class BlockDrafter(Drafter):
    """Drafts up to block size − 1 tokens per pass; its cache holds the context only."""

    def __init__(self, module: Any, target: LanguageModel) -> None:
        """``module``: a DFlash model whose config names block size, mask token and layers."""
        config = module.config
        self._module, self._target = module, target
        self._embedding = target.module.get_input_embeddings()
        self._head = target.module.get_output_embeddings()
        self._masks = [int(config.mask_token_id)] * (int(config.block_size) - 1)
        layers = [index + 1 for index in config.target_layer_ids]
        self.want = Want(taps=tuple(sorted(set(layers))))
        self._order = [self.want.taps.index(layer) for layer in layers]
        self._cache = ModuleCache(module, DFlashCache(config=config))
        self._context: Tensor | None = None  # (m, layers · d), of tokens behind the cache

    def begin(self, context: Context, outputs: Outputs | None) -> None:
        """Read the prompt, all but the last state, which goes with the first draft."""
        self._cache = ModuleCache(self._module, DFlashCache(config=self._module.config))
        self._context = None if outputs is None else self._joined(outputs)
        if self._context is None:
            return
        whole = self._context.shape[0] - 1
        for start in range(0, whole, PREFILL_CHUNK):
            states = self._context[start : min(start + PREFILL_CHUNK, whole)]
            self._fill(states, context.ids[start + len(states)], masks=[])
        self._context = self._context[whole:]

    def propose(self, context: Context, gamma: int) -> Draft:
        """Fill one block; its first γ tokens are the draft."""
        states, chain = self._context, Chain(context, self._target.vocab_size)
        if states is None:
            return Draft()
        filled = self._fill(states, context.ids[-1], self._masks)
        self._context = states[:0]
        logits = self._head(filled[:gamma].to(self._target.device))
        for row in logits.split(1):
            if not chain.stopped:
                chain.add(row)
        return chain.draft(tuple(LayerSource(depth=i + 1) for i in range(len(chain.ids))), 1)

    def commit(self, context: Context, outputs: Outputs, kept: int) -> None:
        """Take over the states of what was kept."""
        states = self._joined(outputs)[:kept]
        self._context = states if self._context is None else torch.cat([self._context, states])

    @property
    def cache_bytes(self) -> int:
        """Bytes of the drafter's cache."""
        return self._cache.num_bytes

    def _joined(self, outputs: Outputs) -> Tensor:
        """States of the wanted layers side by side, (n, layers · d)."""
        return torch.cat([outputs.taps[index] for index in self._order], -1)

    def _fill(self, states: Tensor, anchor: int, masks: list[int]) -> Tensor:
        """One pass over new context and a block; the cache keeps the context only.

        Args:
            states: (m, layers · d), of the m tokens that follow what the cache holds.
            anchor: the token behind them.
            masks: mask tokens behind the anchor.

        Returns:
            Outputs at the masks, (masks, d).
        """
        length, device = self._cache.length + states.shape[0], self._module.device
        block = torch.tensor([[anchor, *masks]], device=self._target.device)
        positions = torch.arange(self._cache.length, length + block.shape[1], device=device)
        self._cache.inner.set_previous_accepted_tokens(states.shape[0])
        found = self._module(
            noise_embeds=_embedded(self._embedding, block).to(device),
            context_hidden_states=states[None].to(device),
            position_ids=positions[None],
            attention_mask=None,
            cache=self._cache.inner,
        )
        self._cache.extend(length + block.shape[1])
        self._cache.crop(length)
        filled: Tensor = found.last_hidden_state[0, 1:]
        return filled


def _embedded(embedding: nn.Module, ids: Tensor) -> Tensor:
    """Embeddings without the norm that some models apply to theirs."""
    if isinstance(embedding, nn.Embedding) and hasattr(embedding, "embed_norm"):
        return nn.Embedding.forward(embedding, ids)
    embedded: Tensor = embedding(ids)
    return embedded


def build(parts: Parts) -> Drafter:
    """A drafter that uses ``parts.drafter_model``, a DFlash model of the target."""
    assert parts.drafter_model is not None, "dflash needs the drafter of the target"
    return BlockDrafter(parts.drafter_model, parts.target)
