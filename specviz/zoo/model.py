"""Configs and fresh models of the zoo, all from one size dial.

What it does: `ZooSize` holds the numbers; `new_*` build a model with the start values that learn to
copy early (QK-norm, embeddings of standard deviation 1/sqrt(d)); `grow` adds layers that change
nothing yet. What it does not: train.
"""

import copy
import math
from dataclasses import dataclass

import torch
from torch import nn
from transformers import (
    Gemma4AssistantConfig,
    Gemma4AssistantForCausalLM,
    Gemma4ForCausalLM,
    Gemma4TextConfig,
    Glm4MoeConfig,
    Glm4MoeForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)

from specviz.zoo.tokenizer import END_ID, PAD_ID

MAX_POSITIONS = 1024
SHARPNESS = 1.5
"""What the norm of the queries starts with, for both kinds of target."""


@dataclass(frozen=True, slots=True)
class ZooSize:
    """The size dial: every number that changes between the toy and the real zoo."""

    name: str
    hidden: int = 128
    feed_forward: int = 384
    heads: int = 4
    kv_heads: int = 2
    base_layers: int = 4
    glm_layers: int = 20
    gemma_layers: int = 20
    mtp_layers: int = 3
    drafter_layers: int = 2
    assistant_hidden: int = 128
    assistant_layers: int = 2
    tiny_hidden: int = 64
    vocab_a: int = 3328
    vocab_b: int = 640
    documents: int = 200_000
    held_out: int = 400
    batch: int = 8
    length: int = 256
    length_b: int = 384

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.hidden // self.heads


FULL = ZooSize("full")
TOY = ZooSize(
    "toy",
    hidden=32,
    feed_forward=64,
    heads=2,
    kv_heads=1,
    base_layers=2,
    glm_layers=4,
    gemma_layers=4,
    mtp_layers=2,
    assistant_hidden=32,
    tiny_hidden=32,
    vocab_a=512,
    vocab_b=400,
    documents=300,
    held_out=20,
    batch=2,
    length=64,
    length_b=64,
)
SIZES = {size.name: size for size in (FULL, TOY)}


def _common(vocab: int) -> dict[str, object]:
    return {
        "vocab_size": vocab,
        "max_position_embeddings": MAX_POSITIONS,
        "tie_word_embeddings": True,
        "bos_token_id": END_ID,
        "eos_token_id": END_ID,
        "pad_token_id": PAD_ID,
    }


def glm_config(size: ZooSize, *, vocab: int, layers: int) -> Glm4MoeConfig:
    """A GLM-4 MoE config whose main layers are all dense, with QK-norm and MTP layers."""
    return Glm4MoeConfig(
        **_common(vocab),
        hidden_size=size.hidden,
        intermediate_size=size.feed_forward,
        num_hidden_layers=layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.kv_heads,
        head_dim=size.head_dim,
        first_k_dense_replace=layers,
        moe_intermediate_size=size.hidden,
        n_routed_experts=2,
        num_experts_per_tok=1,
        n_shared_experts=1,
        num_mtp_layers=size.mtp_layers,
        partial_rotary_factor=1.0,
        use_qk_norm=True,
        rms_norm_eps=1e-5,
    )


