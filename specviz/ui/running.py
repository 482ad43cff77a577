"""The figures of a run so far, after each step, so that the page computes none of them.

The definitions are those of ``specviz.metrics``; here they are kept as running sums, because the
viewer shows them after every step and a fresh count per step would be quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.events import Verified
from specviz.metrics.counts import num_judged, ratio


@dataclass(slots=True)
class Running:
    """Sums over the steps of one run."""

    steps: int = 0
    proposed: int = 0
    judged: int = 0
    accepted: int = 0
    tokens: int = 0
    draft_s: float = 0.0
    verify_s: float = 0.0
    other_s: float = 0.0

    def add(self, step: Verified) -> None:
        """Count one more step."""
        self.steps += 1
        self.proposed += len(step.proposed)
        self.accepted += len(step.accepted)
        self.judged += num_judged(step)
        self.tokens += len(step.committed_ids)
        self.draft_s += step.draft_s
        self.verify_s += step.verify_s
        self.other_s += step.other_s

    @property
    def seconds(self) -> float:
        """Time of all steps so far."""
        return self.draft_s + self.verify_s + self.other_s

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted over judged, None without judged tokens."""
        return ratio(self.accepted, self.judged)

    @property
    def block_efficiency(self) -> float | None:
        """Committed tokens per target step."""
        return ratio(self.tokens, self.steps)

    @property
    def tokens_per_second(self) -> float | None:
        """New tokens per second of decoding."""
        return ratio(self.tokens, self.seconds)

    def shares(self) -> tuple[float | None, float | None, float | None]:
        """Parts of the time spent on drafting, verifying and the rest."""
        parts = (self.draft_s, self.verify_s, self.other_s)
        draft, verify, other = (ratio(part, self.seconds) for part in parts)
        return draft, verify, other
