"""Public bugs of other engines, as cases that ours passes; the ids are those of the design notes.

U01 U03 U05 U06 U10 U12 U14 U15 U23 U24 U33 U35, for the methods that need only a target and a
draft model. Cases of losslessness are in ``test_losslessness``, of cancelling in the contract.
"""

from __future__ import annotations

import dataclasses

import pytest
import torch

from specviz.config import DecodeConfig
from specviz.engine.drafters.base import Draft, Drafter, Parts
from specviz.engine.language_model import LanguageModel
from specviz.engine.verifiers import GreedyMatch
from specviz.errors import SettingError
from specviz.events import Fate, Finished, NgramSource
from tests import fakes

METHODS = ["plain", "speculative", "prompt_lookup", "early_exit"]
PROMPT = [(7 * i + 3) % 64 for i in range(12)]


def with_ends(model: LanguageModel, *ends: int) -> LanguageModel:
    """The same weights with other end tokens."""
    return LanguageModel(model.module, tuple(ends))


@pytest.fixture(scope="module")
def plain_ids(target):
    return fakes.new_ids(
        fakes.run_method("plain", Parts(target, DecodeConfig(max_new_tokens=40)), PROMPT)
    )


def first_new(ids: list[int], at_least: int) -> int:
    """The first index ≥ ``at_least`` whose id has not occurred before."""
    return next(i for i in range(at_least, len(ids)) if ids[i] not in ids[:i])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ends", ["one", "list"])
def test_u01_text_ends_at_the_first_end_token(target, draft, plain_ids, method, ends):
    at = first_new(plain_ids, 2)
    unseen = next(i for i in range(64) if i not in plain_ids)
    chosen = (plain_ids[at],) if ends == "one" else (unseen, plain_ids[at])
    parts = Parts(with_ends(target, *chosen), DecodeConfig(max_new_tokens=40), draft=draft)
    events = fakes.run_method(method, parts, PROMPT)
    assert fakes.new_ids(events) == plain_ids[: at + 1]
    assert events[-1].finish_reason == "eos"


def test_u01_what_an_oracle_drafts_behind_the_end_token_is_discarded(target, plain_ids):
    at = first_new(plain_ids, 2)
    parts = Parts(with_ends(target, plain_ids[at]), DecodeConfig(max_new_tokens=40))
    drafter = fakes.OracleDrafter(PROMPT + plain_ids, 8)
    events = fakes.run_with(drafter, GreedyMatch(), parts, PROMPT)
    (step,) = fakes.steps(events)
    fates = [token.fate for token in step.proposed]
    assert fates == [Fate.ACCEPTED] * (at + 1) + [Fate.DISCARDED] * (7 - at)
    assert step.cut == "eos"
    assert step.target_token is None
    assert fakes.new_ids(events) == plain_ids[: at + 1]


def test_u03_a_longer_draft_than_the_limit_is_cut(target, plain_ids):
    parts = Parts(target, DecodeConfig(max_new_tokens=4))
    drafter = fakes.OracleDrafter(PROMPT + plain_ids, 8)
    events = fakes.run_with(drafter, GreedyMatch(), parts, PROMPT)
    (step,) = fakes.steps(events)
    assert [t.fate for t in step.proposed] == [Fate.ACCEPTED] * 4 + [Fate.DISCARDED] * 4
    assert step.cut == "length"
    assert step.target_token is None
    assert events[-1].finish_reason == "length"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_u03_never_more_tokens_than_asked_for(target, draft, plain_ids, method, limit):
    parts = Parts(target, DecodeConfig(max_new_tokens=limit, gamma=3), draft=draft)
    assert fakes.new_ids(fakes.run_method(method, parts, PROMPT)) == plain_ids[:limit]


