"""What was measured of one method on one target, and the ratios that follow from it.

On a CPU ratios are those of CPU time, which other programs on the machine disturb less than they
disturb the clock on the wall; on other devices of wall time, with the device synchronised. Both
are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

FORMS = ("ours", "generate", "forwards", "modules")


@dataclass(frozen=True, slots=True)
class Seconds:
    """Time of one form over all prompts of a round; ``engine`` is ours by its own clock."""

    wall: float
    cpu: float
    engine: float | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One method on one target.

    Attributes:
        method, target, draft: keys and ids, the draft None where there is none.
        device, dtype: where and in which number format it ran: ``cpu`` or ``cuda:0``, ``float32``.
        gamma: draft length of both sides, None for plain decoding.
        num_tokens: new tokens of all prompts together, in one round.
        differences: per prompt the first index where ``generate()`` gives another id, else None.
        same_steps: whether *bare modules* has the forwards of our run exactly.
        rounds: form -> its seconds, per round.
        refusal: why it was not run, None if it was; then the rest is empty.
    """

    method: str
    target: str
    draft: str | None = None
    device: str = "cpu"
    dtype: str = "float32"
    gamma: int | None = None
    num_tokens: int = 0
    num_prompts: int = 0
    threads: int | None = None
    differences: tuple[int | None, ...] = ()
    same_steps: bool = True
    rounds: tuple[Mapping[str, Seconds], ...] = ()
    refusal: str | None = None

    @property
    def clock(self) -> str:
        """The clock of the ratios: ``cpu`` or ``wall``."""
        return "cpu" if self.device == "cpu" else "wall"

    def per_token_s(self, form: str) -> float:
        """Median seconds per new token of a form, prompt processing included."""
        return median(getattr(r[form], self.clock) for r in self.rounds) / self.num_tokens

    def ratios(self, form: str, *, over: str, clock: str | None = None) -> list[float]:
        """Per round: time of ``form`` over time of ``over``."""
        name = clock or self.clock
        return [getattr(r[form], name) / getattr(r[over], name) for r in self.rounds]

    @property
    def shares(self) -> dict[str, float]:
        """Parts of our time: forward passes, the loop around them, events and texts.

        Events are what is outside the engine's own clock, which is one of wall time; the forward
        passes were timed apart, so the loop, which is the rest, may come out below 0 by noise.
        """
        forwards = 1 / median(self.ratios("ours", over="forwards"))
        inside = median((r["ours"].engine or 0.0) / r["ours"].wall for r in self.rounds)
        return {"forwards": forwards, "loop": inside - forwards, "events": 1 - inside}
