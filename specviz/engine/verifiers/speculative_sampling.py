"""Speculative sampling: accept with min(1, p/q), else draw from norm(max(0, p − q)).

Lossless: yes. At each position min(p, q) + (1 − β) · residual = p, with β = Σ min(p, q); the tests
check the identity itself and the frequencies.
Source: Leviathan et al., arXiv 2211.17192, algorithm 1; Chen et al., arXiv 2302.01318, algorithm 2.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.engine.drafters.base import Draft
from specviz.engine.sampling import draw, residual
from specviz.engine.verifiers.base import Verdict


class SpeculativeSampling:
    """The p/q rule for drafters that report the distribution they drew from."""

    key = "speculative_sampling"
    lossless = True

    def judge(self, draft: Draft, scores: Tensor, rng: torch.Generator) -> Verdict:
        """See ``Verifier.judge``; one uniform number per drafted token, one draw for the next."""
        count = len(draft.ids)
        probs = scores.softmax(-1)
        if not count:
            return Verdict(0, draw(probs[0], rng))
        assert draft.probs is not None, "speculative sampling needs the drafter's distribution"
        rows = torch.arange(count, device=probs.device)
        ids = torch.tensor(draft.ids, device=probs.device)
        ratio = probs[rows, ids] / draft.probs[rows, ids]
        uniform = torch.rand(count, generator=rng, device=probs.device)
        # Strictly below, so that a token of probability 0 can never be accepted.
        accepted = int((uniform < ratio).cumprod(0).sum())
        judged = min(accepted + 1, count)
        chances = tuple(ratio[:judged].clamp(max=1).tolist())
        draws = tuple(uniform[:judged].tolist())
        if accepted == count:
            return Verdict(count, draw(probs[count], rng), chances, draws)
        rest = residual(probs[accepted], draft.probs[accepted])
        return Verdict(accepted, draw(rest, rng), chances, draws, residual=rest)
