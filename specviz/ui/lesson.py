"""The lesson: which recorded run it shows, at which steps it stops, and the numbers it tells.

Pure: traces in, JSON-like data out. The viewer's ``specviz-lesson.js`` draws it and puts the
numbers into the visitor's sentences; nothing is computed there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specviz.errors import SpecvizError
from specviz.events import Fate, Verified
from specviz.trace import Trace
from specviz.ui import shelf
from specviz.ui.protocol import dumps
from specviz.ui.registry import Run

STOPS = ("memory", "draft", "verify", "accept", "reject", "bonus", "slower", "lossless")

Told = list[Any]  # [format, number]: how the viewer writes a number ("prob", "ms", "text", ...)


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of the lesson.

    Attributes:
        name: which one, out of ``STOPS``.
        step: number of the step that shows it.
        at: place of the token in that step, drafts first, the target's own token last.
        values: numbers of its sentences.
    """

    name: str
    step: int
    at: int
    values: dict[str, Told] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Places:
    """The steps that show what the lesson is about.

    Attributes:
        story: a step with an accepted and a rejected draft, both decided by a draw.
        bonus: a step whose drafts were all accepted.
    """

    story: Verified
    bonus: Verified


def places(steps: Sequence[Verified]) -> Places | None:
    """The first steps of a run that show the lesson; None where the run lacks one."""
    story = next((step for step in steps if tells_the_story(step)), None)
    bonus = next((step for step in steps if len(step.proposed) > 1 and all_kept(step)), None)
    return Places(story, bonus) if story and bonus else None


def tells_the_story(step: Verified) -> bool:
    """Whether drafts of the step were accepted and rejected by draws, with a residual token."""
    drawn = {t.fate for t in step.proposed if t.draw is not None and t.accept_prob is not None}
    own = step.target_token
    residual = own is not None and own.fate is Fate.RESIDUAL and bool(own.residual_top)
    return residual and {Fate.ACCEPTED, Fate.REJECTED} <= drawn


def all_kept(step: Verified) -> bool:
    """Whether all drafts of the step were accepted, so that the target added a bonus token."""
    return step.target_token is not None and step.target_token.fate is Fate.BONUS


def choose(paths: Iterable[Path]) -> tuple[Trace, Places] | None:
    """The first recorded run that is lossless, was measured beside plain decoding and shows all."""
    for trace in readable(paths):
        found = places(verified(trace))
        if found and trace.document["method"]["lossless"] and trace.metrics.get("measured_speedup"):
            return trace, found
    return None


def slowest(paths: Iterable[Path]) -> Trace | None:
    """The recorded run that lost most against plain decoding although it drafted, else None."""
    lost = [
        trace
        for trace in readable(paths)
        if trace.metrics.get("speed_verdict") == "slower" and trace.metrics["num_judged"]
    ]
    return min(lost, key=lambda trace: float(trace.metrics["measured_speedup"]), default=None)


def readable(paths: Iterable[Path]) -> Iterable[Trace]:
    """The traces that can be shown, in the order of the numbers that their names begin with."""
    for path in sorted(paths, key=in_order):
        try:
            yield shelf.read(path)
        except SpecvizError:
            continue


def in_order(path: Path) -> tuple[float, str]:
    """``4-story`` before ``10-emoji``, names without a number last."""
    number = re.match(r"\d+", path.stem)
    return (float(number.group()) if number else math.inf, path.stem)


def verified(trace: Trace) -> list[Verified]:
    """The steps of a trace."""
    return [event for event in trace.events() if isinstance(event, Verified)]


def stops(trace: Trace, found: Places, slow: Trace | None) -> list[Stop]:
    """The eight stops over a run."""
    story, bonus = found.story, found.bonus
    accepted = min(
        (i for i, token in enumerate(story.proposed) if token.fate is Fate.ACCEPTED),
        key=lambda i: story.proposed[i].accept_prob or 0.0,
    )
    rejected = [token.fate for token in story.proposed].index(Fate.REJECTED)
    last = verified(trace)[-1]
    end = len(last.proposed) - (0 if last.target_token else 1)
    return [
        Stop("memory", bonus.index, len(bonus.proposed), _memory(trace, bonus)),
        Stop("draft", story.index, 0, _draft(story)),
        Stop("verify", story.index, 0, _verify(trace, story)),
        Stop("accept", story.index, accepted, _judged(story, accepted)),
        Stop("reject", story.index, rejected, _rejected(story, rejected)),
        Stop("bonus", bonus.index, len(bonus.proposed), _bonus(bonus)),
        Stop("slower", last.index, end, _slower(trace, slow)),
        Stop("lossless", last.index, end),
    ]


def _memory(trace: Trace, step: Verified) -> dict[str, Told]:
    assert trace.baseline is not None
    return {
        "bytes": ["bytes", trace.metrics["target_weights_bytes"]],
        "ms": ["ms", 1e3 * trace.baseline["seconds_per_token"]],
        "n": ["count", len(step.committed_ids)],
    }


def _draft(step: Verified) -> dict[str, Told]:
    return {
        "n": ["count", len(step.proposed)],
        "d": ["count", step.num_draft_forwards],
        "ms": ["ms", 1e3 * step.draft_s],
    }


def _verify(trace: Trace, step: Verified) -> dict[str, Told]:
    most = max(trace.metrics["verify_cost"], key=lambda row: row["positions"], default=None)
    told: dict[str, Told] = {"n": ["count", len(step.proposed)]}
    if most is not None:
        told |= {"k": ["count", most["positions"]], "cost": ["ratio", most["cost"]]}
    return told


def _judged(step: Verified, at: int) -> dict[str, Told]:
    token = step.proposed[at]
    return {
        "x": ["text", token.text],
        "p": ["prob", token.target_prob],
        "q": ["prob", token.draft_prob],
        "a": ["prob", token.accept_prob],
        "u": ["prob", token.draw],
    }


def _rejected(step: Verified, at: int) -> dict[str, Told]:
    assert step.target_token is not None
    behind = sum(token.fate is Fate.DISCARDED for token in step.proposed)
    told = {"y": ["text", step.target_token.text], "d": ["count", behind]}
    return _judged(step, at) | told


def _bonus(step: Verified) -> dict[str, Told]:
    return {"n": ["count", len(step.proposed)], "m": ["count", len(step.committed_ids)]}


def _slower(trace: Trace, slow: Trace | None) -> dict[str, Told]:
    figures = trace.metrics
    told: dict[str, Told] = {
        "c": ["ratio", figures.get("cost_coefficient")],
        "share": ["whole", figures["draft_share"]],
    }
    if slow is not None:
        told |= {
            "name": [
                "name",
                slow.document["method"].get("title") or slow.document["method"]["key"],
            ],
            "rate": ["whole", slow.metrics["acceptance_rate"]],
            "gain": ["ratio", slow.metrics["measured_speedup"]],
        }
    return told


def lesson(paths: Sequence[Path]) -> str | None:
    """The lesson over the recorded runs as JSON; None where no run shows all of it."""
    chosen = choose(paths)
    if chosen is None:
        return None
    trace, found = chosen
    run = Run(owner="", kind="recorded", id="lesson")
    run.traces[0] = trace
    messages = shelf.messages(run, max_bytes=shelf.FIRST_PAINT_BYTES)
    told = [
        {"name": stop.name, "step": stop.step, "at": stop.at, "values": stop.values}
        for stop in stops(trace, found, slowest(paths))
    ]
    return dumps({"messages": messages, "stops": told})
