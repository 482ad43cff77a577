"""Plain decoding: one forward pass of the target per token, nothing drafted.

It is the baseline of every comparison, and the loop with γ = 0: each step is a bonus token.
"""

from __future__ import annotations

from specviz.config import MethodCard
from specviz.engine.drafters.base import Drafter, Parts

METHOD = MethodCard(
    key="plain",
    title="Plain decoding",
    summary="Drafts nothing: one forward pass of the target for every token.",
    paper="the baseline",
    order=0,
)


def build(parts: Parts) -> Drafter:
    """A drafter that never proposes."""
    return Drafter()
