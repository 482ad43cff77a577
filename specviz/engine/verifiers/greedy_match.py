"""Greedy verification: a drafted token stays while it is the target's most likely one.

Lossless: yes, each position keeps the argmax of p, as plain greedy decoding does.
Source: Stern et al., arXiv 1811.03115, section 3 (blockwise parallel decoding).
"""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.engine.drafters.base import Draft
from specviz.engine.verifiers.base import Verdict


class GreedyMatch:
    """Accept the longest prefix that equals the target's argmax."""

    key = "greedy_match"
    lossless = True

    def judge(self, draft: Draft, scores: Tensor, rng: torch.Generator) -> Verdict:
        """See ``Verifier.judge``; no random number is used."""
        choices = scores.argmax(-1).tolist()
        accepted = 0
        while accepted < len(draft.ids) and draft.ids[accepted] == choices[accepted]:
            accepted += 1
        rejected = (0.0,) if accepted < len(draft.ids) else ()
        return Verdict(accepted, choices[accepted], accept_probs=(1.0,) * accepted + rejected)
