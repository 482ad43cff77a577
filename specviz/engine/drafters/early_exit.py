"""Self-speculative decoding with an early exit.

The target's own first E layers, with its final norm and head, draft; the whole target verifies.
Both work on one cache: what the first layers computed for a drafted token is not computed again, so
verification runs the first E layers for the last draft only and the layers above for all. It needs
no second model, but a checkpoint trained so that its early layers can already speak.

Source: Elhoushi et al., arXiv 2404.16710 (LayerSkip), section 4.3.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.config import MethodCard
from specviz.engine.cache import DirectCache
from specviz.engine.context import Context
from specviz.engine.direct import DirectDecoder
from specviz.engine.drafters.base import Chain, Draft, Drafter, Parts
from specviz.engine.drafters.speculative import ModelDrafter
from specviz.engine.language_model import LanguageModel, Outputs
from specviz.errors import SettingError
from specviz.events import LayerSource

METHOD = MethodCard(
    key="early_exit",
    title="Early exit",
    summary="The target's own first layers draft, all of its layers verify.",
    paper="Elhoushi et al. 2024, arXiv 2404.16710",
    provides_probs=True,
    needs=frozenset({"exit_layer"}),
    settings=("gamma", "schedule", "confidence", "exit_layer"),
    order=30,
)


class SharedCacheExit(Drafter):
    """Drafts into the target's own cache and hands the finished part to verification."""

    def __init__(self, decoder: DirectDecoder, target: LanguageModel, exit_layer: int) -> None:
        self._decoder = decoder
        self._num_layers = target.num_layers
        self._vocab_size = target.vocab_size
        self._exit_layer = exit_layer
        self._hidden: list[Tensor] = []

    def propose(self, context: Context, gamma: int) -> Draft:
        """Run layers 1 … E token by token; keep their outputs for the verification."""
        chain, self._hidden = Chain(context, self._vocab_size), []
        start, token = len(context.ids) - 1, context.ids[-1]
        while len(chain.ids) < gamma and not chain.stopped:
            hidden = self._lower([token], context, start + len(chain.ids))
            self._hidden.append(hidden)
            token = chain.add(self._decoder.head(self._decoder.norm(hidden)))
        source = LayerSource(depth=self._exit_layer)
        return chain.draft((source,) * len(chain.ids), len(chain.ids))

    def verify(self, context: Context, draft: Draft) -> Outputs | None:
        """Lower layers for what has not passed them, upper layers for all, logits for all."""
        if not draft.ids:
            return None
        start = len(context.ids) - 1
        missing = [context.ids[-1], *draft.ids][len(self._hidden) :]
        lower = self._lower(missing, context, start + len(self._hidden))
        hidden = torch.cat([*self._hidden, lower])
        cache = _direct(context)
        hidden = self._decoder.run(hidden, self._exit_layer, self._num_layers, cache, start)
        cache.extend(start + hidden.shape[0])
        return Outputs(self._decoder.head(self._decoder.norm(hidden)))

    def _lower(self, ids: list[int], context: Context, start: int) -> Tensor:
        embedded = self._decoder.embed(ids)
        return self._decoder.run(embedded, 0, self._exit_layer, _direct(context), start)


def _direct(context: Context) -> DirectCache:
    assert isinstance(context.cache, DirectCache)
    return context.cache


def default_exit_layer(num_layers: int) -> int:
    """A quarter of the depth, at least one layer."""
    return max(1, num_layers // 4)


def build(parts: Parts) -> Drafter:
    """A drafter that shares the target's cache, or its weights where the cache cannot be shared.

    Raises:
        SettingError: the exit layer is not below the target's depth.
    """
    target, asked = parts.target, parts.config.exit_layer
    exit_layer = default_exit_layer(target.num_layers) if asked is None else asked
    if not 1 <= exit_layer < target.num_layers:
        raise SettingError(
            f"exit_layer must be from 1 to {target.num_layers - 1} for this target of "
            f"{target.num_layers} layers, got {exit_layer}"
        )
    if target.decoder is not None:
        return SharedCacheExit(target.decoder, target, exit_layer)
    source = LayerSource(depth=exit_layer)
    return ModelDrafter(target.first_layers(exit_layer), target.vocab_size, source)
