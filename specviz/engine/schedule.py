"""Draft length per step. State lives and dies with the run; no model config is read or written.

``auto`` weighs what a longer draft may bring against what it costs, both as measured so far in this
run. Its γ depends on times, so that under sampling two runs with one seed may differ; with
``constant`` and ``heuristic`` they cannot. ``metrics.theory`` has the same closed form for display;
the engine may not import it, hence ``expected_speedup`` here (a test compares the two).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from specviz.config import MAX_GAMMA, MIN_GAMMA

VerifyCurve = Callable[[float], float]

PRIOR_RATE, PRIOR_WEIGHT = 0.7, 4.0  # α before anything is known, and the positions it counts for
MEMORY = 0.95  # weight of older steps shrinks by this: the last 20 or so count
PRIOR_SLOPE, SLOPE_WEIGHT = 0.05, 4.0  # cost of one more position to verify, as a share of a step
MAX_TIMES = 9  # times kept per verify width, and for drafting: the median ignores outliers
PROBE, OTHER_PROBE = 1, 4  # γ of the second step, so that two verify widths are known


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step asked for, got and took.

    Attributes:
        asked: γ of the step.
        proposed, accepted: target tokens sent, and kept.
        draft_s, verify_s: seconds of drafting and of scoring ``proposed`` + 1 positions.
    """

    asked: int
    proposed: int
    accepted: int
    draft_s: float = 0.0
    verify_s: float = 0.0


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
    not notice when it starts to pay.
    """

    def __init__(self, gamma: int) -> None:
        self.gamma = gamma
        self._probe = PROBE if gamma > PROBE + 1 else OTHER_PROBE
        self._num_learned = 0
        self._accepted, self._judged = PRIOR_RATE * PRIOR_WEIGHT, PRIOR_WEIGHT
        self._proposed = self._asked = 0.0
        self._draft_s: deque[float] = deque(maxlen=MAX_TIMES)
        self._verify = VerifyTimes()

    def learn(self, outcome: Outcome) -> None:
        """Take in a step and choose the next γ."""
        self._verify.add(outcome.proposed + 1, outcome.verify_s)
        if outcome.asked:
            self._draft_s.append(outcome.draft_s / outcome.asked)
        if outcome.proposed:
            self._count(outcome)
        self._num_learned += 1
        self.gamma = self._probe if self._num_learned == 1 else self._best()

    @property
    def acceptance_rate(self) -> float:
        """The estimate of α: accepted over judged positions, recent ones counting more."""
        return self._accepted / self._judged

    def _count(self, outcome: Outcome) -> None:
        rejected = outcome.accepted < outcome.proposed
        fade = PRIOR_WEIGHT * (1 - MEMORY)  # the prior keeps its weight while the past fades
        self._accepted = MEMORY * self._accepted + fade * PRIOR_RATE + outcome.accepted
        self._judged = MEMORY * self._judged + fade + outcome.accepted + rejected
        self._proposed = MEMORY * self._proposed + outcome.proposed
        self._asked = MEMORY * self._asked + outcome.asked

    def _best(self) -> int:
        base, curve = self._verify.curve()
        if base <= 0 or not self._draft_s:
            return self.gamma
        share = self._proposed / self._asked if self._asked else 1.0
        return best_gamma(
            self.acceptance_rate, median(self._draft_s) / base, curve, share=min(1.0, share)
        )


class VerifyTimes:
    """Times of verification by width, and the line through their medians."""

    def __init__(self) -> None:
        self._times: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=MAX_TIMES))

    def add(self, width: int, seconds: float) -> None:
        """Note the time of a forward pass over ``width`` positions."""
        self._times[width].append(seconds)

    def curve(self) -> tuple[float, VerifyCurve]:
        """Seconds of a plain step, and v(k): time over k positions in plain steps.

        A least-squares line; its slope is drawn towards 5 % of a step per position while the
        widths seen lie close together, and never falls.
        """
        points = [(width, median(times), len(times)) for width, times in self._times.items()]
        weight = sum(count for _, _, count in points)
        if not weight:
            return 0.0, lambda width: 1.0
        middle = sum(width * count for width, _, count in points) / weight
        level = sum(time * count for _, time, count in points) / weight
        spread = sum(count * (width - middle) ** 2 for width, _, count in points)
        joint = sum(count * (width - middle) * time for width, time, count in points)
        prior = PRIOR_SLOPE * level / (1 + PRIOR_SLOPE * (middle - 1))
        slope = (joint + SLOPE_WEIGHT * prior) / (spread + SLOPE_WEIGHT)
        slope = min(max(slope, 0.0), level / middle)
        base = level + slope * (1 - middle)
        if base <= 0:
            return 0.0, lambda width: 1.0
        return base, lambda width: 1 + slope / base * (width - 1)


Schedule = Constant | Heuristic | Auto


def schedule_of(name: str, gamma: int) -> Schedule:
    """The schedule called ``name``, starting at ``gamma``."""
    kinds: dict[str, Callable[[int], Schedule]] = {
        "constant": Constant,
        "heuristic": Heuristic,
        "auto": Auto,
    }
    return kinds[name](gamma)


def best_gamma(
    alpha: float,
    c: float,
    verify_curve: VerifyCurve,
    *,
    share: float = 1.0,
    largest: int = MAX_GAMMA,
) -> int:
    """The draft length of 1 … ``largest`` with the greatest expected speed-up, shortest on a tie.

    Args:
        alpha, c, verify_curve, share: as in ``expected_speedup``.
        largest: the longest draft to consider.
    """

    def merit(gamma: int) -> tuple[float, int]:
        return expected_speedup(alpha, gamma, c, verify_curve, share=share), -gamma

    return max(range(MIN_GAMMA, largest + 1), key=merit)


def expected_speedup(
    alpha: float, gamma: int, c: float, verify_curve: VerifyCurve, *, share: float = 1.0
) -> float:
    """Speed relative to plain decoding: (1 − α^(n+1)) / ((1 − α)(γc + v(n + 1))), n = share·γ.

    Args:
        alpha: chance that a judged token is accepted, 0 to 1.
        gamma: draft tokens asked for.
        c: time of a draft forward over that of a plain step.
        verify_curve: v(k), time of verifying k positions over that of one.
        share: target tokens proposed per draft token asked for; below 1 where the two models
            have different tokens, or where drafts end early.

    Source: Leviathan et al., arXiv 2211.17192, theorem 3.8, with v for the paper's 1.
    """
    count = share * gamma
    tokens = count + 1 if alpha >= 1 else (1 - alpha ** (count + 1)) / (1 - alpha)
    return tokens / (gamma * c + verify_curve(count + 1))
