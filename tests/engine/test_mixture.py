"""The short way through a mixture of experts against the module of Transformers."""

from __future__ import annotations

import pytest
import torch
from transformers import Glm4MoeConfig
from transformers.models.glm4_moe.modeling_glm4_moe import Glm4MoeMoE

from specviz.engine import mixture as short
from specviz.engine.mixture import mixture

NUM_EXPERTS = 6


def module(top_k: int) -> Glm4MoeMoE:
    """A mixture with random weights, of those of GLM-4 MoE in small."""
    config = Glm4MoeConfig(
        hidden_size=16,
        moe_intermediate_size=8,
        n_routed_experts=NUM_EXPERTS,
        num_experts_per_tok=top_k,
        n_group=1,
        topk_group=1,
        routed_scaling_factor=1.5,
    )
    config._experts_implementation = "eager"
    torch.manual_seed(top_k)
    made = Glm4MoeMoE(config).eval()
    for weight in made.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return made


@pytest.mark.parametrize("top_k", [1, 2, 4])
@pytest.mark.parametrize("num_tokens", [1, 2, 4])
@torch.inference_mode()
def test_the_short_way_is_the_module(
    num_tokens: int, top_k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, x = module(top_k), torch.randn(num_tokens, 16)
    expected = made(x[None])[0]
    monkeypatch.setattr(short, "_by_module", lambda *_: pytest.fail("the long way was taken"))
    assert torch.allclose(mixture(x, made), expected, atol=1e-5)


@torch.inference_mode()
def test_experts_that_no_token_chose_are_not_read() -> None:
    made, x = module(1), torch.randn(2, 16)
    expected = mixture(x, made)
    chosen = set(made.gate(x)[2].flatten().tolist())
    for expert in set(range(NUM_EXPERTS)) - chosen:
        made.experts.gate_up_proj[expert] = float("nan")
    assert torch.equal(mixture(x, made), expected)


@torch.inference_mode()
def test_many_tokens_go_through_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    made, x = module(4), torch.randn(5, 16)
    monkeypatch.setattr(short, "_experts", lambda *_: pytest.fail("the short way was taken"))
    assert torch.equal(mixture(x, made), made(x[None])[0])
