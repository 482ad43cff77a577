"""Ensemble verification: drafts are held to a mixture of both models instead of the target alone.

With v = w·p + (1 − w)·q and a weight 0 < w < 1, a drafted token is accepted with min(1, v/q) =
min(1, 1 − w + w·p/q), else drawn from norm(max(0, v − q)) = norm(max(0, p − q)); the bonus token
comes from p. Greedy: a drafted token stays while it is the argmax of v, the bonus is the argmax of
p. The closer w is to 0, the more drafts stay and the further the text is from the target's.

Lossless: **no**. Each judged position follows v: min(v, q) + (1 − Σ min(v, q)) · residual = v.
Source: DIVERSE, arXiv 2604.07622 (static ensemble verification), as in Transformers 5.24.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.config import real
from specviz.engine.drafters.base import Draft
from specviz.engine.sampling import draw, residual
from specviz.engine.verifiers.base import Verdict


class Ensemble:
    """The rule that accepts with min(1, 1 − w + w·p/q), greedy or sampled."""

    key = "ensemble"
    lossless = False

    def __init__(self, weight: float, *, greedy: bool) -> None:
        """Fix the weight of the target.

        Raises:
            SettingError: ``weight`` is not strictly between 0 and 1.
        """
        real("ensemble_weight", weight, 0.0, 1.0, open_ends=True)
        self._weight = weight
        self._greedy = greedy

    def judge(self, draft: Draft, scores: Tensor, rng: torch.Generator) -> Verdict:
        """See ``Verifier.judge``; greedy uses no random number."""
        if self._greedy:
            return self._match(draft, scores)
        return self._sample(draft, scores.softmax(-1), rng)

    def _match(self, draft: Draft, scores: Tensor) -> Verdict:
        """Accept the longest prefix that equals the mixture's argmax."""
        count = len(draft.ids)
        bonus = int(scores[count].argmax())
        if not count:
            return Verdict(0, bonus)
        mixture = self._mixture(scores[:count].softmax(-1), _draft_probs(draft))
        choices = [*mixture.argmax(-1).tolist(), bonus]
        accepted = 0
        while accepted < count and draft.ids[accepted] == choices[accepted]:
            accepted += 1
        rejected = (0.0,) if accepted < count else ()
        chances = (1.0,) * accepted + rejected
        return Verdict(accepted, choices[accepted], chances, judged=mixture[: len(chances)])

    def _sample(self, draft: Draft, probs: Tensor, rng: torch.Generator) -> Verdict:
        """One uniform number per drafted token, one draw for the next."""
        count = len(draft.ids)
        if not count:
            return Verdict(0, draw(probs[0], rng))
        draft_probs = _draft_probs(draft)
        rows = torch.arange(count, device=probs.device)
        ids = torch.tensor(draft.ids, device=probs.device)
        mixture = self._mixture(probs[:count], draft_probs)
        ratio = mixture[rows, ids] / draft_probs[rows, ids]
        uniform = torch.rand(count, generator=rng, device=probs.device)
        accepted = int((uniform < ratio).cumprod(0).sum())
        judged = min(accepted + 1, count)
        chances = tuple(ratio[:judged].clamp(max=1).tolist())
        draws = tuple(uniform[:judged].tolist())
        mixture = mixture[:judged]
        if accepted == count:
            return Verdict(count, draw(probs[count], rng), chances, draws, judged=mixture)
        rest = residual(probs[accepted], draft_probs[accepted])
        return Verdict(accepted, draw(rest, rng), chances, draws, residual=rest, judged=mixture)

    def _mixture(self, probs: Tensor, draft_probs: Tensor) -> Tensor:
        """w·p + (1 − w)·q, (G, V)."""
        return self._weight * probs + (1 - self._weight) * draft_probs


def _draft_probs(draft: Draft) -> Tensor:
    found = draft.distribution()
    assert found is not None, "ensemble verification needs the drafter's distribution"
    return found
