"""Verification rules, one file each; ``rule_of`` picks the one that a run needs."""

from __future__ import annotations

from specviz.config import DecodeConfig, MethodCard
from specviz.engine.verifiers.base import Verdict, Verifier
from specviz.engine.verifiers.ensemble import Ensemble
from specviz.engine.verifiers.greedy_match import GreedyMatch
from specviz.engine.verifiers.sample_match import SampleMatch
from specviz.engine.verifiers.speculative_sampling import SpeculativeSampling

__all__ = [
    "Ensemble",
    "GreedyMatch",
    "SampleMatch",
    "SpeculativeSampling",
    "Verdict",
    "Verifier",
    "rule_for",
    "rule_of",
]


def rule_of(card: MethodCard, config: DecodeConfig) -> Verifier:
    """The rule that a method's drafts are judged by: the ensemble's, or an exact one."""
    if "probs_drafter" in card.needs:
        return Ensemble(config.ensemble_weight, greedy=config.greedy)
    return rule_for(greedy=config.greedy, provides_probs=card.provides_probs)


def rule_for(*, greedy: bool, provides_probs: bool) -> Verifier:
    """The exact rule: match the argmax, match a sample, or accept with min(1, p/q)."""
    if greedy:
        return GreedyMatch()
    return SpeculativeSampling() if provides_probs else SampleMatch()
