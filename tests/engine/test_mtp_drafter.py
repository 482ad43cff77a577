"""The Gemma 4 drafter: greedy ids, proposals, windows and exact sampling, beside generate()."""

from __future__ import annotations

import collections
import dataclasses

import pytest
import torch
from transformers.generation.candidate_generator import SinglePositionMultiTokenCandidateGenerator

from specviz.config import DecodeConfig
from specviz.engine.assistant import DirectAssistant, ModuleAssistant, assistant_of
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
KINDS = {
    "window 8": {},
    "window 64": {"window": 64},
    "per-layer inputs, shared layers": {"per_layer": 8, "shared": 2},
    "softcap": {"softcap": 5.0},
}


@pytest.fixture(scope="module", params=KINDS)
def gemma(request):
    """A target and its drafter."""
    module = fakes.tiny_gemma(**KINDS[request.param])
    return module, fakes.gemma_assistant(module)


@pytest.fixture(scope="module")
def small():
    """A target of five tokens and window 8: all, some and none of a draft are accepted."""
    module = fakes.tiny_gemma(vocab=VOCAB, seed=3)
    return module, fakes.gemma_assistant(module, seed=3)


@pytest.mark.parametrize("length", PROMPTS)
def test_greedy_ids_equal_generate(gemma, length):
    expected = fakes.generated(gemma[0], PROMPTS[length], 16)
    for gamma in (1, 5):
        for _ in range(2 if length == 12 else 1):  # no run sees an earlier one (public case U06)
            events = run("mtp_drafter", *gemma, PROMPTS[length], max_new_tokens=16, gamma=gamma)
            assert fakes.new_ids(events) == expected


def test_the_direct_pass_serves_the_drafter_and_the_target_decides_nothing(small):
    module, drafter = small
    prompt = short(PROMPTS[30], VOCAB)
    assert isinstance(assistant_of(drafter, drafter.device), DirectAssistant)
    runs = [
        proposals(prompt, run("mtp_drafter", module, drafter, prompt, direct=direct))
        for direct in (None, False)
    ]
    assert runs[0] == runs[1]


def test_an_ordered_embedding_runs_through_the_module(small):
    drafter = fakes.gemma_assistant(small[0])
    drafter.config.use_ordered_embeddings = True
    assert isinstance(assistant_of(drafter, drafter.device), ModuleAssistant)


@pytest.mark.parametrize("length", [1, 2, 12])
def test_proposals_equal_those_of_generate(length, monkeypatch):
    """Below the window. generate() of 5.24 hands over the key of a refused draft as well; it is
    cut off here before its drafter sees it, so that both read the same entries."""
    module = fakes.tiny_gemma(vocab=VOCAB, window=64, seed=3)
    drafter, prompt = fakes.gemma_assistant(module, seed=3), short(PROMPTS[length], VOCAB)
    forward = drafter.forward

    def only_valid(*args, shared_kv_states, position_ids, attention_mask, **kwargs):
        stop = int(position_ids)
        cut = {k: tuple(x[:, :, :stop] for x in v) for k, v in shared_kv_states.items()}
        return forward(
            *args, shared_kv_states=cut, position_ids=position_ids, attention_mask=None, **kwargs
        )

    events = run("mtp_drafter", module, drafter, prompt, max_new_tokens=40)
    monkeypatch.setattr(drafter, "forward", only_valid)
    expected = record(monkeypatch, SinglePositionMultiTokenCandidateGenerator)
    assert fakes.new_ids(events) == fakes.generated(module, prompt, 40, assistant_model=drafter)
    found = proposals(prompt, events)
    common = expected.keys() & found.keys()
    assert len(common) >= len(expected) - 1
    for at in common:
        assert found[at] == expected[at]


def fresh_chain(module, drafter, ids: list[int], count: int) -> torch.Tensor:
    """Logits (count, V) of a draft from keys and values made without any cache."""
    found = module(
        input_ids=torch.tensor([ids[:-1]]),
        use_cache=False,
        output_hidden_states=True,
        return_shared_kv_states=True,
    )
    window, state = module.config.sliding_window, found.hidden_states[-1][:, -1:]
    kv = dict(found.shared_kv_states)
    kv["sliding_attention"] = tuple(x[:, :, -(window - 1) :] for x in kv["sliding_attention"])
    token, rows = ids[-1], []
    for _ in range(count):
        embedded = module.get_input_embeddings()(torch.tensor([[token]]))
        step = drafter(
            inputs_embeds=torch.cat([embedded, state], -1),
            position_ids=torch.tensor([[len(ids) - 1]]),
            shared_kv_states=kv,
        )
        state, token = step.last_hidden_state, int(step.logits.argmax())
        rows.append(step.logits[0, -1])
    return torch.stack(rows)


