"""Ensemble verification: another method's drafts, judged by a mixture of both models.

The drafter is unchanged; what differs is the rule (``engine.verifiers.ensemble``), which holds the
draft to w·p + (1 − w)·q. More drafts stay, and the text is no longer exactly the target's.

Source: DIVERSE, arXiv 2604.07622.
"""

from __future__ import annotations

from specviz.config import MethodCard
from specviz.engine.drafters import methods
from specviz.engine.drafters.base import Drafter, Parts
from specviz.errors import MethodError

METHOD = MethodCard(
    key="ensemble",
    title="Ensemble verification",
    summary="Accepts more by judging drafts with a mixture of target and draft model: lossy.",
    paper="DIVERSE, arXiv 2604.07622",
    lossless=False,
    provides_probs=True,
    needs=frozenset({"probs_drafter"}),
    settings=("gamma", "schedule", "confidence", "ensemble_weight"),
    order=70,
)
DEFAULT_DRAFTER = "speculative"


def build(parts: Parts) -> Drafter:
    """The drafter of ``parts.drafter_method``.

    Raises:
        MethodError: there is no such method, or it reports no distribution to mix with.
    """
    key = parts.drafter_method or DEFAULT_DRAFTER
    usable = [
        name
        for name, method in methods().items()
        if method.card.provides_probs and "probs_drafter" not in method.card.needs
    ]
    if key not in usable:
        raise MethodError(
            f"the ensemble cannot verify drafts of {key!r}, which report no distribution to mix "
            f"with the target's; choose one of {', '.join(usable)}"
        )
    return methods()[key].build(parts)
