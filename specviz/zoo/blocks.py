"""Decoder layers as plain functions, compiled once and called for every layer.

Compiling a whole deep model takes minutes on a CPU; one layer takes half a minute and serves any
depth. Weights stay float32, matrix products run in bfloat16. `trunk` gives what Transformers' own
forward gives, up to that rounding (tested).
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import PreTrainedModel

HALF = torch.bfloat16


@dataclass(frozen=True, slots=True)
class Trunk:
    """What a pass through the layers leaves.

    Args:
        hidden: (B, T, d) output of the last layer, before the final norm.
        exits: layer number to (B, T, d) output of that layer.
        keys_values: layer type to the keys and values of its last layer (Gemma 4 only).
    """

    hidden: Tensor
    exits: dict[int, Tensor] = field(default_factory=dict)
    keys_values: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """Root-mean-square norm over the last dimension."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * weight


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding on halves."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def _linear(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight.to(HALF).t()


def _heads(x: Tensor, count: int) -> Tensor:
    return x.view(*x.shape[:2], count, -1).transpose(1, 2)  # (B, H, T, d/H)


def _attend(q: Tensor, k: Tensor, v: Tensor, *, scale: float | None = None) -> Tensor:
    repeats = q.shape[1] // k.shape[1]
    if repeats > 1:
        k, v = k.repeat_interleave(repeats, 1), v.repeat_interleave(repeats, 1)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)
    return out.transpose(1, 2).reshape(q.shape[0], q.shape[2], -1)  # (B, T, d)


def llama_layer(
    x: Tensor, w: tuple[Tensor, ...], cos: Tensor, sin: Tensor, heads: int, kv_heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    """One Llama layer, or GLM layer when the weights end with the two norms of queries and keys."""
    before, wq, wk, wv, wo, after, gate, up, down, *norms = w
    h = rms_norm(x, before, 1e-5).to(HALF)
    q, k = _heads(_linear(h, wq), heads).float(), _heads(_linear(h, wk), kv_heads).float()
    if norms:
        q, k = rms_norm(q, norms[0], 1e-5), rms_norm(k, norms[1], 1e-5)
    q, k = rotate(q, cos, sin).to(HALF), rotate(k, cos, sin).to(HALF)
    v = _heads(_linear(h, wv), kv_heads)
    x = x + _linear(_attend(q, k, v), wo).float()
    h = rms_norm(x, after, 1e-5).to(HALF)
    mixed = F.silu(_linear(h, gate).float()).to(HALF) * _linear(h, up)
    return x + _linear(mixed, down).float(), k, v


def gemma_layer(
    x: Tensor, w: tuple[Tensor, ...], cos: Tensor, sin: Tensor, heads: int, kv_heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    """One Gemma 4 layer: norms before and after both halves, normed queries, keys and values."""
    n1, q_norm, k_norm, wq, wk, wv, wo, n2, n3, gate, up, down, n4 = w
    h = rms_norm(x, n1, 1e-6).to(HALF)
    q = rms_norm(_heads(_linear(h, wq).float(), heads), q_norm, 1e-6)
    k = rms_norm(_heads(_linear(h, wk).float(), kv_heads), k_norm, 1e-6)
    v = rms_norm(_heads(_linear(h, wv).float(), kv_heads), torch.ones_like(k_norm), 1e-6).to(HALF)
    q, k = rotate(q, cos, sin).to(HALF), rotate(k, cos, sin).to(HALF)
    x = x + rms_norm(_linear(_attend(q, k, v, scale=1.0), wo).float(), n2, 1e-6)
    h = rms_norm(x, n3, 1e-6).to(HALF)
    mixed = F.gelu(_linear(h, gate).float(), approximate="tanh").to(HALF) * _linear(h, up)
    return x + rms_norm(_linear(mixed, down).float(), n4, 1e-6), k, v


def layer_weights(layer: nn.Module) -> tuple[Tensor, ...]:
    """The weights of a Transformers layer in the order the functions take them."""
    a, m = layer.self_attn, layer.mlp
    if hasattr(layer, "post_feedforward_layernorm"):
        modules: list[Any] = [
            layer.input_layernorm, a.q_norm, a.k_norm, a.q_proj, a.k_proj, a.v_proj, a.o_proj,
            layer.post_attention_layernorm, layer.pre_feedforward_layernorm,
            m.gate_proj, m.up_proj, m.down_proj, layer.post_feedforward_layernorm,
        ]  # fmt: skip
    else:
        modules = [
            layer.input_layernorm, a.q_proj, a.k_proj, a.v_proj, a.o_proj,
            layer.post_attention_layernorm, m.gate_proj, m.up_proj, m.down_proj,
        ]  # fmt: skip
        if getattr(a, "use_qk_norm", False):
            modules += [a.q_norm, a.k_norm]
    return tuple(module.weight for module in modules)


def head_logits(hidden: Tensor, norm: Tensor, embedding: Tensor, epsilon: float) -> Tensor:
    """Final norm and tied head: (..., d) to (..., V) float32."""
    return _linear(rms_norm(hidden, norm, epsilon).to(HALF), embedding).float()


def cross_entropy(
    hidden: Tensor, norm: Tensor, embedding: Tensor, targets: Tensor, epsilon: float
) -> Tensor:
    """Mean next-token loss in nats of a hidden state read through norm and head."""
    logits = head_logits(hidden, norm, embedding, epsilon)
    return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))


