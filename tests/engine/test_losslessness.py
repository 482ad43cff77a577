"""Losslessness twice: as an identity of distributions, and by frequencies with fixed seeds.

Identity, for each rule: what a judged position realises, Σ over ways to get token x, is p(x).
Frequencies: the first tokens of many runs against their exact probabilities, computed here by
enumeration from the model's own table or logits, never by the engine's loop.
"""

from __future__ import annotations

import collections

import pytest
import torch

from specviz.config import DecodeConfig
from specviz.engine.decode import Run
from specviz.engine.drafters.base import Draft, Parts
from specviz.engine.drafters.speculative import ModelDrafter
from specviz.engine.language_model import LanguageModel
from specviz.engine.sampling import one_hot_residual, residual
from specviz.engine.verifiers import SampleMatch, SpeculativeSampling
from tests import fakes
from tests.engine.laws import chi_square_p, enumerated, logits_of

TARGET = torch.tensor([0.6, 0.4])
DRAFT = torch.tensor([0.9, 0.1])


def dirichlet(vocab: int, seed: int) -> torch.Tensor:
    """A random distribution with one impossible token."""
    rng = torch.Generator().manual_seed(seed)
    weights = torch.rand(vocab, generator=rng, dtype=torch.float64) ** 3
    weights[seed % vocab] = 0
    return weights / weights.sum()


@pytest.mark.parametrize("seed", range(5))
def test_speculative_rule_realises_p_exactly(seed):
    target, draft = dirichlet(12, seed), dirichlet(12, seed + 50)
    kept = torch.minimum(target, draft)  # q(x) · min(1, p(x)/q(x))
    realised = kept + (1 - kept.sum()) * residual(target, draft)
    torch.testing.assert_close(realised, target, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_one_hot_rule_realises_p_exactly(seed):
    target, token = dirichlet(12, seed), (seed + 3) % 12
    kept = torch.zeros(12, dtype=torch.float64)
    kept[token] = target[token]
    realised = kept + (1 - kept.sum()) * one_hot_residual(target, token)
    torch.testing.assert_close(realised, target, rtol=0, atol=1e-12)


def test_residual_of_equal_distributions_is_p_itself():
    assert torch.equal(residual(TARGET, TARGET), TARGET)


def test_a_token_of_probability_zero_is_never_accepted():
    scores = torch.tensor([[float("-inf"), 0.0], [0.0, 0.0]])
    draft = Draft((0,), probs=torch.tensor([[1.0, 0.0]]))
    rng = torch.Generator().manual_seed(0)
    for _ in range(200):
        verdict = SpeculativeSampling().judge(draft, scores, rng)
        assert (verdict.num_accepted, verdict.next_id) == (0, 1)


def two_token_shares(rule, draft_of, count: int) -> tuple[float, float]:
    """Frequency of token 0 and share of accepted drafts over ``count`` judgements (F6)."""
    scores = torch.stack([TARGET, TARGET]).log()
    rng = torch.Generator().manual_seed(1)
    zeros = accepted = 0
    for _ in range(count):
        draft = draft_of(rng)
        verdict = rule.judge(draft, scores, rng)
        accepted += verdict.num_accepted
        zeros += (draft.ids[0] if verdict.num_accepted else verdict.next_id) == 0
    return zeros / count, accepted / count


def test_drafts_drawn_from_q_keep_the_targets_frequencies():
    """Public case U08: frequency 0.600 ± 0.011 (3 σ), accepted 0.700 ± 0.010."""
    rule = SpeculativeSampling()

    def drawn(rng):
        token = int(torch.multinomial(DRAFT, 1, generator=rng))
        return Draft((token,), probs=DRAFT[None])

    zeros, accepted = two_token_shares(rule, drawn, 20_000)
    assert zeros == pytest.approx(0.6, abs=0.011)
    assert accepted == pytest.approx(0.6 + 0.1, abs=0.010)  # Σ min(p, q)


def test_a_fixed_draft_keeps_the_targets_frequencies():
    zeros, accepted = two_token_shares(SampleMatch(), lambda rng: Draft((0,)), 20_000)
    assert zeros == pytest.approx(0.6, abs=0.011)
    assert accepted == pytest.approx(0.6, abs=0.011)


def frequencies_p(method: str, settings: dict, draws: int, depth: int) -> float:
    """p-value of ``draws`` runs of a method against the exact distribution."""
    module = fakes.tiny_llama(vocab=8, layers=2, seed=11, std=0.35, dtype=torch.float32)
    draft = LanguageModel(fakes.near_copy(module, noise=0.1))
    target, prompt = LanguageModel(module), [1, 5, 2, 6, 1, 5]
    counts: collections.Counter = collections.Counter()
    for seed in range(draws):
        config = DecodeConfig(max_new_tokens=depth, gamma=3, seed=seed, exit_layer=None, **settings)
        ids = fakes.new_ids(fakes.run_method(method, Parts(target, config, draft=draft), prompt))
        counts[tuple(ids)] += 1
    table = enumerated(logits_of(module), prompt, settings, depth)
    assert sum(table.values()) == pytest.approx(1)
    assert set(counts) <= set(table), "a continuation of probability 0 was produced"
    return chi_square_p(counts, table, draws)


@pytest.mark.parametrize("method", ["plain", "speculative", "prompt_lookup", "early_exit"])
def test_frequencies_equal_the_exact_distribution(method):
    """700 runs; wrong rules of public cases U08 and U09 give p < 1e-20 here."""
    assert frequencies_p(method, {"temperature": 1.0}, 700, 2) > 1e-3


def test_the_test_itself_finds_a_biased_rule():
    """A drafter that takes the argmax of q but reports q (public case U09) is caught."""
    module = fakes.tiny_llama(vocab=8, layers=2, seed=11, std=0.35, dtype=torch.float32)
    draft, target = LanguageModel(fakes.near_copy(module, noise=0.1)), LanguageModel(module)

    class ArgmaxDrafter(ModelDrafter):
        def propose(self, context, gamma):
            chain = super().propose(context, min(gamma, 1))
            if chain.probs is None:
                return chain
            best = (int(chain.probs[0].argmax()),)
            return Draft(best, chain.scores[:1], chain.probs[:1], chain.sources[:1], 1)

    counts: collections.Counter = collections.Counter()
    for seed in range(700):
        parts = Parts(target, DecodeConfig(max_new_tokens=2, temperature=1.0, seed=seed))
        run = Run([1, 5, 2, 6, 1, 5], ArgmaxDrafter(draft, 8), SpeculativeSampling(), parts, str)
        counts[tuple(fakes.new_ids(list(run.events(lambda: False))))] += 1
    table = enumerated(logits_of(module), [1, 5, 2, 6, 1, 5], {"temperature": 1.0}, 2)
    assert chi_square_p(counts, table, 700) < 1e-6
