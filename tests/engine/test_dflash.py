"""The block drafter: greedy ids, proposals, windows and frequencies, with generate() as oracle."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from transformers.generation.candidate_generator import DFlashTokenCandidateGenerator
from transformers.models.muse_glimmer_assistant import MuseGlimmerAssistantConfig
from transformers.models.muse_glimmer_assistant.modeling_muse_glimmer_assistant import (
    MuseGlimmerAssistantModel,
)

from specviz.config import DecodeConfig
from specviz.engine.drafters import dflash
from specviz.engine.drafters.base import Parts
from specviz.engine.language_model import LanguageModel
from tests import fakes
from tests.engine.drafting import (
    PROMPTS,
    fingerprint,
    proposals,
    record,
    run,
    short,
    watch,
)

VOCAB = 5  # so small that random drafts are accepted often
TARGETS = {"llama": fakes.tiny_llama, "gemma": fakes.tiny_gemma}


def block_drafter(target, *, block=4, window=64, layers=None, seed=1, std=0.3, dtype=torch.float64):
    """A random DFlash drafter for a target; by default it reads all of its layers."""
    own = target.config
    config = MuseGlimmerAssistantConfig(
        hidden_size=own.hidden_size,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=2048,
        sliding_window=window,
        block_size=block,
        mask_token_id=own.vocab_size - 1,
        target_layer_ids=layers or list(range(own.num_hidden_layers)),
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
    )
    model = MuseGlimmerAssistantModel(config)
    fakes.randomise(model, std=std, seed=seed)
    return model.to(dtype).eval()


@pytest.fixture(scope="module", params=TARGETS)
def wide(request):
    """A target of 64 tokens and a drafter whose window is 8."""
    module = TARGETS[request.param]()
    return module, block_drafter(module, window=8)


@pytest.fixture(scope="module")
def small():
    """A target of five tokens: all, some and none of a draft are accepted."""
    module = fakes.tiny_llama(vocab=VOCAB, seed=4)
    return module, block_drafter(module, window=8, seed=5)


@pytest.mark.parametrize("length", PROMPTS)
def test_greedy_ids_equal_generate(wide, length):
    expected = fakes.generated(wide[0], PROMPTS[length], 16)
    for gamma in (1, 2, 16):  # below and above the three tokens of a block
        for _ in range(2 if length == 12 else 1):
            events = run("dflash", *wide, PROMPTS[length], max_new_tokens=16, gamma=gamma)
            assert fakes.new_ids(events) == expected
            sizes = [len(step.proposed) for step in fakes.steps(events)]
            assert max(sizes) == min(gamma, 3)


@pytest.mark.parametrize("direct", [None, False])
@pytest.mark.parametrize("length", PROMPTS)
def test_proposals_equal_those_of_generate(wide, length, direct, monkeypatch):
    """Also behind the drafter's window of 8 tokens (U30)."""
    module, drafter = wide
    expected = record(monkeypatch, DFlashTokenCandidateGenerator)
    fakes.generated(module, PROMPTS[length], 16, assistant_model=drafter, speculation_type="dflash")
    events = run("dflash", module, drafter, PROMPTS[length], max_new_tokens=16, direct=direct)
    found = proposals(PROMPTS[length], events)
    common = expected.keys() & found.keys()
    assert len(common) >= len(expected) - 1
    for at in common:
        assert found[at] == expected[at][: len(found[at])]


def fresh_block(module, drafter, ids: list[int], count: int) -> torch.Tensor:
    """Logits (count, V) of a block behind a whole text, without any cache."""
    found = module(input_ids=torch.tensor([ids[:-1]]), use_cache=False, output_hidden_states=True)
    config = drafter.config
    states = [found.hidden_states[layer + 1] for layer in config.target_layer_ids]
    noise = [ids[-1], *[config.mask_token_id] * (config.block_size - 1)]
    length, block = len(ids) - 1, config.block_size
    distance = torch.arange(length, length + block)[:, None] - torch.arange(length + block)
    mask = (distance.abs() <= config.sliding_window)[None, None]
    filled = drafter(
        noise_embeds=module.get_input_embeddings()(torch.tensor([noise])),
        context_hidden_states=torch.cat(states, -1),
        position_ids=torch.arange(length + block)[None],
        attention_mask={"sliding_attention": mask, "full_attention": mask},
        use_cache=False,
    )
    return module.get_output_embeddings()(filled.last_hidden_state[0, 1 : count + 1])


