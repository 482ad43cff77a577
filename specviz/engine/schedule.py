"""Draft length per step. State lives and dies with the run; no model config is read or written.

``auto`` weighs what a longer draft may bring against what it costs, both as measured so far in this
run. Its γ depends on times, so that under sampling two runs with one seed may differ; with
``constant`` and ``heuristic`` they cannot.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from specviz.config import MAX_GAMMA, MIN_GAMMA
from specviz.engine.draft_length import MAX_TIMES, RunningRate, VerifyTimes, best_gamma

PROBE, OTHER_PROBE = 1, 4  # γ of the second step, so that two verify widths are known


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step asked for, got and took.

    Attributes:
        asked: γ of the step.
        proposed, accepted: target tokens sent, and kept.
        draft_s, verify_s: seconds of drafting and of scoring ``proposed`` + 1 positions.
        loose_end: whether the last proposed token says little about a longer draft.
    """

    asked: int
    proposed: int
    accepted: int
    draft_s: float = 0.0
    verify_s: float = 0.0
    loose_end: bool = False


class Constant:
    """γ as asked, in every step."""

    def __init__(self, gamma: int) -> None:
        self.gamma = gamma

    def learn(self, outcome: Outcome) -> None:
        """Nothing to learn."""


class Heuristic:
    """+2 after full acceptance, −1 otherwise, within 1 … 16.

    Source: the ``heuristic`` schedule of Transformers' assisted generation (5.24).
    """

    def __init__(self, gamma: int) -> None:
        self.gamma = gamma

    def learn(self, outcome: Outcome) -> None:
        """Adapt to a step with at least one proposal."""
        if outcome.proposed:
            change = 2 if outcome.accepted == outcome.proposed else -1
            self.gamma = min(MAX_GAMMA, max(MIN_GAMMA, self.gamma + change))


class Auto:
    """γ with the greatest expected speed, within 1 … 16, from the rates and times of this run.

    The setting γ is only the first step's; the second step is a probe with another width. Where no
    draft pays, the choice falls to a short one, never to none: a run that stopped drafting would
    not notice when it starts to pay. Acceptance of a loose end is estimated apart: counted with the
    others it would speak against all drafts, and γ would shrink until every end is loose.
    """

    def __init__(self, gamma: int) -> None:
        self.gamma = gamma
        self._probe = PROBE if gamma > PROBE + 1 else OTHER_PROBE
        self._num_learned = 0
        self._rate = RunningRate(0.7, 4.0)
        self._loose_rate = RunningRate(0.5, 2.0)
        self._share = RunningRate(1.0, 1.0)
        self._loose_ends = False
        self._draft_s: deque[float] = deque(maxlen=MAX_TIMES)
        self._verify = VerifyTimes()

    def learn(self, outcome: Outcome) -> None:
        """Take in a step and choose the next γ."""
        self._verify.add(outcome.proposed + 1, outcome.verify_s)
        if outcome.asked:
            self._draft_s.append(outcome.draft_s / outcome.asked)
        if outcome.proposed:
            self._share.add(outcome.proposed, outcome.asked)
            self._count(outcome)
        self._num_learned += 1
        self.gamma = self._probe if self._num_learned == 1 else self._best()

    @property
    def acceptance_rate(self) -> float:
        """The estimate of α: accepted over judged positions, recent ones counting more."""
        return self._rate.value

    def _count(self, outcome: Outcome) -> None:
        self._loose_ends = self._loose_ends or outcome.loose_end
        accepted, tight = outcome.accepted, outcome.proposed - outcome.loose_end
        if outcome.loose_end and accepted >= tight:  # all before the end was accepted
            self._loose_rate.add(accepted - tight, 1)
        hits = min(accepted, tight)
        self._rate.add(hits, hits + (accepted < tight))

    def _best(self) -> int:
        base, curve = self._verify.curve()
        if base <= 0 or not self._draft_s:
            return self.gamma
        return best_gamma(
            self._rate.value,
            median(self._draft_s) / base,
            curve,
            share=min(1.0, self._share.value),
            last=self._loose_rate.value if self._loose_ends else None,
        )


Schedule = Constant | Heuristic | Auto


def schedule_of(name: str, gamma: int) -> Schedule:
    """The schedule called ``name``, starting at ``gamma``."""
    kinds: dict[str, Callable[[int], Schedule]] = {
        "constant": Constant,
        "heuristic": Heuristic,
        "auto": Auto,
    }
    return kinds[name](gamma)
