"""MTP layers: greedy ids, proposals, cache and frequencies, with generate() as the oracle."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from transformers import DeepseekV3Config, DeepseekV3ForCausalLM
from transformers.generation.candidate_generator import MTPCandidateGenerator
from transformers.modeling_layers import MtpModel

from specviz.config import DecodeConfig
from specviz.engine.drafters import methods, mtp_layers
from specviz.engine.drafters.base import Parts
from specviz.engine.language_model import LanguageModel
from specviz.engine.mtp import DirectMtp, ModuleMtp, mtp_stack
from specviz.engine.verifiers import GreedyMatch
from tests import fakes
from tests.engine.drafting import (
    PROMPTS,
    Watched,
    fingerprint,
    proposals,
    record,
    run,
    short,
    watch,
)

VOCAB = 5  # so small that random drafts are accepted often


def tiny_deepseek(num_mtp: int):
    """A random DeepSeek-V3, whose latent attention has no direct pass."""
    config = DeepseekV3Config(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        moe_intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        n_shared_experts=1,
        n_routed_experts=4,
        num_experts_per_tok=2,
        n_group=1,
        topk_group=1,
        first_k_dense_replace=1,
        q_lora_rank=16,
        kv_lora_rank=16,
        qk_rope_head_dim=8,
        qk_nope_head_dim=8,
        v_head_dim=8,
        max_position_embeddings=2048,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
        num_mtp_layers=num_mtp,
    )
    config._experts_implementation = "eager"
    model = DeepseekV3ForCausalLM(config)
    for name, buffer in model.named_buffers():
        if "e_score" in name:
            buffer.zero_()
    return fakes.finish(model, std=0.3, seed=0, dtype=torch.float64)


@pytest.fixture(scope="module", params=[1, 2, 3])
def glm(request):
    """A target with K layers, K = 1, 2, 3."""
    module = fakes.tiny_glm(num_mtp=request.param)
    return module, fakes.mtp_layers(module, request.param)


@pytest.fixture(scope="module")
def small():
    """A target of five tokens with three layers: all, some and none of a draft are accepted."""
    module = fakes.tiny_glm(vocab=VOCAB, num_mtp=3)
    return module, fakes.mtp_layers(module, 3)


@pytest.mark.parametrize("length", PROMPTS)
def test_greedy_ids_equal_generate(glm, length):
    expected = fakes.generated(glm[0], PROMPTS[length], 16)
    for gamma in (1, 2, 5):
        for _ in range(2 if gamma == 5 else 1):  # no run sees an earlier one (public case U06)
            events = run("mtp_layers", *glm, PROMPTS[length], max_new_tokens=16, gamma=gamma)
            assert fakes.new_ids(events) == expected


@pytest.mark.parametrize("dense", [True, False])
def test_the_module_path_proposes_what_the_direct_one_does(dense):
    module = fakes.tiny_glm(vocab=VOCAB, num_mtp=3, dense=dense)
    layers, prompt = fakes.mtp_layers(module, 3), short(PROMPTS[12], VOCAB)
    for direct, kind in ((None, DirectMtp), (False, ModuleMtp)):
        assert type(mtp_stack(layers, LanguageModel(module, direct=direct))) is kind
    runs = [
        proposals(prompt, run("mtp_layers", module, layers, prompt, direct=direct))
        for direct in (None, False)
    ]
    assert runs[0] == runs[1]


def test_deepseek_runs_through_its_module():
    module = tiny_deepseek(2)
    layers = fakes.mtp_layers(module, 2)
    for length in (1, 12):
        expected = fakes.generated(module, PROMPTS[length], 12)
        events = run("mtp_layers", module, layers, PROMPTS[length], max_new_tokens=12)
        assert fakes.new_ids(events) == expected


def test_each_step_proposes_one_token_per_layer(glm):
    """U27: K tokens while the limit allows, each from its own layer; the first step included."""
    count = len(glm[1].layers)
    steps = fakes.steps(run("mtp_layers", *glm, PROMPTS[12], max_new_tokens=20))
    left = 20
    for step in steps:
        assert [token.source.depth for token in step.proposed] == [
            k + 1 for k in range(min(count, left - 1))
        ]
        assert step.num_draft_forwards == len(step.proposed)
        left -= len(step.committed_ids)


@pytest.mark.parametrize("length", [4, 12, 80])
def test_proposals_equal_those_of_generate(small, length, monkeypatch):
    """Prompts of fewer than K tokens make generate() of 5.24 raise; ours are tested above."""
    module, layers = small
    prompt = short(PROMPTS[80][:length], VOCAB)
    monkeypatch.setattr(MtpModel, "from_pretrained", lambda main, device_map=None: layers)
    expected = record(monkeypatch, MTPCandidateGenerator)
    ids = fakes.generated(module, prompt, 40, use_mtp=True)
    events = run("mtp_layers", module, layers, prompt, max_new_tokens=40)
    assert fakes.new_ids(events) == ids
    found = proposals(prompt, events)
    common = expected.keys() & found.keys()
    assert len(common) >= len(expected) - 1
    for at in common:  # generate() drafts K tokens even where the limit leaves room for fewer
        assert found[at] == expected[at][: len(found[at])]


def fresh_chain(module, layers, ids: list[int], depth: int) -> torch.Tensor:
    """Logits (depth, V) of the layers on a whole text, without any cache."""
    inputs = torch.tensor([ids])
    hidden = module.get_decoder()(input_ids=inputs[:, :-1], use_cache=False).last_hidden_state
    count, rows = hidden.shape[1], []
    for index in range(depth):
        positions = torch.arange(index + 1, index + 1 + count)[None]
        hidden = layers.forward_layer(index, hidden, positions, None, input_ids=inputs[:, -count:])
        rows.append(module.lm_head(hidden[0, -1]))
        inputs = torch.cat([inputs, rows[-1].argmax()[None, None]], 1)
    return torch.stack(rows)


@pytest.mark.parametrize("direct", [None, False])
@pytest.mark.parametrize("schedule", ["constant", "heuristic"])
def test_the_cache_is_right_after_every_outcome(small, direct, schedule):
    """All drafts of a run against a computation from scratch, and the length of the cache."""
    module, layers = small
    prompt = short(PROMPTS[12], VOCAB)
    config = DecodeConfig(max_new_tokens=40, gamma=3, schedule=schedule)
    parts = Parts(LanguageModel(module, direct=direct), config, drafter_model=layers)

    def look(context, draft):
        expected = fresh_chain(module, layers, context.ids, len(draft.ids))
        assert torch.allclose(draft.scores.double(), expected, atol=1e-4)

    watched = watch("mtp_layers", parts, prompt, look)
    assert watched.outcomes == {"all", "partial", "none"}


def test_only_entries_of_refused_tokens_are_dropped(small):
    """After n accepted of K drafts K − 1 − n entries are dropped; after K − 1 or K, none."""
    module, layers = small
    parts = Parts(LanguageModel(module), DecodeConfig(max_new_tokens=40), drafter_model=layers)
    drafter = methods()["mtp_layers"].build(parts)
    dropped = set()

    class Measured(Watched):
        def commit(self, context, outputs, kept):
            before = drafter._cache.length
            super().commit(context, outputs, kept)
            if context.remaining > 3:
                dropped.add((kept - 1, before - drafter._cache.length))

    watched = Measured(drafter, lambda context, draft: None)
    fakes.run_with(watched, GreedyMatch(), parts, short(PROMPTS[12], VOCAB))
    assert dropped == {(0, 2), (1, 1), (2, 0), (3, 0)}
    assert drafter.cache_bytes > 0


def test_long_prompts_are_read_in_parts(small, monkeypatch):
    module, layers = small
    prompt = short(PROMPTS[80], VOCAB)
    whole = proposals(prompt, run("mtp_layers", module, layers, prompt))
    monkeypatch.setattr(mtp_layers, "PREFILL_CHUNK", 7)
    assert proposals(prompt, run("mtp_layers", module, layers, prompt)) == whole


def test_an_end_token_inside_the_block_ends_the_text(small):
    module, layers = small
    prompt = short(PROMPTS[12], VOCAB)
    plain = fakes.generated(module, prompt, 40)
    for end in set(plain):
        events = run("mtp_layers", module, layers, prompt, max_new_tokens=40, end_ids=(end,))
        assert fakes.new_ids(events) == plain[: plain.index(end) + 1]
        assert events[-1].finish_reason == "eos"


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 9])
def test_the_limit_cuts_the_draft(small, limit):
    module, layers = small
    prompt = short(PROMPTS[12], VOCAB)
    events = run("mtp_layers", module, layers, prompt, max_new_tokens=limit)
    assert fakes.new_ids(events) == fakes.generated(module, prompt, limit)
    assert all(step.cut is None for step in fakes.steps(events))


def test_a_confidence_gate_cuts_the_draft_and_counts_what_it_held_back(small):
    module, layers = small
    prompt = short(PROMPTS[12], VOCAB)
    events = run("mtp_layers", module, layers, prompt, max_new_tokens=40, confidence=0.9)
    assert fakes.new_ids(events) == fakes.generated(module, prompt, 40)
    steps = fakes.steps(events)[:-3]  # the limit shortens the last ones
    assert {len(step.proposed) + step.num_unsent for step in steps} == {3}
    assert any(step.num_unsent for step in steps)
    for step in steps:
        assert all(token.draft_prob >= 0.9 for token in step.proposed[:-1])


def test_history_rules_give_the_ids_of_generate(small):
    module, layers = small
    prompt, rules = short(PROMPTS[30], VOCAB), {"repetition_penalty": 1.3}
    expected = fakes.generated(module, prompt, 30, **rules)
    assert fakes.new_ids(run("mtp_layers", module, layers, prompt, max_new_tokens=30, **rules)) == (
        expected
    )


def test_same_seed_same_steps_and_nothing_changes(small):
    module, layers = small
    prompt = short(PROMPTS[12], VOCAB)
    run("mtp_layers", module, layers, prompt)  # the first run reads the weights
    before = fingerprint(module, layers)
    runs = [
        [
            dataclasses.replace(step, draft_s=0.0, verify_s=0.0, other_s=0.0)
            for step in fakes.steps(run("mtp_layers", module, layers, prompt, temperature=1.0))
        ]
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert fingerprint(module, layers) == before
