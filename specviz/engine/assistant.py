"""The forward pass of a Gemma 4 assistant: direct where it agrees, else by the module.

The assistant has queries only. It reads the keys and values that the target's last full and last
sliding layer hold, from one position: that of the last token of the text, however many tokens it
drafts. Of the sliding layer it sees what the target itself would see from there: the window − 1
entries before that position.

Shapes: T entries, b hidden size of the target, H query heads, K key/value heads, D head size.
"""

from __future__ import annotations

from typing import Any, Protocol
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from specviz.engine.direct import DirectLayers, feed_forward, rms_norm, rotate
from specviz.engine.direct_weights import Layer, is_plain
from specviz.engine.language_model import agreement

SharedKV = dict[str, tuple[Tensor, Tensor]]


class Assistant(Protocol):
    """Maps a token's embedding and the state before it to logits and the next state."""

    def step(self, joined: Tensor, kv: SharedKV, position: int) -> tuple[Tensor, Tensor]:
        """One draft step.

        Args:
            joined: (1, 2 b), embedding by the target, then the state before.
            kv: per kind of layer (keys, values), each (1, K, T, D), already within the window.
            position: of the last token of the text.

        Returns:
            Logits (1, V) and the next state (1, b).
        """


class ModuleAssistant:
    """Runs the assistant through its ``forward``."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def step(self, joined: Tensor, kv: SharedKV, position: int) -> tuple[Tensor, Tensor]:
        """See ``Assistant``."""
        found = self._module(
            inputs_embeds=joined[None],
            attention_mask=None,
            position_ids=torch.tensor([[position]], device=self._module.device),
            shared_kv_states=kv,
            use_cache=False,
        )
        return found.logits[0], found.last_hidden_state[0]


class DirectAssistant:
    """Runs the assistant by its weights."""

    def __init__(self, module: Any, layers: DirectLayers) -> None:
        self._module, self._layers = module, layers
        self._norm = module.model.norm.weight
        self._kinds = list(module.model.config.layer_types)

    def step(self, joined: Tensor, kv: SharedKV, position: int) -> tuple[Tensor, Tensor]:
        """See ``Assistant``."""
        hidden = F.linear(joined, self._module.pre_projection.weight)
        for layer, kind in zip(self._layers.layers, self._kinds, strict=True):
            hidden = self._block(hidden, layer, kv[kind], position)
        hidden = rms_norm(hidden, self._norm, self._layers.eps)
        logits = F.linear(hidden, self._module.lm_head.weight)
        return logits, F.linear(hidden, self._module.post_projection.weight)

    def _block(
        self, hidden: Tensor, layer: Layer, kv: tuple[Tensor, Tensor], position: int
    ) -> Tensor:
        eps = self._layers.eps
        mixed = self._attend(rms_norm(hidden, layer.attention_norm, eps), layer, kv, position)
        hidden = hidden + rms_norm(mixed, layer.after_attention_norm, eps)
        mixed = feed_forward(rms_norm(hidden, layer.mlp_norm, eps), layer)
        hidden = hidden + rms_norm(mixed, layer.after_mlp_norm, eps)
        return hidden if layer.output_scale is None else hidden * layer.output_scale

    def _attend(
        self, normed: Tensor, layer: Layer, kv: tuple[Tensor, Tensor], position: int
    ) -> Tensor:
        keys, values = kv
        queries = F.linear(normed, layer.qkv, layer.qkv_bias).view(1, layer.num_heads, -1)
        if layer.qk_norm is not None:
            queries = rms_norm(queries, layer.qk_norm, self._layers.eps)
        queries = rotate(queries, *self._layers.rotary(layer.kind, position, position + 1))
        # Queries that share a key/value head become rows of it.
        queries = queries.view(1, keys.shape[1], -1, layer.head_dim)  # (1, K, H / K, D)
        mixed = F.scaled_dot_product_attention(queries, keys, values, scale=layer.scaling)
        return F.linear(mixed.reshape(1, -1), layer.out, layer.out_bias)


# Of each module the layers for the direct pass, None where it does not serve it. No value refers
# to its key, so a module that is dropped elsewhere is dropped here.
_prepared: WeakKeyDictionary[nn.Module, DirectLayers | None] = WeakKeyDictionary()


def assistant_of(module: Any, device: torch.device) -> Assistant:
    """The fastest way to run an assistant that agrees with its module; compared the first time.

    Args:
        device: that of the target; only the module's way moves states between devices.
    """
    if module.device != device:
        return ModuleAssistant(module)
    if module not in _prepared:
        _prepared[module] = _checked(module)
    layers = _prepared[module]
    return ModuleAssistant(module) if layers is None else DirectAssistant(module, layers)


def _checked(module: Any) -> DirectLayers | None:
    body = module.model
    simple = not (
        module.config.use_ordered_embeddings
        or body.config.enable_moe_block
        or body.config.hidden_size_per_layer_input
    )
    if not simple or not all(is_plain(block.self_attn) for block in body.layers):
        return None
    layers = DirectLayers(body.config, body.layers, body.rotary_emb)
    expected = _probe(ModuleAssistant(module), module)
    gap = (_probe(DirectAssistant(module, layers), module) - expected).abs().max()
    close = float(gap / expected.std().clamp_min(1e-6)) <= agreement(module.dtype)
    return layers if close else None


@torch.inference_mode()
def _probe(assistant: Assistant, module: Any) -> Tensor:
    """Logits of two steps on fixed random inputs, (2, V)."""
    rng, like = torch.Generator().manual_seed(0), module.pre_projection.weight

    def noise(*shape: int) -> Tensor:
        return torch.randn(shape, generator=rng).to(like)

    kv = {}
    for layer, kind in zip(module.model.layers, module.model.config.layer_types, strict=True):
        attention = layer.self_attn
        heads = (
            attention.q_proj.out_features // attention.head_dim // attention.num_key_value_groups
        )
        size = (1, heads, 5, attention.head_dim)
        kv[kind] = (noise(*size), noise(*size))
    size = like.shape[1] // 2
    first, state = assistant.step(noise(1, 2 * size), kv, 7)
    second, _ = assistant.step(torch.cat([noise(1, size), state], -1), kv, 7)
    return torch.cat([first, second]).float()
