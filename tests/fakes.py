"""Small stand-ins for tests: random models of each architecture, a model that is a table, oracles.

Everything is made from a seed in milliseconds; nothing is downloaded. In float64 two ways of
computing one logit agree to about 1e-7, so greedy ids do not flip on near ties.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence

import torch
from torch import Tensor, nn
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
from transformers.modeling_layers import MtpModel

from specviz.config import DecodeConfig
from specviz.engine.context import Context
from specviz.engine.decode import Run, decode
from specviz.engine.drafters.base import Draft, Drafter, Parts
from specviz.engine.language_model import LanguageModel, Outputs, Want
from specviz.engine.verifiers import Verifier
from specviz.events import Event, Finished, Verified


def num_draws(default: int = 2000) -> int:
    """Runs of a slow statistical test; SPECVIZ_DRAWS=20000 asks for the long version."""
    return int(os.environ.get("SPECVIZ_DRAWS", default))


def text_of(ids: Sequence[int]) -> str:
    """A text for ids: one letter each, so that stop texts can be tested without a tokenizer."""
    return "".join(chr(97 + i % 26) for i in ids)


def randomise(model: nn.Module, *, std: float, seed: int) -> None:
    """Fill all matrices with normal noise; norms keep their ones."""
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() >= 2 and "norm" not in name:
                noise = torch.randn(parameter.shape, generator=rng, dtype=torch.float32) * std
                parameter.copy_(noise.to(parameter.dtype))


def finish(model: PreTrainedModel, *, std: float, seed: int, dtype: torch.dtype) -> PreTrainedModel:
    """Randomise, set to evaluation, and make generate() draft exactly as many as it is told."""
    randomise(model, std=std, seed=seed)
    generation = model.generation_config
    generation.pad_token_id = 0
    generation.eos_token_id = None
    generation.bos_token_id = None
    generation.assistant_confidence_threshold = 0.0
    generation.num_assistant_tokens = 5
    generation.num_assistant_tokens_schedule = "constant"
    return model.to(dtype).eval()


def tiny_llama(
    *,
    vocab: int = 64,
    layers: int = 3,
    hidden: int = 32,
    seed: int = 0,
    std: float = 0.3,
    dtype: torch.dtype = torch.float64,
) -> PreTrainedModel:
    """A random Llama (F1 of the public cases)."""
    config = LlamaConfig(
        vocab_size=vocab,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
        tie_word_embeddings=False,
    )
    return finish(LlamaForCausalLM(config), std=std, seed=seed, dtype=dtype)


def tiny_glm(
    *,
    vocab: int = 64,
    layers: int = 3,
    num_mtp: int = 2,
    dense: bool = True,
    seed: int = 0,
    std: float = 0.3,
    dtype: torch.dtype = torch.float64,
) -> PreTrainedModel:
    """A random GLM-4 MoE, by default with dense main layers (F4, without its MTP layers)."""
    config = Glm4MoeConfig(
        vocab_size=vocab,
        hidden_size=32,
        intermediate_size=64,
        moe_intermediate_size=32,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        n_shared_experts=1,
        n_routed_experts=4,
        num_experts_per_tok=2,
        n_group=1,
        topk_group=1,
        first_k_dense_replace=layers if dense else 1,
        use_qk_norm=True,
        max_position_embeddings=2048,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
        num_mtp_layers=num_mtp,
    )
    config._experts_implementation = "eager"  # the grouped kernel knows no float64
    return finish(Glm4MoeForCausalLM(config), std=std, seed=seed, dtype=dtype)


def tiny_gemma(
    *,
    vocab: int = 64,
    layers: int = 4,
    window: int = 8,
    per_layer: int = 0,
    shared: int = 0,
    softcap: float | None = None,
    seed: int = 0,
    std: float = 0.3,
    dtype: torch.dtype = torch.float64,
) -> PreTrainedModel:
    """A random Gemma 4 with alternating sliding and full layers (F5)."""
    config = Gemma4TextConfig(
        vocab_size=vocab,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        global_head_dim=16,
        layer_types=["sliding_attention", "full_attention"] * (layers // 2),
        sliding_window=window,
        num_kv_shared_layers=shared,
        hidden_size_per_layer_input=per_layer,
        vocab_size_per_layer_input=vocab if per_layer else 0,
        max_position_embeddings=2048,
        final_logit_softcapping=softcap,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
        tie_word_embeddings=False,
    )
    return finish(Gemma4ForCausalLM(config), std=std, seed=seed, dtype=dtype)


def gemma_assistant(
    target: PreTrainedModel, *, seed: int = 1, std: float = 0.3, dtype: torch.dtype = torch.float64
) -> PreTrainedModel:
    """A random Gemma 4 assistant that reads the target's keys and values."""
    own = target.config
    text_config = Gemma4TextConfig(
        vocab_size=own.vocab_size,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        global_head_dim=16,
        layer_types=["sliding_attention", "full_attention"],
        sliding_window=own.sliding_window,
        num_kv_shared_layers=2,
        hidden_size_per_layer_input=0,
        vocab_size_per_layer_input=0,
        max_position_embeddings=2048,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
    )
    config = Gemma4AssistantConfig(text_config=text_config, backbone_hidden_size=own.hidden_size)
    return finish(Gemma4AssistantForCausalLM(config), std=std, seed=seed, dtype=dtype)