def _gemma_fields(size: ZooSize, *, vocab: int, layers: int) -> dict[str, object]:
    rope = {"rope_type": "default", "rope_theta": 10000.0}
    return {
        **_common(vocab),
        "hidden_size": size.hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": size.heads,
        "num_key_value_heads": size.kv_heads,
        "head_dim": size.head_dim,
        "global_head_dim": size.head_dim,
        # As long as any context of the app: the drafter does not see a window move.
        "sliding_window": MAX_POSITIONS,
        "layer_types": ["sliding_attention", "full_attention"] * (layers // 2),
        "hidden_size_per_layer_input": 0,
        "vocab_size_per_layer_input": 0,
        "rope_parameters": {"sliding_attention": rope, "full_attention": rope},
    }


def gemma_config(size: ZooSize, *, vocab: int, layers: int) -> Gemma4TextConfig:
    """A Gemma 4 text config without per-layer inputs; sliding and full layers alternate."""
    fields = _gemma_fields(size, vocab=vocab, layers=layers)
    return Gemma4TextConfig(**fields, intermediate_size=size.feed_forward)


def drafter_config(size: ZooSize, *, vocab: int) -> Gemma4AssistantConfig:
    """The config of the drafter: attends to the target's keys and values only."""
    layers = size.drafter_layers
    text = _gemma_fields(size, vocab=vocab, layers=layers) | {
        "num_kv_shared_layers": layers,
        "model_type": "gemma4_text",
        "intermediate_size": 2 * size.hidden,
    }
    return Gemma4AssistantConfig(text_config=text, backbone_hidden_size=size.hidden)


def llama_config(*, vocab: int, hidden: int, layers: int) -> LlamaConfig:
    """The config of an assistant, heads 32 wide."""
    return LlamaConfig(
        **_common(vocab),
        hidden_size=hidden,
        intermediate_size=hidden * 8 // 3,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 32,
        num_key_value_heads=hidden // 32,
        rms_norm_eps=1e-5,
    )


@torch.no_grad()
def _start_embeddings(model: PreTrainedModel) -> None:
    weight = model.get_input_embeddings().weight
    weight.normal_(0, weight.shape[1] ** -0.5)


@torch.no_grad()
def _scale_outputs(layers: nn.ModuleList) -> None:
    factor = 1 / math.sqrt(2 * len(layers))
    for layer in layers:
        layer.self_attn.o_proj.weight.mul_(factor)
        layer.mlp.down_proj.weight.mul_(factor)


@torch.no_grad()
def new_glm(size: ZooSize, *, vocab: int, layers: int) -> Glm4MoeForCausalLM:
    """A fresh GLM target."""
    model = Glm4MoeForCausalLM(glm_config(size, vocab=vocab, layers=layers))
    _start_embeddings(model)
    _scale_outputs(model.model.layers)
    for layer in model.model.layers:
        layer.self_attn.q_norm.weight.fill_(SHARPNESS)
    return model


def new_llama(*, vocab: int, hidden: int, layers: int) -> LlamaForCausalLM:
    """A fresh assistant."""
    model = LlamaForCausalLM(llama_config(vocab=vocab, hidden=hidden, layers=layers))
    _start_embeddings(model)
    _scale_outputs(model.model.layers)
    return model


@torch.no_grad()
def _start_gemma_norms(layers: nn.ModuleList, *, head_dim: int) -> None:
    # Gemma 4 attends with scale 1.0, so the norm of the queries has to carry 1/sqrt(head_dim).
    for layer in layers:
        layer.self_attn.q_norm.weight.fill_(SHARPNESS * head_dim**-0.5)
        layer.post_attention_layernorm.weight.fill_(0.3)
        layer.post_feedforward_layernorm.weight.fill_(0.3)


def new_gemma(size: ZooSize, *, vocab: int, layers: int) -> Gemma4ForCausalLM:
    """A fresh Gemma 4 target."""
    model = Gemma4ForCausalLM(gemma_config(size, vocab=vocab, layers=layers))
    _start_embeddings(model)
    _start_gemma_norms(model.model.layers, head_dim=size.head_dim)
    return model


@torch.no_grad()
def new_drafter(size: ZooSize, target: Gemma4ForCausalLM) -> Gemma4AssistantForCausalLM:
    """A fresh drafter that starts with the embeddings of its target."""
    drafter = Gemma4AssistantForCausalLM(drafter_config(size, vocab=target.config.vocab_size))
    drafter.model.embed_tokens.weight.copy_(target.model.embed_tokens.weight)
    _start_gemma_norms(drafter.model.layers, head_dim=size.head_dim)
    return drafter


@torch.no_grad()
def grow(base: PreTrainedModel, *, layers: int) -> PreTrainedModel:
    """Append layers that pass their input on, so the grown model computes what the base did.

    The new layers are copies of the base's own ones, in turn, with closed outputs: projections of
    zero (GLM), post-norms of zero (Gemma 4). So their keys and values are useful from the start.

    Args:
        base: a GLM or Gemma 4 target.
        layers: depth of the result, at least that of the base.
    """
    config = copy.deepcopy(base.config)
    depth = config.num_hidden_layers
    config.num_hidden_layers = layers
    if config.model_type == "glm4_moe":
        config.first_k_dense_replace = layers
    else:
        config.layer_types = ["sliding_attention", "full_attention"] * (layers // 2)
    grown = type(base)(config)
    state = grown.state_dict()
    for name, tensor in base.state_dict().items():
        state[name] = tensor
    grown.load_state_dict(state)
    for index in range(depth, layers):
        layer = grown.model.layers[index]
        layer.load_state_dict(base.model.layers[index % depth].state_dict())
        _close(layer)
    return grown


def _close(layer: nn.Module) -> None:
    if hasattr(layer, "post_feedforward_layernorm"):
        layer.post_attention_layernorm.weight.zero_()
        layer.post_feedforward_layernorm.weight.zero_()
    else:
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
