"""Draft length per step. State lives and dies with the run; no model config is read or written."""

from __future__ import annotations

from specviz.config import MAX_GAMMA, MIN_GAMMA


class Constant:
    """γ as asked, in every step."""

    def __init__(self, gamma: int) -> None:
        self.gamma = gamma

    def learn(self, proposed: int, accepted: int) -> None:
        """Nothing to learn."""


class Heuristic:
    """+2 after full acceptance, −1 otherwise, within 1 … 16.

    Source: the ``heuristic`` schedule of Transformers' assisted generation (5.24).
    """

    def __init__(self, gamma: int) -> None:
        self.gamma = gamma

    def learn(self, proposed: int, accepted: int) -> None:
        """Adapt to a step with at least one proposal."""
        if proposed:
            change = 2 if accepted == proposed else -1
            self.gamma = min(MAX_GAMMA, max(MIN_GAMMA, self.gamma + change))


Schedule = Constant | Heuristic


def schedule_of(name: str, gamma: int) -> Schedule:
    """The schedule called ``name``, starting at ``gamma``."""
    return {"constant": Constant, "heuristic": Heuristic}[name](gamma)