def mtp_layers(
    target: PreTrainedModel, count: int, *, seed: int = 5, std: float = 0.3
) -> nn.Module:
    """Random MTP layers for a GLM target; its embedding and head stay the target's."""
    module = MtpModel(target, count)
    for name, buffer in module.layers.named_buffers():
        if "e_score" in name:
            buffer.zero_()
    randomise(module.layers, std=std, seed=seed)
    return module.to(target.dtype).eval()


def near_copy(model: PreTrainedModel, *, noise: float = 0.02, seed: int = 9) -> PreTrainedModel:
    """A copy with small noise on each weight, so that some drafts match and some do not."""
    other = copy.deepcopy(model)
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(noise * torch.randn(parameter.shape, generator=rng).to(parameter.dtype))
    return other


class TableCache:
    """The cache of a ``TableModel``: only a length."""

    def __init__(self) -> None:
        self.length = 0
        self.num_bytes = 0

    def crop(self, length: int) -> None:
        """Roll back."""
        assert 0 <= length <= self.length
        self.length = length


class TableModel:
    """A language model that is a table: p(next | last), so every probability is known exactly."""

    def __init__(self, table: Tensor, end_ids: tuple[int, ...] = ()) -> None:
        """``table`` (V, V): row = last token, entries = probabilities of the next."""
        self.table = table
        self.logits = table.log()
        self.end_ids = end_ids
        self.device = torch.device("cpu")
        self.vocab_size = table.shape[1]
        self.num_layers = 1
        self.decoder = None
        self.num_forwards = 0

    def new_cache(self, capacity: int = 64) -> TableCache:
        """An empty cache."""
        return TableCache()

    def forward(
        self, ids: Sequence[int], cache: TableCache, *, keep: int = 1, want: Want | None = None
    ) -> Outputs:
        """Rows of the table for the last ``keep`` ids."""
        self.num_forwards += 1
        cache.length += len(ids)
        return Outputs(self.logits[torch.tensor(ids[-keep:])])

    def prefill(self, ids: Sequence[int], cache: TableCache, want: Want | None = None) -> Outputs:
        """A forward pass."""
        return self.forward(ids, cache)


class OracleDrafter(Drafter):
    """Proposes the next ids of a known text, blind to end tokens and limits (F2)."""

    def __init__(self, known: Sequence[int], count: int) -> None:
        self._known, self._count = list(known), count

    def propose(self, context: Context, gamma: int) -> Draft:
        """The next ``count`` known ids, however few were asked for."""
        at = len(context.ids)
        return Draft(tuple(self._known[at : at + self._count]))


def run_with(
    drafter: Drafter, verifier: Verifier, parts: Parts, prompt: Sequence[int]
) -> list[Event]:
    """Run the loop with a hand-made drafter."""
    return list(Run(prompt, drafter, verifier, parts, text_of).events(lambda: False))


def run_method(method: str, parts: Parts, prompt: Sequence[int]) -> list[Event]:
    """Run a method."""
    return list(decode(prompt, method=method, parts=parts, text_of=text_of))


def new_ids(events: Sequence[Event]) -> list[int]:
    """The ids of the output; checks on the way that the steps add up to it."""
    last = events[-1]
    assert isinstance(last, Finished)
    joined = [i for event in events if isinstance(event, Verified) for i in event.committed_ids]
    assert joined == list(last.ids)
    return joined


def steps(events: Sequence[Event]) -> list[Verified]:
    """The verified steps."""
    return [event for event in events if isinstance(event, Verified)]


def generated(
    model: PreTrainedModel, prompt: Sequence[int], count: int, **options: object
) -> list[int]:
    """New ids of Transformers' own ``generate()``, greedy unless told otherwise."""
    inputs = torch.tensor([list(prompt)])
    options.setdefault("do_sample", False)
    found = model.generate(
        inputs, attention_mask=torch.ones_like(inputs), max_new_tokens=count, **options
    )
    return found[0, len(prompt) :].tolist()


def greedy(model: PreTrainedModel, **settings: object) -> Parts:
    """Parts with only a target, for a short way to plain decoding."""
    return Parts(LanguageModel(model), DecodeConfig(**settings))
