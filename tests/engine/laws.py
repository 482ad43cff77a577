"""Exact laws of sampled text by enumeration, and how far counts are from them.

Everything is computed from a model's own logits with the rules of the settings written out again;
no code of the engine takes part.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from scipy import stats
from torch import Tensor

Law = dict[tuple[int, ...], float]
Settings = dict[str, Any]


def processed(logits: Tensor, prefix: Sequence[int], settings: Settings) -> Tensor:
    """Probabilities (V,) after penalty, temperature, top-k and top-p, in that order."""
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


def logits_of(module: Any) -> Callable[[Sequence[int]], Tensor]:
    """Logits (V,) behind a prefix, by a full forward pass without a cache."""

    def logits(ids: Sequence[int]) -> Tensor:
        with torch.inference_mode():
            found = module(input_ids=torch.tensor([list(ids)]), use_cache=False).logits
        return found[0, -1]

    return logits


def enumerated(
    logits: Callable[[Sequence[int]], Tensor], prompt: Sequence[int], settings: Settings, depth: int
) -> Law:
    """Probability of each continuation of ``depth`` tokens; impossible ones are left out."""
    law: Law = {(): 1.0}
    for _ in range(depth):
        grown: Law = {}
        for prefix, mass in law.items():
            ids = [*prompt, *prefix]
            for token, chance in enumerate(processed(logits(ids), ids, settings).tolist()):
                if chance > 0:
                    grown[(*prefix, token)] = mass * chance
        law = grown
    return law


def chi_square_p(counts: collections.Counter, law: Law, draws: int) -> float:
    """p-value of Pearson's test; cells under 5 expected draws are pooled."""
    rare = {key for key, chance in law.items() if chance * draws < 5}
    cells = [(counts[key], law[key] * draws) for key in law if key not in rare]
    if rare:
        cells.append((sum(counts[k] for k in rare), sum(law[k] for k in rare) * draws))
    seen, expected = zip(*cells, strict=True)
    scale = sum(seen) / sum(expected)  # enumeration adds up to 1 but for rounding
    return float(stats.chisquare(seen, [value * scale for value in expected]).pvalue)


def distance(counts: collections.Counter, law: Law, draws: int) -> float:
    """Total variation between the frequencies and the law, 0 to 1."""
    return sum(abs(counts[key] / draws - chance) for key, chance in law.items()) / 2


def noise(law: Law, draws: int, *, times: int = 20) -> list[float]:
    """Total variation of ``draws`` draws from the law itself, ``times`` times."""
    rng = torch.Generator().manual_seed(0)
    keys, chances = list(law), torch.tensor(list(law.values()), dtype=torch.float64)
    found = []
    for _ in range(times):
        drawn = torch.multinomial(chances, draws, replacement=True, generator=rng)
        counts = torch.bincount(drawn, minlength=len(keys)).tolist()
        found.append(
            distance(collections.Counter(dict(zip(keys, counts, strict=True))), law, draws)
        )
    return found