@pytest.mark.parametrize("method", METHODS)
def test_a_stop_text_ends_the_run_with_the_token_that_completes_it(
    target, draft, plain_ids, method
):
    text = fakes.text_of(plain_ids)
    stop = text[5:7]
    end = text.index(stop) + 2
    parts = Parts(target, DecodeConfig(max_new_tokens=40, stop=(stop,)), draft=draft)
    events = fakes.run_method(method, parts, PROMPT)
    assert fakes.new_ids(events) == plain_ids[:end]
    assert events[-1].finish_reason == "stop"


def lookup_step(target, prompt, **settings):
    parts = Parts(target, DecodeConfig(max_new_tokens=10, gamma=3, ngram=2, **settings))
    return fakes.steps(fakes.run_method("prompt_lookup", parts, prompt))[0]


COPY = [5, 6, 7, 8, 9, 10, 11, 7, 8]


def test_u05_prompt_lookup_works_without_an_end_token(target):
    step = lookup_step(target, COPY)
    assert [token.id for token in step.proposed] == [9, 10, 11]
    assert {token.source for token in step.proposed} == {NgramSource(start=4, ngram=2)}


def test_u05_forbidden_tokens_are_never_proposed(target):
    parts = Parts(target, DecodeConfig(max_new_tokens=30, gamma=3, bad_words_ids=((9,),)))
    for step in fakes.steps(fakes.run_method("prompt_lookup", parts, COPY)):
        assert 9 not in [token.id for token in step.proposed]


def test_u05_no_match_is_a_plain_step(target):
    step = lookup_step(target, [1, 2, 3, 4, 5])
    assert step.proposed == ()
    assert step.target_token.fate is Fate.BONUS


@pytest.mark.parametrize("gamma", [0, 17, 40, -1, "x", 2.5, True, None])
def test_u05_a_draft_length_out_of_range_is_refused_with_a_sentence(gamma):
    with pytest.raises(SettingError, match=r"gamma must be a whole number from 1 to 16, got"):
        DecodeConfig(gamma=gamma)


@pytest.mark.parametrize("method", METHODS)
def test_u10_the_order_of_runs_does_not_matter(target, draft, method):
    parts = Parts(target, DecodeConfig(max_new_tokens=20, temperature=1.0, seed=0), draft=draft)
    alone = fakes.new_ids(fakes.run_method(method, parts, PROMPT))
    torch.manual_seed(123)
    fakes.run_method("plain", parts, PROMPT)
    assert fakes.new_ids(fakes.run_method(method, parts, PROMPT)) == alone


@pytest.mark.parametrize(("confidence", "expected"), [(0.0, 3), (1.0, 1)])
def test_u12_the_confidence_gate_is_what_it_says(target, confidence, expected):
    """A random assistant is never sure: with the gate at 1 it drafts one token, at 0 all three."""
    unsure = LanguageModel(fakes.tiny_llama(seed=3, std=0.05))
    config = DecodeConfig(max_new_tokens=20, gamma=3, confidence=confidence)
    steps = fakes.steps(
        fakes.run_method("speculative", Parts(target, config, draft=unsure), PROMPT)
    )
    counts = {len(step.proposed) for step in steps[:-3]}
    assert counts == {expected}
    assert {step.confidence for step in steps} == {confidence}


def test_u12_a_low_gate_is_not_a_hidden_one(target):
    """Sampled drafts of an assistant whose q lies near 1/64: gates of 0 and 0.001 stop nothing."""
    unsure = LanguageModel(fakes.tiny_llama(seed=3, std=0.05))
    for confidence, expected in ((0.0, {3}), (0.001, {3}), (0.4, {1})):
        config = DecodeConfig(
            max_new_tokens=20, gamma=3, confidence=confidence, temperature=1.0, seed=5
        )
        parts = Parts(target, config, draft=unsure)
        steps = fakes.steps(fakes.run_method("speculative", parts, PROMPT))
        assert {len(step.proposed) for step in steps[:-3]} == expected


