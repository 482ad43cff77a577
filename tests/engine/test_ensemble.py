"""Ensemble verification: the mixture rule, its counts in the trace, generate() as the oracle."""

from __future__ import annotations

import pytest
import torch

from specviz.config import DecodeConfig
from specviz.engine.drafters import methods
from specviz.engine.drafters.base import Draft, Parts
from specviz.engine.language_model import LanguageModel
from specviz.engine.verifiers import Ensemble, GreedyMatch, SpeculativeSampling, rule_of
from specviz.errors import MethodError, SettingError
from specviz.events import Fate
from tests.fakes import (
    TableModel,
    generated,
    near_copy,
    new_ids,
    run_method,
    steps,
    tiny_gemma,
    tiny_glm,
    tiny_llama,
)

TARGET_PROBS = torch.tensor([0.6, 0.4])
DRAFT_PROBS = torch.tensor([0.9, 0.1])
PROMPT = [5, 9, 3, 17, 40, 2, 8, 8, 21, 60, 1, 30]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def one_draft(probs: torch.Tensor, token: int) -> Draft:
    return Draft((token,), probs.log()[None], probs[None])


def random_probs(count: int, size: int, seed: int) -> torch.Tensor:
    rows = torch.rand(count, size, generator=rng(seed)) ** 3
    return rows / rows.sum(-1, keepdim=True)


def ensemble_parts(model, draft, drafter=None, **settings) -> Parts:
    settings.setdefault("max_new_tokens", 40)
    return Parts(
        LanguageModel(model),
        DecodeConfig(**settings),
        draft=None if draft is None else LanguageModel(draft),
        drafter_method=drafter,
    )


def without_pad(model):
    """generate() hides tokens that equal the pad token from the assistant; ours does not."""
    model.generation_config.pad_token_id = None
    return model


def test_two_token_case_follows_the_mixture():
    """U32 with F6: w = 0.5 between (0.6, 0.4) and (0.9, 0.1), over 20,000 judged positions."""
    rule, source, count = Ensemble(0.5, greedy=False), rng(1), 30
    scores, draft_probs = TARGET_PROBS.log().repeat(count + 1, 1), DRAFT_PROBS.repeat(count, 1)
    judged = zeros = accepted = 0
    while judged < 20_000:
        ids = torch.multinomial(DRAFT_PROBS, count, replacement=True, generator=source).tolist()
        verdict = rule.judge(Draft(tuple(ids), None, draft_probs), scores, source)
        kept = ids[: verdict.num_accepted]
        if verdict.num_accepted < count:
            kept.append(verdict.next_id)
        judged += len(kept)
        accepted += verdict.num_accepted
        zeros += kept.count(0)
    assert zeros / judged == pytest.approx(0.75, abs=0.01)
    assert accepted / judged == pytest.approx(0.85, abs=0.01)


@pytest.mark.parametrize("weight", [0.01, 0.3, 0.7, 0.99])
def test_output_law_is_the_mixture_exactly(weight):
    """q(x)·accept(x) + P(reject)·residual(x) = w·p(x) + (1 − w)·q(x), from the verdicts alone."""
    size = 9
    target, draft = random_probs(2, size, 3), random_probs(1, size, 4)[0]
    target[0, 2] = 0
    target[0] /= target[0].sum()
    law, refused, rest = torch.zeros(size), 0.0, None
    for token in range(size):
        kept = [
            Ensemble(weight, greedy=False).judge(one_draft(draft, token), target.log(), rng(s))
            for s in range(400 if rest is None else 1)
        ]
        chance = kept[0].accept_probs[0]
        law[token] = draft[token] * chance
        refused += float(draft[token]) * (1 - chance)
        rest = next((v.residual for v in kept if v.residual is not None), rest)
    law += refused * (rest if rest is not None else 0)
    expected = weight * target[0] + (1 - weight) * draft
    assert torch.allclose(law, expected, atol=1e-6)


def test_verdict_carries_the_mixture_of_judged_positions():
    target, draft = random_probs(4, 7, 5), random_probs(3, 7, 6)
    found = Ensemble(0.4, greedy=False).judge(
        Draft((1, 2, 3), draft.log(), draft), target.log(), rng(2)
    )
    judged = len(found.accept_probs)
    assert torch.allclose(found.judged, 0.4 * target[:judged] + 0.6 * draft[:judged], atol=1e-6)


def test_bonus_token_comes_from_the_target():
    draft = torch.tensor([[1.0, 0.0, 0.0]])
    target = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for greedy in (True, False):
        rule = Ensemble(0.5, greedy=greedy)
        found = rule.judge(Draft((0,), draft.log(), draft), target.log(), rng())
        assert (found.num_accepted, found.next_id) == (1, 2)


def test_equal_distributions_accept_everything_and_keep_a_residual_possible():
    draft = random_probs(1, 5, 8)
    for seed in range(50):
        found = Ensemble(0.5, greedy=False).judge(
            Draft((1,), draft.log(), draft), draft.repeat(2, 1).log(), rng(seed)
        )
        assert found.num_accepted == 1


