"""Reads the weights of a decoder's layers for ``engine.direct``, and says which it can read.

A decoder is covered when its architecture is one that was compared with its own ``forward`` in the
tests, its linear layers are plain ones (not quantised) on one device, and its rotary tables do not
depend on the length of the text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

SUPPORTED = ("llama", "qwen2", "qwen3", "glm4_moe", "gemma4_text")
# Rotary tables that do not depend on the length of the text.
_ROPE_TYPES = ("default", "linear", "llama3", "yarn", "proportional")


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights of one layer, and how to use them."""

    attention_norm: Tensor  # (d,)
    qkv: Tensor  # ((H + 2 K) D, d); (H + K) D where values equal keys, H D where both are shared
    qkv_bias: Tensor | None
    qk_norm: Tensor | None  # (H + K, D)
    norm_values: bool
    out: Tensor  # (d, H D)
    out_bias: Tensor | None
    after_attention_norm: Tensor | None  # (d,), Gemma kind only
    mlp_norm: Tensor  # (d,)
    gate_up: Tensor | None  # (2 f, d)
    down: Tensor | None  # (d, f)
    activation: Callable[[Tensor], Tensor] | None
    mlp: nn.Module | None  # used instead of gate_up/down: mixtures of experts
    after_mlp_norm: Tensor | None
    output_scale: Tensor | None
    num_heads: int
    num_kv_heads: int
    head_dim: int
    scaling: float
    window: int | None
    kind: str  # names the rotary table


def why_unsupported(model: PreTrainedModel) -> str | None:
    """The reason why a model must run through its own ``forward``, None where it need not."""
    config = model.config.get_text_config(decoder=True)
    if config.model_type not in SUPPORTED:
        return f"architecture {config.model_type!r} is not one of {', '.join(SUPPORTED)}"
    if len({parameter.device for parameter in model.parameters()}) > 1:
        return "its weights lie on several devices"
    if getattr(config, "hidden_size_per_layer_input", 0) or getattr(
        config, "num_kv_shared_layers", 0
    ):
        return "it has per-layer inputs or layers that share keys and values"
    if getattr(config, "enable_moe_block", False):
        return "it mixes dense and expert blocks"
    if getattr(config, "sliding_window", None) and not getattr(config, "layer_types", None):
        return "its sliding window is not described layer by layer"
    if not set(_rope_types(config)) <= set(_ROPE_TYPES):
        return "its rotary table depends on the length of the text"
    if not all(is_plain(block.self_attn) for block in model.get_decoder().layers):
        return "its linear layers are not plain ones (quantised or wrapped)"
    return None


def is_plain(attention: Any) -> bool:
    """Whether an attention module is of the kind that ``read_layer`` reads, not quantised."""
    known = all(hasattr(attention, name) for name in ("q_proj", "o_proj", "head_dim", "scaling"))
    return known and all(type(linear) is nn.Linear for linear in _linears(attention))


def read_layer(config: Any, block: nn.Module) -> Layer:
    """Collect the weights of one decoder layer; parameters become views of joined matrices."""
    attention: Any = block.self_attn
    mlp: Any = block.mlp
    dim = attention.head_dim
    qkv, qkv_bias = _join(_linears(attention)[:-1])
    dense = all(hasattr(mlp, name) for name in ("gate_proj", "up_proj", "down_proj"))
    sandwich = hasattr(block, "pre_feedforward_layernorm")
    kind = _kind(config, attention.layer_idx)
    scale = getattr(block, "layer_scalar", None)
    return Layer(
        attention_norm=block.input_layernorm.weight,  # type: ignore[arg-type, union-attr]
        qkv=qkv,
        qkv_bias=qkv_bias,
        qk_norm=_qk_norm(attention, dim),
        norm_values=hasattr(attention, "v_norm"),
        out=attention.o_proj.weight,
        out_bias=attention.o_proj.bias,
        after_attention_norm=_weight(block, "post_attention_layernorm") if sandwich else None,
        mlp_norm=_needed(
            block, "pre_feedforward_layernorm" if sandwich else "post_attention_layernorm"
        ),
        gate_up=_join([mlp.gate_proj, mlp.up_proj])[0] if dense else None,
        down=mlp.down_proj.weight if dense else None,
        activation=mlp.act_fn if dense else None,
        mlp=None if dense else mlp,
        after_mlp_norm=_weight(block, "post_feedforward_layernorm") if sandwich else None,
        output_scale=None if scale is None or bool((scale == 1).all()) else scale,
        num_heads=attention.q_proj.out_features // dim,
        num_kv_heads=_num_kv_heads(attention),
        head_dim=dim,
        scaling=attention.scaling,
        window=config.sliding_window if kind == "sliding_attention" else None,
        kind=kind if "sliding_attention" in config.rope_parameters else "",
    )


def _linears(attention: Any) -> list[nn.Module]:
    """The projections that a layer has, the output's last."""
    found = [getattr(attention, name, None) for name in ("q_proj", "k_proj", "v_proj", "o_proj")]
    return [projection for projection in found if projection is not None]


def _num_kv_heads(attention: Any) -> int:
    """Key/value heads that a layer makes itself; 0 where it reads those of another."""
    keys = getattr(attention, "k_proj", None)
    return 0 if keys is None else int(keys.out_features // attention.head_dim)


def _join(linears: list[Any]) -> tuple[Tensor, Tensor | None]:
    """One weight (and bias) for several linear layers; theirs become views of it."""
    joined: list[Tensor | None] = []
    for name in ("weight", "bias"):
        parts = [getattr(linear, name) for linear in linears]
        if parts[0] is None:
            joined.append(None)
            continue
        whole = torch.cat([part.data for part in parts])
        for part, view in zip(
            parts, torch.split(whole, [part.shape[0] for part in parts]), strict=True
        ):
            part.data = view
        joined.append(whole)
    assert joined[0] is not None
    return joined[0], joined[1]


def _qk_norm(attention: Any, dim: int) -> Tensor | None:
    """Weights of the norms on queries and keys, one row per head."""
    if not hasattr(attention, "q_norm"):
        return None
    rows = [attention.q_norm.weight.expand(attention.q_proj.out_features // dim, dim)]
    if _num_kv_heads(attention):
        rows.append(attention.k_norm.weight.expand(_num_kv_heads(attention), dim))
    return torch.cat(rows).detach()


def _weight(block: nn.Module, name: str) -> Tensor | None:
    module = getattr(block, name, None)
    return None if module is None else module.weight


def _needed(block: nn.Module, name: str) -> Tensor:
    weight = _weight(block, name)
    assert weight is not None, name
    return weight


def _kind(config: Any, index: int) -> str:
    kinds = getattr(config, "layer_types", None)
    return kinds[index] if kinds else "full_attention"


def _rope_types(config: Any) -> list[str]:
    """The kinds of rotary tables: one for all layers, or one per kind of layer."""
    parameters = config.rope_parameters
    if "rope_type" in parameters:
        return [parameters["rope_type"]]
    return [entry["rope_type"] for entry in parameters.values()]
