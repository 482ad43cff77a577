"""Verification rules, one file each; ``rule_for`` picks the one that a run needs."""

from __future__ import annotations

from specviz.engine.verifiers.base import Verdict, Verifier
from specviz.engine.verifiers.greedy_match import GreedyMatch
from specviz.engine.verifiers.sample_match import SampleMatch
from specviz.engine.verifiers.speculative_sampling import SpeculativeSampling

__all__ = ["GreedyMatch", "SampleMatch", "SpeculativeSampling", "Verdict", "Verifier", "rule_for"]


def rule_for(*, greedy: bool, provides_probs: bool) -> Verifier:
    """The exact rule: match the argmax, match a sample, or accept with min(1, p/q)."""
    if greedy:
        return GreedyMatch()
    return SpeculativeSampling() if provides_probs else SampleMatch()