@pytest.mark.parametrize("temperature", [0.001, 1.0])
def test_u14_a_copy_of_the_target_is_always_accepted(target, target_module, temperature):
    config = DecodeConfig(max_new_tokens=60, temperature=temperature)
    parts = Parts(target, config, draft=LanguageModel(target_module))
    steps = fakes.steps(fakes.run_method("speculative", parts, PROMPT))
    tokens = [token for step in steps for token in step.proposed]
    assert all(token.fate is Fate.ACCEPTED for token in tokens)
    assert all(token.accept_prob == pytest.approx(1, abs=1e-4) for token in tokens)


RULES = {
    "penalty": ({"repetition_penalty": 1.5}, {"repetition_penalty": 1.5}),
    "ngram": ({"no_repeat_ngram_size": 2}, {"no_repeat_ngram_size": 2}),
    "minimum": ({"min_new_tokens": 25}, {"min_new_tokens": 25}),
    "banned": ({"bad_words_ids": ((7,),)}, {"bad_words_ids": [[7]]}),
}


@pytest.mark.parametrize("rule", RULES)
def test_u15_history_rules_give_the_ids_of_generate(target_module, draft, rule):
    ours, theirs = RULES[rule]
    end = 18 if rule == "minimum" else None
    theirs = dict(theirs, eos_token_id=end) if end is not None else theirs
    expected = fakes.generated(target_module, PROMPT, 40, **theirs)
    ends = () if end is None else (end,)
    parts = Parts(
        LanguageModel(target_module, ends), DecodeConfig(max_new_tokens=40, **ours), draft=draft
    )
    for method in METHODS:
        assert fakes.new_ids(fakes.run_method(method, parts, PROMPT)) == expected, method


@pytest.mark.parametrize("exit_layer", [0, 6, 7, -1])
def test_u23_an_exit_layer_outside_the_model_is_refused(exit_layer):
    deep = LanguageModel(fakes.tiny_llama(layers=6))
    with pytest.raises(SettingError, match=r"exit_layer must be .*from 1 to"):
        fakes.run_method("early_exit", Parts(deep, DecodeConfig(exit_layer=exit_layer)), PROMPT)


def test_u23_every_exit_layer_inside_the_model_gives_plain_greedy():
    deep = LanguageModel(fakes.tiny_llama(layers=6))
    expected = fakes.new_ids(
        fakes.run_method("plain", Parts(deep, DecodeConfig(max_new_tokens=24)), PROMPT)
    )
    for exit_layer in range(1, 6):
        config = DecodeConfig(max_new_tokens=24, exit_layer=exit_layer)
        assert (
            fakes.new_ids(fakes.run_method("early_exit", Parts(deep, config), PROMPT)) == expected
        )


def test_u24_settings_of_one_method_do_not_leak_into_another(target, draft):
    config = DecodeConfig(max_new_tokens=20, ngram=3, exit_layer=1)
    parts = Parts(target, config, draft=draft)
    kinds = {}
    for method in METHODS[1:]:
        steps = fakes.steps(fakes.run_method(method, parts, COPY))
        kinds[method] = {type(t.source).__name__ for s in steps for t in s.proposed}
    assert kinds == {
        "speculative": {"NoneType"},
        "prompt_lookup": {"NgramSource"},
        "early_exit": {"LayerSource"},
    }


class ScriptedTarget(fakes.TableModel):
    """Says 10, 11, 12, 13 … whatever it is given: the next id is a function of the position."""

    def forward(self, ids, cache, *, keep=1, want=None):
        start = cache.length
        out = super().forward(ids, cache, keep=keep)
        logits = torch.full((keep, self.vocab_size), -9.0)
        for row, position in enumerate(range(start + len(ids) - keep, start + len(ids))):
            logits[row, 10 + position] = 9.0
        return dataclasses.replace(out, logits=logits)


class ScriptedDrafter(Drafter):
    """Drafts what it is told, once."""

    def __init__(self, *ids: int, unsent: int = 0) -> None:
        self._draft = Draft(tuple(ids), num_unsent=unsent)

    def propose(self, context, gamma):
        draft, self._draft = self._draft, Draft()
        return draft