@pytest.mark.parametrize("length", [2, 12, 30])
def test_the_context_is_right_after_every_outcome(small, length):
    module, drafter = small
    config = DecodeConfig(max_new_tokens=40, gamma=3)
    parts = Parts(LanguageModel(module), config, drafter_model=drafter)

    def look(context, draft):
        expected = fresh_block(module, drafter, context.ids, len(draft.ids))
        assert torch.allclose(draft.scores.double(), expected, atol=1e-4)

    watched = watch("dflash", parts, short(PROMPTS[length], VOCAB), look)
    assert watched.outcomes == {"all", "partial", "none"}


def test_layers_may_come_in_any_order():
    module = fakes.tiny_llama(vocab=VOCAB)
    drafter = block_drafter(module, layers=[2, 0])
    parts = Parts(LanguageModel(module), DecodeConfig(max_new_tokens=12), drafter_model=drafter)

    def look(context, draft):
        expected = fresh_block(module, drafter, context.ids, len(draft.ids))
        assert torch.allclose(draft.scores.double(), expected, atol=1e-4)

    watch("dflash", parts, short(PROMPTS[12], VOCAB), look)


def test_one_pass_per_draft_and_a_cache_of_the_context_only(small):
    module, drafter = small
    prompt = short(PROMPTS[2], VOCAB)
    for step in fakes.steps(run("dflash", module, drafter, prompt, max_new_tokens=6)):
        assert step.num_draft_forwards == bool(step.proposed)
        assert [token.source.depth for token in step.proposed] == [
            i + 1 for i in range(len(step.proposed))
        ]
        per_token = 2 * 2 * 2 * 8 * 8  # layers, keys and values, heads, head size, bytes
        assert step.memory.draft_cache_bytes <= 8 * per_token


def test_long_prompts_are_read_in_parts(small, monkeypatch):
    prompt = short(PROMPTS[80], VOCAB)
    whole = proposals(prompt, run("dflash", *small, prompt))
    monkeypatch.setattr(dflash, "PREFILL_CHUNK", 7)
    assert proposals(prompt, run("dflash", *small, prompt)) == whole


def test_an_end_token_inside_the_block_ends_the_text(small):
    module, drafter = small
    prompt = short(PROMPTS[12], VOCAB)
    plain = fakes.generated(module, prompt, 40)
    for end in set(plain):
        events = run("dflash", module, drafter, prompt, max_new_tokens=40, end_ids=(end,))
        assert fakes.new_ids(events) == plain[: plain.index(end) + 1]
        assert events[-1].finish_reason == "eos"


@pytest.mark.parametrize("limit", [1, 2, 3, 6])
def test_the_limit_cuts_the_draft(small, limit):
    prompt = short(PROMPTS[12], VOCAB)
    events = run("dflash", *small, prompt, max_new_tokens=limit)
    assert fakes.new_ids(events) == fakes.generated(small[0], prompt, limit)
    assert all(step.cut is None for step in fakes.steps(events))


def test_history_rules_give_the_ids_of_generate(small):
    prompt, rules = short(PROMPTS[30], VOCAB), {"repetition_penalty": 1.3}
    expected = fakes.generated(small[0], prompt, 30, **rules)
    assert fakes.new_ids(run("dflash", *small, prompt, max_new_tokens=30, **rules)) == expected


def test_same_seed_same_steps_and_nothing_changes(small):
    prompt = short(PROMPTS[12], VOCAB)
    before = fingerprint(*small)
    runs = [
        [
            dataclasses.replace(step, draft_s=0.0, verify_s=0.0, other_s=0.0)
            for step in fakes.steps(run("dflash", *small, prompt, temperature=1.0))
        ]
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert fingerprint(*small) == before