def distillation(
    hidden: Tensor, norm: Tensor, embedding: Tensor, targets: Tensor, teacher: Tensor
) -> tuple[Tensor, Tensor]:
    """0.8 cross-entropy to the target's probabilities + 0.2 to the text, and the latter alone."""
    logits = head_logits(hidden, norm, embedding, 1e-5).view(-1, embedding.shape[0])
    log_probs = F.log_softmax(logits, -1)
    hard = -log_probs.gather(1, targets.reshape(-1, 1)).mean()
    soft = -(F.softmax(teacher.view(-1, teacher.shape[-1]), -1) * log_probs).sum(-1).mean()
    return 0.2 * hard + 0.8 * soft, hard


compiled_llama_layer = torch.compile(llama_layer, dynamic=False)
compiled_gemma_layer = torch.compile(gemma_layer, dynamic=False)
compiled_cross_entropy = torch.compile(cross_entropy, dynamic=False)
compiled_distillation = torch.compile(distillation, dynamic=False)
compiled_head_logits = torch.compile(head_logits, dynamic=False)


def norm_epsilon(model: PreTrainedModel) -> float:
    """The epsilon of the model's norms."""
    return float(model.config.rms_norm_eps)


def trunk(
    model: PreTrainedModel,
    ids: Tensor,
    *,
    collect: Collection[int] = (),
    depth: int | None = None,
    compiled: bool = True,
) -> Trunk:
    """Run the layers of a GLM, Llama or Gemma 4 model on (B, T) ids, without a cache.

    Args:
        model: the model.
        ids: (B, T) int64.
        collect: layers whose output is wanted.
        depth: stop after that many layers; default is all.
        compiled: use the compiled layer.
    """
    config, inner = model.config, model.model
    gemma = config.model_type == "gemma4_text"
    positions = torch.arange(ids.shape[1], device=ids.device)[None]
    if gemma:
        hidden = inner.embed_tokens(ids)
        cos, sin = inner.rotary_emb(hidden, positions, "full_attention")
        layer_function: Callable[..., Any] = compiled_gemma_layer if compiled else gemma_layer
    else:
        hidden = inner.embed_tokens.weight[ids]
        cos, sin = inner.rotary_emb(hidden, positions)
        layer_function = compiled_llama_layer if compiled else llama_layer
    cos, sin = cos[:, None], sin[:, None]
    exits: dict[int, Tensor] = {}
    keys_values: dict[str, tuple[Tensor, Tensor]] = {}
    heads, kv_heads = config.num_attention_heads, config.num_key_value_heads
    for index, layer in enumerate(inner.layers[:depth]):
        hidden, k, v = layer_function(hidden, layer_weights(layer), cos, sin, heads, kv_heads)
        if gemma:
            keys_values[config.layer_types[index]] = (k, v)
        if index + 1 in collect:
            exits[index + 1] = hidden
    return Trunk(hidden, exits, keys_values)
