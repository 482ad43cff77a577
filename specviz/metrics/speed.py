"""Why a run is faster or slower than plain decoding, in numbers and in words.

A step commits τ tokens, for which plain decoding needs τ plain steps. So against plain decoding a
step *gains* τ − 1 plain steps and *pays* for drafting, for checking more than one position at a
time, and for the rest. It is faster exactly if the gain is larger than the sum of the payments;
the largest payment is "the term that costs most". Pure; the page translates by ``SpeedReason``,
``speed_sentence`` is the English wording.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from specviz.events import Verified
from specviz.metrics.timing import PlainTiming, time_run

TERMS = ("draft", "verify", "other")
TERM_WORDS = {"draft": "drafting", "verify": "checking", "other": "the rest"}
VERDICT_WORDS = {"faster": "faster", "slower": "slower", "equal": "as fast"}


@dataclass(frozen=True, slots=True)
class SpeedReason:
    """The balance of a mean step against plain decoding.

    Attributes:
        verdict: ``faster``, ``slower``, ``equal`` (1.00 after rounding) or ``unknown`` (no plain
            run beside it, or nothing committed).
        speedup: ``measured_speedup``, None where unknown.
        costliest: the term that costs most: ``draft``, ``verify`` or ``other``; None without steps.
        gain_s: time that plain decoding needs for the tokens beyond the first, per step.
        draft_s, verify_s, other_s: what a step pays: drafting, checking beyond one plain step, the
            rest. Where the verdict is unknown, the plain mean times per step.
    """

    verdict: str
    speedup: float | None
    costliest: str | None
    gain_s: float | None
    draft_s: float
    verify_s: float
    other_s: float


def explain_speed(steps: Sequence[Verified], plain: PlainTiming | None = None) -> SpeedReason:
    """Balance a run against plain decoding.

    Args:
        steps: the steps of the run.
        plain: times of the plain run beside it.
    """
    timing = time_run(steps, plain)
    num = max(1, len(steps))
    paid = {"draft": timing.draft_s, "verify": timing.verify_s, "other": timing.other_s}
    paid = {term: seconds / num for term, seconds in paid.items()}
    gain_s = None
    per_token = plain.seconds_per_token if plain else None
    if timing.measured_speedup is not None and per_token is not None:
        paid["verify"] -= per_token
        gain_s = per_token * (sum(len(s.committed_ids) for s in steps) / num - 1)
    return SpeedReason(
        verdict=speed_verdict(timing.measured_speedup),
        speedup=timing.measured_speedup,
        costliest=max(TERMS, key=paid.__getitem__) if steps else None,
        gain_s=gain_s,
        draft_s=paid["draft"],
        verify_s=paid["verify"],
        other_s=paid["other"],
    )


def speed_verdict(speedup: float | None) -> str:
    """``faster``, ``slower``, ``equal`` or ``unknown``, by the two decimals that are shown."""
    if speedup is None:
        return "unknown"
    shown = round(speedup, 2)
    return "equal" if shown == 1 else "faster" if shown > 1 else "slower"


def speed_sentence(reason: SpeedReason) -> str:
    """One English sentence or two; times in ms per step."""
    if reason.costliest is None:
        return "Nothing was decoded, so there is no speed to explain."
    costs = ", ".join(f"{_ms(getattr(reason, f'{t}_s'))} for {TERM_WORDS[t]}" for t in TERMS)
    most = f"{TERM_WORDS[reason.costliest].capitalize()} costs most."
    if reason.speedup is None or reason.gain_s is None:
        return f"No plain run beside it, so no speed-up is known. A step takes {costs}. {most}"
    paid_s = fsum((reason.draft_s, reason.verify_s, reason.other_s))
    return (
        f"{reason.speedup:.2f}× plain decoding: {VERDICT_WORDS[reason.verdict]}. "
        f"A step saves {_ms(reason.gain_s)} of plain steps and costs {_ms(paid_s)} more than one: "
        f"{costs}. {most}"
    )


def _ms(seconds: float) -> str:
    return f"{round(seconds * 1000, 1) + 0.0:g} ms"
