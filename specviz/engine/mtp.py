"""The forward pass of multi-token-prediction layers: direct where it agrees, else by the module.

A layer joins the embedding of a token with a hidden state of the token before it and runs one
decoder block. Layer k (0, 1, …) holds an entry for each index t of the text: made from token
t + 1 + k and the output of layer k − 1 at t (of the target itself for k = 0); its logits predict
token t + 2 + k. All layers are kept at the same number of entries.

Shapes: n entries, d hidden size, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers.cache_utils import MtpCache

from specviz.engine.cache import DirectCache, KVCache, ModuleCache
from specviz.engine.direct import DirectDecoder, DirectLayers, rms_norm
from specviz.engine.direct_weights import SUPPORTED, is_plain
from specviz.engine.language_model import LanguageModel, agreement

# Of each module the layers for the direct pass, None where it does not serve it. No value refers
# to its key, so a module that is dropped elsewhere is dropped here.
_prepared: WeakKeyDictionary[nn.Module, DirectLayers | None] = WeakKeyDictionary()


class MtpStack(Protocol):
    """K layers, run one at a time.

    Attributes:
        num_layers: K.
    """

    num_layers: int

    def new_cache(self, capacity: int) -> KVCache:
        """An empty cache for all layers."""

    def run(
        self, index: int, hidden: Tensor, ids: Sequence[int], cache: KVCache, start: int
    ) -> Tensor:
        """Layer ``index`` on the entries ``start``, ``start + 1``, …

        Args:
            hidden: (n, d), output of the layer before.
            ids: the n tokens that stand ``index`` + 1 places further.
            cache: holds ``start`` entries of this layer; gets the n new ones.

        Returns:
            (n, d), input of the next layer and of ``logits``.
        """

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits (n, V) of outputs (n, d)."""


class DirectMtp:
    """Runs the layers by their weights.

    Positions count from 0 in every layer although layer k stands k + 1 places further: rotary
    attention depends on differences only.
    """

    def __init__(self, module: Any, layers: DirectLayers, decoder: DirectDecoder) -> None:
        self.num_layers = len(module.layers)
        self._module, self._layers, self._decoder = module, layers, decoder

    def new_cache(self, capacity: int) -> DirectCache:
        """See ``MtpStack``."""
        return self._layers.new_cache(capacity)

    def run(
        self, index: int, hidden: Tensor, ids: Sequence[int], cache: KVCache, start: int
    ) -> Tensor:
        """See ``MtpStack``."""
        assert isinstance(cache, DirectCache)
        layer, eps = self._module.layers[index], self._layers.eps
        embedded = rms_norm(self._decoder.embed(ids), layer.enorm.weight, eps)
        joined = torch.cat([embedded, rms_norm(hidden, layer.hnorm.weight, eps)], -1)  # (n, 2 d)
        mixed = F.linear(joined, layer.eh_proj.weight)
        mixed = self._layers.run(mixed, index, index + 1, cache, start)
        return rms_norm(mixed, layer.post_norm.weight, eps)

    def logits(self, hidden: Tensor) -> Tensor:
        """See ``MtpStack``."""
        return self._decoder.head(hidden)


class ModuleMtp:
    """Runs the layers through ``MtpModel``."""

    def __init__(self, module: Any, target: LanguageModel) -> None:
        self.num_layers = len(module.layers)
        self._module, self._target = module, target
        self._device = next(module.layers.parameters()).device

    def new_cache(self, capacity: int) -> ModuleCache:
        """See ``MtpStack``."""
        return ModuleCache(self._target.module, MtpCache(config=self._module.config))

    def run(
        self, index: int, hidden: Tensor, ids: Sequence[int], cache: KVCache, start: int
    ) -> Tensor:
        """See ``MtpStack``."""
        assert isinstance(cache, ModuleCache)
        first = start + index + 1
        positions = torch.arange(first, first + len(ids), device=self._device)[None]
        inputs = torch.tensor([ids], device=self._target.device)
        hidden = hidden[None].to(self._device)
        mixed: Tensor = self._module.forward_layer(
            index, hidden, positions, cache.inner, input_ids=inputs
        )
        return mixed[0]

    def logits(self, hidden: Tensor) -> Tensor:
        """See ``MtpStack``."""
        logits: Tensor = self._module._project_to_logits(hidden)
        return logits.to(self._target.device)


def mtp_stack(module: nn.Module, target: LanguageModel) -> MtpStack:
    """The fastest way to run the layers that agrees with the module.

    Args:
        module: Transformers' ``MtpModel`` of the target; read and compared the first time only.
    """
    by_module = ModuleMtp(module, target)
    decoder = target.decoder
    if decoder is None:
        return by_module
    if module not in _prepared:
        _prepared[module] = _checked(module, by_module, decoder)
    layers = _prepared[module]
    return by_module if layers is None else DirectMtp(module, layers, decoder)


def _checked(module: Any, by_module: ModuleMtp, decoder: DirectDecoder) -> DirectLayers | None:
    """The layers for the direct pass, None where it does not serve them or differs."""
    config = module.config
    known = config.model_type in SUPPORTED and not getattr(config, "sliding_window", None)
    blocks = [layer.mtp_block for layer in module.layers]
    plain_norms = module.use_post_norm and not module.use_shared_post_norm
    if not known or not plain_norms or not all(is_plain(block.self_attn) for block in blocks):
        return None
    layers = DirectLayers(config, blocks, module.rotary_emb)
    expected = _probe(by_module, decoder)
    gap = (_probe(DirectMtp(module, layers, decoder), decoder) - expected).abs().max()
    close = float(gap / expected.std().clamp_min(1e-6)) <= agreement(decoder.dtype)
    return layers if close else None


@torch.inference_mode()
def _probe(stack: MtpStack, decoder: DirectDecoder) -> Tensor:
    """Outputs of all layers for seven fixed entries, fed in three parts, (7 K, d)."""
    cache, rows, ids = stack.new_cache(8), [], [1, 0, 2, 0, 1, 1, 2]
    embedded = decoder.embed(ids)
    for start, stop in ((0, 4), (4, 5), (5, 7)):
        hidden = embedded[start:stop]
        for index in range(stack.num_layers):
            hidden = stack.run(index, hidden, ids[start:stop], cache, start)
            rows.append(hidden)
        cache.extend(stop)
    return torch.cat(rows).float()
