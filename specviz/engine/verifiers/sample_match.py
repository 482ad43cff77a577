"""Sampled verification of a draft without probabilities: draw from p, compare.

Each position draws x ~ p; while x equals the drafted token it stays, the first x that differs is
the residual token. This is the p/q rule with q certain of its token: accepted with probability
p(token), and the residual is p without the token, normalised.

Lossless: yes, what is kept at each position is a draw from p.
Source: the one-hot case of Leviathan et al., arXiv 2211.17192, section 2.3.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.engine.drafters.base import Draft
from specviz.engine.sampling import draw, one_hot_residual
from specviz.engine.verifiers.base import Verdict


class SampleMatch:
    """Accept the longest prefix that equals draws from the target."""

    key = "sample_match"
    lossless = True

    def judge(self, draft: Draft, scores: Tensor, rng: torch.Generator) -> Verdict:
        """See ``Verifier.judge``; draws one token per judged position."""
        probs = scores.softmax(-1)
        accept_probs = []
        for position, token in enumerate(draft.ids):
            drawn = draw(probs[position], rng)
            accept_probs.append(float(probs[position, token]))
            if drawn != token:
                rest = one_hot_residual(probs[position], token)
                return Verdict(position, drawn, tuple(accept_probs), residual=rest)
        bonus = draw(probs[len(draft.ids)], rng)
        return Verdict(len(draft.ids), bonus, tuple(accept_probs))