@pytest.mark.parametrize("weight", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_weight_outside_the_open_interval_is_refused(weight):
    with pytest.raises(SettingError, match="ensemble_weight must be a number strictly between"):
        DecodeConfig(ensemble_weight=weight)
    with pytest.raises(SettingError, match="ensemble_weight"):
        Ensemble(weight, greedy=True)


@pytest.mark.parametrize("drafter", ["prompt_lookup", "plain", "universal", "ensemble", "nothing"])
def test_drafter_without_distribution_is_refused(drafter):
    parts = ensemble_parts(tiny_llama(), tiny_llama(seed=1), drafter)
    with pytest.raises(MethodError, match=f"{drafter!r}.*choose one of.*speculative"):
        run_method("ensemble", parts, PROMPT)


def test_card_is_lossy_and_rule_follows_the_card():
    card = methods()["ensemble"].card
    assert not card.lossless and "ensemble_weight" in card.settings
    assert rule_of(card, DecodeConfig()).lossless is False
    speculative = methods()["speculative"].card
    assert isinstance(rule_of(speculative, DecodeConfig()), GreedyMatch)
    assert isinstance(rule_of(speculative, DecodeConfig(temperature=1)), SpeculativeSampling)


@pytest.mark.parametrize("make", [tiny_llama, tiny_glm, tiny_gemma])
@pytest.mark.parametrize("weight", [0.1, 0.6])
def test_greedy_equals_generate_with_an_assistant(make, weight):
    model = without_pad(make())
    draft = near_copy(model, noise=0.06)
    expected = generated(model, PROMPT, 24, assistant_model=draft, assistant_ensemble_weight=weight)
    parts = ensemble_parts(model, draft, ensemble_weight=weight, max_new_tokens=24)
    assert new_ids(run_method("ensemble", parts, PROMPT)) == expected
    assert new_ids(run_method("ensemble", parts, PROMPT)) == expected


@pytest.mark.parametrize("weight", [0.2, 0.6])
def test_greedy_equals_generate_with_an_early_exit(weight):
    model = without_pad(tiny_llama(layers=4))
    expected = generated(
        model, PROMPT, 24, assistant_early_exit=2, assistant_ensemble_weight=weight
    )
    settings = {"exit_layer": 2, "ensemble_weight": weight, "max_new_tokens": 24}
    parts = ensemble_parts(model, None, "early_exit", **settings)
    assert new_ids(run_method("ensemble", parts, PROMPT)) == expected


def test_greedy_trace_counts_accepted_tokens_that_the_target_would_not_choose():
    model = tiny_llama()
    draft = near_copy(model, noise=0.08)
    events = run_method("ensemble", ensemble_parts(model, draft, ensemble_weight=0.1), PROMPT)
    output = new_ids(events)
    own = _target_choices(model, PROMPT, output)
    counted = expected = position = 0
    for step in steps(events):
        for token in step.accepted:
            counted += token.id != token.target_choice
            expected += own[position] != token.id
            assert token.target_choice == own[position]
            position += 1
        position += step.target_token is not None
    assert counted == expected > 0


def test_lossless_runs_count_no_foreign_choice():
    model = tiny_llama()
    parts = ensemble_parts(model, near_copy(model, noise=0.08))
    for step in steps(run_method("speculative", parts, PROMPT)):
        assert all(t.id == t.target_choice and t.total_variation is None for t in step.accepted)


def test_trace_shows_total_variation_and_the_chance_of_acceptance():
    """On tables: tv = (1 − w)·½Σ|p − q| and β = 1 − w + w·Σ min(p, q) at each judged position."""
    target, draft = random_probs(6, 6, 11), random_probs(6, 6, 12)
    parts = Parts(
        TableModel(target),
        DecodeConfig(max_new_tokens=60, gamma=3, temperature=1.0, ensemble_weight=0.3),
        draft=TableModel(draft),
    )
    last, seen = 2, 0
    for step in steps(run_method("ensemble", parts, [1, last])):
        for token in step.proposed:
            if token.fate in (Fate.ACCEPTED, Fate.REJECTED):
                gap = 0.5 * float((target[last] - draft[last]).abs().sum())
                assert token.total_variation == pytest.approx(0.7 * gap, abs=1e-5)
                assert token.overlap == pytest.approx(0.7 + 0.3 * (1 - gap), abs=1e-5)
                seen += 1
            else:
                assert token.total_variation is None
            last = token.id
        last = step.committed_ids[-1]
    assert seen > 20


def test_sampled_run_follows_the_mixture_of_the_tables():
    """What follows each token in a long run: w·p + (1 − w)·q, and not p."""
    target, draft = random_probs(5, 5, 21), random_probs(5, 5, 22)
    settings = {"max_new_tokens": 4096, "gamma": 1, "temperature": 1.0, "ensemble_weight": 0.5}
    parts = Parts(TableModel(target), DecodeConfig(**settings), draft=TableModel(draft))
    counts, last = torch.zeros(5, 5), 3
    for step in steps(run_method("ensemble", parts, [0, last])):
        if step.proposed:
            counts[last, step.committed_ids[0]] += 1
        last = step.committed_ids[-1]
    visits = counts.sum(-1, keepdim=True)
    mixture = visits * (target + draft) / 2
    assert float((counts - mixture).abs().sum() / visits.sum()) / 2 < 0.06
    assert float((counts - visits * target).abs().sum() / visits.sum()) / 2 > 0.12


def _target_choices(model, prompt, output) -> list[int]:
    """The target's argmax at every new position, from one plain forward pass."""
    ids = torch.tensor([[*prompt, *output]])
    with torch.inference_mode():
        logits = model(input_ids=ids, use_cache=False).logits[0]
    return logits[len(prompt) - 1 : -1].argmax(-1).tolist()
