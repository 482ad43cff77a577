"""Losslessness twice: as an identity of distributions, and by frequencies with fixed seeds.

Identity, for each rule: what a judged position realises, Σ over ways to get token x, is p(x).
Frequencies: the first tokens of many runs against their exact probabilities, computed here by
enumeration from the model's own table or logits, never by the engine's loop.
"""

from __future__ import annotations

import collections
import math

import pytest
import torch
from scipy import stats

from specviz.config import DecodeConfig
from specviz.engine.decode import Run
from specviz.engine.drafters.base import Draft, Parts
from specviz.engine.drafters.speculative import ModelDrafter
from specviz.engine.language_model import LanguageModel
from specviz.engine.sampling import one_hot_residual, residual
from specviz.engine.verifiers import SampleMatch, SpeculativeSampling
from tests import fakes

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


def processed(logits: torch.Tensor, prefix: list[int], settings: dict) -> torch.Tensor:
    """The rules of the settings, written out again: penalty, temperature, top-k, top-p."""
    scores = logits.double().clone()
    penalty = settings.get("repetition_penalty", 1.0)
    for token in set(prefix):
        scores[token] = scores[token] * penalty if scores[token] < 0 else scores[token] / penalty
    scores = scores / settings.get("temperature", 1.0)
    if k := settings.get("top_k", 0):
        scores[scores < scores.sort(descending=True).values[k - 1]] = -math.inf
    if (top_p := settings.get("top_p", 1.0)) < 1:
        order = scores.argsort(descending=True)
        before, total = scores.softmax(-1), 0.0
        for token in order.tolist():
            if total >= top_p:
                scores[token] = -math.inf
            total += float(before[token])
    return scores.softmax(-1)


def exact(module, prompt: list[int], settings: dict, depth: int) -> dict[tuple[int, ...], float]:
    """Probability of each continuation of ``depth`` tokens, by enumeration."""
    table = {(): 1.0}
    for _ in range(depth):
        grown = {}
        for prefix, mass in table.items():
            ids = [*prompt, *prefix]
            with torch.inference_mode():
                logits = module(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1]
            for token, chance in enumerate(processed(logits, ids, settings).tolist()):
                if chance > 0:
                    grown[(*prefix, token)] = mass * chance
        table = grown
    return table


def chi_square_p(counts: collections.Counter, table: dict, draws: int) -> float:
    """p-value of Pearson's test; cells under 5 expected draws are pooled."""
    rare = {key for key, chance in table.items() if chance * draws < 5}
    cells = [(counts[key], table[key] * draws) for key in table if key not in rare]
    if rare:
        cells.append((sum(counts[k] for k in rare), sum(table[k] for k in rare) * draws))
    seen, expected = zip(*cells, strict=True)
    scale = sum(seen) / sum(expected)  # enumeration adds up to 1 but for rounding
    return float(stats.chisquare(seen, [value * scale for value in expected]).pvalue)


SETTINGS = {
    "plain temperature 1": {"temperature": 1.0},
    "temperature 0.7": {"temperature": 0.7},
    "top-k 5": {"temperature": 1.0, "top_k": 5},
    "top-p 0.9": {"temperature": 1.0, "top_p": 0.9},
    "penalty 1.3": {"temperature": 1.0, "repetition_penalty": 1.3},
}


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
    table = exact(module, prompt, settings, depth)
    assert sum(table.values()) == pytest.approx(1)
    assert set(counts) <= set(table), "a continuation of probability 0 was produced"
    return chi_square_p(counts, table, draws)


@pytest.mark.parametrize("method", ["plain", "speculative", "prompt_lookup", "early_exit"])
def test_frequencies_equal_the_exact_distribution(method):
    """700 runs; wrong rules of public cases U08 and U09 give p < 1e-20 here."""
    assert frequencies_p(method, {"temperature": 1.0}, 700, 2) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("method", ["plain", "speculative", "prompt_lookup", "early_exit"])
def test_frequencies_under_every_processor(method, settings):
    """Three tokens each; SPECVIZ_DRAWS=20000 for the long version (minutes per case)."""
    assert frequencies_p(method, settings, fakes.num_draws(1000), 3) > 1e-4


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
    table = exact(module, [1, 5, 2, 6, 1, 5], {"temperature": 1.0}, 2)
    assert chi_square_p(counts, table, 700) < 1e-6
