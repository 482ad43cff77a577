"""The decoder's forward pass, written out: embedding, layers, final norm, head.

Transformers' modules spend most of a small model's step in Python (argument checks, hooks,
wrappers). This file does the same arithmetic with direct tensor operations, at batch size 1, and
lets callers run any range of layers, which is what early exit needs. It covers decoders of the
Llama kind (pre-norm, optional norm on q and k, optional biases) and of the Gemma 4 kind (norms
around both blocks, two rotary tables, sliding layers); ``engine.language_model`` compares it with
the module's own ``forward`` at load and uses it only where the two agree.

Shapes: n tokens, d hidden size, H query heads, K key/value heads, D head size, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import PreTrainedModel

from specviz.engine.cache import DirectCache
from specviz.engine.direct_weights import Layer, read_layer, why_unsupported
from specviz.engine.mixture import mixture


class DirectLayers:
    """Layers of one decoder kind that share a rotary embedding, run by their weights."""

    def __init__(self, config: Any, blocks: Iterable[nn.Module], rotary: Any) -> None:
        """Read the weights; query, key and value (and gate and up) become one matrix each.

        The modules' own parameters are re-pointed to slices of the joined matrices, so no memory
        is used twice and the modules compute exactly what they did.

        Args:
            config: of the decoder that the blocks belong to.
            blocks: decoder layers, at least one.
            rotary: module that makes cosines and sines of positions.
        """
        self.eps = float(config.rms_norm_eps)
        self.layers = [read_layer(config, block) for block in blocks]
        self._rotary_module = rotary
        self._tables: dict[str, tuple[Tensor, Tensor]] = {}
        self.device, self.dtype = self.layers[0].qkv.device, self.layers[0].qkv.dtype

    def new_cache(self, capacity: int) -> DirectCache:
        """An empty cache with room for ``capacity`` tokens."""
        shapes = [(layer.num_kv_heads, layer.head_dim) for layer in self.layers]
        return DirectCache(shapes, capacity, self.dtype, self.device)

    def run(self, hidden: Tensor, first: int, last: int, cache: DirectCache, start: int) -> Tensor:
        """Run layers ``first`` … ``last − 1`` on tokens that stand at ``start``, ``start + 1``, …

        Args:
            hidden: (n, d), output of layer ``first − 1`` (or the embeddings).
            cache: must hold all ``start`` earlier tokens for these layers; gets the n new ones.

        Returns:
            Output of layer ``last − 1``, (n, d), before the final norm.
        """
        stop = start + hidden.shape[0]
        cache.reserve(stop)
        masks: dict[tuple[int | None, int], Tensor | None] = {}
        for index in range(first, last):
            layer = self.layers[index]
            key = (layer.window, layer.num_heads // layer.num_kv_heads)
            if key not in masks:
                masks[key] = self._mask(start, stop, *key)
            hidden = self._block(hidden, layer, index, cache, start, masks[key])
        return hidden

    def _block(
        self,
        hidden: Tensor,
        layer: Layer,
        index: int,
        cache: DirectCache,
        start: int,
        mask: Tensor | None,
    ) -> Tensor:
        normed = rms_norm(hidden, layer.attention_norm, self.eps)
        mixed = self._attend(normed, layer, index, cache, start, mask)
        if layer.after_attention_norm is not None:
            mixed = rms_norm(mixed, layer.after_attention_norm, self.eps)
        hidden = hidden + mixed
        mixed = feed_forward(rms_norm(hidden, layer.mlp_norm, self.eps), layer)
        if layer.after_mlp_norm is not None:
            mixed = rms_norm(mixed, layer.after_mlp_norm, self.eps)
        hidden = hidden + mixed
        return hidden if layer.output_scale is None else hidden * layer.output_scale

    def _attend(
        self,
        normed: Tensor,
        layer: Layer,
        index: int,
        cache: DirectCache,
        start: int,
        mask: Tensor | None,
    ) -> Tensor:
        n, stop = normed.shape[0], start + normed.shape[0]
        heads, kv_heads, dim = layer.num_heads, layer.num_kv_heads, layer.head_dim
        both = heads + kv_heads
        qkv = F.linear(normed, layer.qkv, layer.qkv_bias).view(n, -1, dim)
        values = qkv[:, -kv_heads:]  # (n, K, D); the keys themselves where values equal keys
        qk = qkv[:, :both]
        if layer.qk_norm is not None:
            qk = rms_norm(qk, layer.qk_norm, self.eps)
        if layer.norm_values:
            values = rms_norm(values, None, self.eps)
        qk = rotate(qk, *self.rotary(layer.kind, start, stop))
        keys_all, values_all = cache.keys[index], cache.values[index]
        keys_all[:, start:stop] = qk[:, heads:].transpose(0, 1)
        values_all[:, start:stop] = values.transpose(0, 1)
        # Queries that share a key/value head are stacked as extra rows, so nothing is repeated.
        group = heads // kv_heads
        queries = qk[:, :heads].view(n, kv_heads, group, dim).permute(1, 2, 0, 3)
        queries = queries.reshape(1, kv_heads, group * n, dim)
        low = 0 if layer.window is None or n > 1 else max(0, stop - layer.window)
        mixed = F.scaled_dot_product_attention(
            queries,
            keys_all[None, :, low:stop],
            values_all[None, :, low:stop],
            attn_mask=mask,
            scale=layer.scaling,
        )
        mixed = mixed.view(kv_heads, group, n, dim).permute(2, 0, 1, 3).reshape(n, heads * dim)
        return F.linear(mixed, layer.out, layer.out_bias)

    def _mask(self, start: int, stop: int, window: int | None, group: int) -> Tensor | None:
        """Additive mask (group · n, stop) for the queries of a key/value head, stacked.

        None for one token, which may look at all that is kept.
        """
        if stop - start == 1:
            return None
        columns = torch.arange(stop, device=self.device)
        rows = columns[start:, None]
        hidden = columns > rows
        if window is not None and stop > window:
            hidden = hidden | (columns <= rows - window)
        mask = torch.zeros(stop - start, stop, dtype=self.dtype, device=self.device)
        return mask.masked_fill_(hidden, float("-inf")).repeat(group, 1)

    def rotary(self, kind: str, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """Cosines and signed sines (n, 1, rotated part of D) of the positions."""
        table = self._tables.get(kind)
        if table is None or table[0].shape[0] < stop:
            table = self._tables[kind] = self._rotary_table(kind, max(512, 2 * stop))
        return table[0][start:stop], table[1][start:stop]

    def _rotary_table(self, kind: str, length: int) -> tuple[Tensor, Tensor]:
        positions = torch.arange(length, device=self.device)[None]
        like = torch.zeros(1, dtype=self.dtype, device=self.device)
        named = (kind,) if kind else ()
        cosines, sines = self._rotary_module(like, positions, *named)
        half = sines.shape[-1] // 2
        signed = torch.cat([-sines[0, :, :half], sines[0, :, half:]], -1)
        return cosines[0, :, None].contiguous(), signed[:, None].contiguous()


class DirectDecoder(DirectLayers):
    """Runs a decoder-only model by its weights. Lossless: same arithmetic, other call path."""

    def __init__(self, model: PreTrainedModel) -> None:
        """Read the weights of all layers.

        Raises:
            ValueError: the model is of a kind that this file does not cover.
        """
        reason = why_unsupported(model)
        if reason is not None:
            raise ValueError(reason)
        self._body = model.get_decoder()
        config = model.config.get_text_config(decoder=True)
        super().__init__(config, self._body.layers, self._body.rotary_emb)
        self._embedding = self._body.embed_tokens
        self._head = model.get_output_embeddings()
        self._softcap = getattr(config, "final_logit_softcapping", None)

    def embed(self, ids: Sequence[int]) -> Tensor:
        """Token embeddings, (n, d)."""
        embedded: Tensor = self._embedding(torch.tensor(ids, device=self.device))
        return embedded

    def norm(self, hidden: Tensor) -> Tensor:
        """The final norm, (n, d)."""
        return rms_norm(hidden, self._body.norm.weight, self.eps)

    def head(self, normed: Tensor) -> Tensor:
        """Logits (n, V) of normed hidden states (n, d)."""
        logits = F.linear(normed, self._head.weight, self._head.bias)
        if self._softcap is not None:
            logits = torch.tanh(logits / self._softcap) * self._softcap
        return logits


def rms_norm(x: Tensor, weight: Tensor | None, eps: float) -> Tensor:
    """x / sqrt(mean(x²) + eps) · weight over the last dimension, in float32 as the modules do."""
    wide = x.float()
    normed = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True).add_(eps))
    normed = normed.to(x.dtype)
    return normed if weight is None else normed.mul_(weight)


def rotate(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Rotary position embedding of x (n, heads, D); parts of D beyond the table pass through.

    Source: Su et al., arXiv 2104.09864, in the half-split form of Llama.
    """
    size = cosines.shape[-1]
    if size < x.shape[-1]:
        return torch.cat([rotate(x[..., :size], cosines, sines), x[..., size:]], -1)
    return x * cosines + x.roll(size // 2, -1) * sines


def feed_forward(x: Tensor, layer: Layer) -> Tensor:
    """The block behind the attention: gated linear unit or mixture of experts, (n, d)."""
    if layer.mlp is not None:
        return mixture(x, layer.mlp)
    assert layer.gate_up is not None and layer.down is not None and layer.activation is not None
    gate, up = F.linear(x, layer.gate_up).chunk(2, -1)
    return F.linear(layer.activation(gate) * up, layer.down)