@pytest.mark.parametrize("direct", [None, False])
@pytest.mark.parametrize("length", [2, 12, 30])
def test_the_drafter_sees_only_valid_entries_inside_the_window(small, direct, length):
    """All drafts of a run against a computation from scratch, before and behind window 8 (U30)."""
    module, drafter = small
    config = DecodeConfig(max_new_tokens=40, gamma=3)
    parts = Parts(LanguageModel(module, direct=direct), config, drafter_model=drafter)

    def look(context, draft):
        expected = fresh_chain(module, drafter, context.ids, len(draft.ids))
        assert torch.allclose(draft.scores.double(), expected, atol=1e-4)

    watched = watch("mtp_drafter", parts, short(PROMPTS[length], VOCAB), look)
    assert watched.outcomes == {"all", "partial", "none"}


def test_the_drafter_needs_no_cache_of_its_own(small):
    steps = fakes.steps(run("mtp_drafter", *small, short(PROMPTS[12], VOCAB)))
    assert {step.memory.draft_cache_bytes for step in steps} == {0}
    assert all(step.num_draft_forwards == len(step.proposed) for step in steps)
    assert [t.source.depth for t in steps[0].proposed] == [1, 2, 3, 4, 5]


def test_an_unset_draft_length_is_no_matter(small):
    """U28: the checkpoint's own length is never read."""
    module, drafter = small
    assert len(fakes.steps(run("mtp_drafter", module, drafter, [1, 2, 3]))[0].proposed) == 5
    drafter.generation_config.num_assistant_tokens = None
    assert len(fakes.steps(run("mtp_drafter", module, drafter, [1, 2, 3]))[0].proposed) == 5


def test_an_end_token_inside_the_block_ends_the_text(small):
    module, drafter = small
    prompt = short(PROMPTS[12], VOCAB)
    plain = fakes.generated(module, prompt, 40)
    for end in set(plain):
        events = run("mtp_drafter", module, drafter, prompt, max_new_tokens=40, end_ids=(end,))
        assert fakes.new_ids(events) == plain[: plain.index(end) + 1]
        assert events[-1].finish_reason == "eos"


@pytest.mark.parametrize("limit", [1, 2, 3, 6])
@pytest.mark.parametrize("schedule", ["constant", "heuristic"])
def test_the_limit_cuts_the_draft(small, limit, schedule):
    prompt = short(PROMPTS[12], VOCAB)
    events = run("mtp_drafter", *small, prompt, max_new_tokens=limit, schedule=schedule)
    assert fakes.new_ids(events) == fakes.generated(small[0], prompt, limit)
    assert all(step.cut is None for step in fakes.steps(events))


def test_history_rules_give_the_ids_of_generate(small):
    module, drafter = small
    prompt, rules = short(PROMPTS[30], VOCAB), {"repetition_penalty": 1.3}
    expected = fakes.generated(module, prompt, 30, **rules)
    events = run("mtp_drafter", module, drafter, prompt, max_new_tokens=30, **rules)
    assert fakes.new_ids(events) == expected


def test_same_seed_same_steps_and_nothing_changes(small):
    module, drafter = small
    prompt = short(PROMPTS[12], VOCAB)
    before = fingerprint(module, drafter)
    runs = [
        [
            dataclasses.replace(step, draft_s=0.0, verify_s=0.0, other_s=0.0)
            for step in fakes.steps(run("mtp_drafter", module, drafter, prompt, temperature=1.0))
        ]
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert fingerprint(module, drafter) == before


def test_drafts_are_drawn_from_the_q_that_is_reported(small):
    """U09: generate() drafts the argmax whatever the seed; ours follows q over 200 seeds."""
    module, drafter = small
    target, drawn, chances = LanguageModel(module), collections.Counter(), {}
    for seed in range(200):
        config = DecodeConfig(max_new_tokens=2, temperature=1.0, seed=seed)
        parts = Parts(target, config, drafter_model=drafter)
        events = fakes.run_method("mtp_drafter", parts, short(PROMPTS[12], VOCAB))
        (token,) = fakes.steps(events)[0].proposed
        drawn[token.id] += 1
        chances[token.id] = token.draft_prob
    for token, chance in chances.items():
        assert drawn[token] / 200 == pytest.approx(chance, abs=0.12)