def scripted_steps(drafter: Drafter, limit: int = 8):
    target = ScriptedTarget(torch.full((100, 100), 0.01))
    parts = Parts(target, DecodeConfig(max_new_tokens=limit))
    return fakes.steps(fakes.run_with(drafter, GreedyMatch(), parts, [1]))


def test_u33_a_match_behind_the_first_rejection_is_discarded():
    step = scripted_steps(ScriptedDrafter(10, 99, 12, 98))[0]
    assert [(t.id, t.fate.value) for t in step.proposed] == [
        (10, "accepted"),
        (99, "rejected"),
        (12, "discarded"),
        (98, "discarded"),
    ]
    assert (step.target_token.id, step.target_token.fate) == (11, Fate.RESIDUAL)
    assert step.committed_ids == (10, 11)


def test_what_was_not_judged_has_no_targets_numbers():
    step = scripted_steps(ScriptedDrafter(10, 99, 12, 98))[0]
    assert [t.accept_prob for t in step.proposed] == [1.0, 0.0, None, None]
    assert [t.target_prob is None for t in step.proposed] == [False, False, True, True]


def test_u35_tokens_drafted_but_not_sent_are_counted_apart():
    step = scripted_steps(ScriptedDrafter(10, 11, 99, 13, unsent=2))[0]
    assert (len(step.proposed), len(step.accepted), step.num_unsent) == (4, 2, 2)


def test_the_heuristic_schedule_moves_by_plus_two_and_minus_one(target, target_module):
    config = DecodeConfig(max_new_tokens=60, gamma=3, schedule="heuristic")
    twin = Parts(target, config, draft=LanguageModel(target_module))
    grown = [step.gamma for step in fakes.steps(fakes.run_method("speculative", twin, PROMPT))]
    assert grown[:4] == [3, 5, 7, 9]
    stranger = LanguageModel(fakes.tiny_llama(seed=3))
    parts = Parts(target, config, draft=stranger)
    steps = fakes.steps(fakes.run_method("speculative", parts, PROMPT))
    if all(not step.accepted for step in steps[:3]):
        assert [step.gamma for step in steps[:4]] == [3, 2, 1, 1]


def test_memory_is_counted_to_the_byte(target, draft):
    """Keys and values: 2 × layers × kv heads × head size × 8 bytes per token."""
    parts = Parts(target, DecodeConfig(max_new_tokens=20), draft=draft)
    events = fakes.run_method("speculative", parts, PROMPT)
    length = len(PROMPT)
    for step in fakes.steps(events):
        length += len(step.committed_ids)
        assert step.memory.target_cache_bytes == 2 * 3 * 2 * 8 * 8 * (length - 1)
        assert step.memory.logits_bytes == (len(step.proposed) + 1) * 64 * 4


def test_sampled_lookup_reports_p_as_chance_and_overlap(target):
    parts = Parts(target, DecodeConfig(max_new_tokens=20, temperature=1.0, gamma=3))
    judged = [
        token
        for step in fakes.steps(fakes.run_method("prompt_lookup", parts, COPY * 3))
        for token in step.proposed
        if token.fate is not Fate.DISCARDED
    ]
    assert judged
    for token in judged:
        assert token.accept_prob == pytest.approx(token.target_prob)
        assert token.overlap == pytest.approx(token.target_prob)
        assert token.draft_prob is None
        assert token.draw is None


def test_the_run_of_a_prompt_without_tokens_is_a_callers_error(target):
    with pytest.raises(ValueError, match="no tokens"):
        fakes.run_method("plain", Parts(target, DecodeConfig()), [])


def test_times_add_up(target, draft):
    parts = Parts(target, DecodeConfig(max_new_tokens=30), draft=draft)
    events = fakes.run_method("speculative", parts, PROMPT)
    last = events[-1]
    assert isinstance(last, Finished)
    assert sum(s.seconds for s in fakes.steps(events)) == pytest.approx(last.decode_s, rel=1e-6)
