"""A race as the page shows it: who starts, what each lane is, and what came out. Pure.

All lanes run on the same prompt, target, limits and sampling, plain decoding first. The table holds
medians over all rounds; what is replayed is one round, all lanes of the same one, so that a slow
minute of the machine makes nobody lose: the round whose speed-ups are nearest to the medians.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any

from specviz.comparison import Comparison, Lane, Row, Spread, Tick
from specviz.config import MethodCard, RunRequest
from specviz.errors import SettingError
from specviz.metrics.counts import ratio
from specviz.ui import shelf
from specviz.ui.outbox import Outbox
from specviz.ui.protocol import LaneEncoder, Record, compare_record, open_record, plain
from specviz.ui.registry import Registry, Run
from specviz.ui.state import PLAIN, Form

MAX_BESIDE = 3  # methods beside plain decoding: the viewer has four lanes
MANY_EMPTY = 0.5  # from this share of steps without a draft on, they are the reason
BYTES = (
    "target_weights_bytes",
    "draft_weights_bytes",
    "peak_target_cache_bytes",
    "peak_draft_cache_bytes",
    "peak_logits_bytes",
    "peak_run_bytes",
)


def race_requests(
    form: Form, keys: Sequence[str], cards: Sequence[MethodCard]
) -> tuple[RunRequest, ...]:
    """The runs of a race: plain decoding, then the methods that are ticked.

    Raises:
        SettingError: too few or too many methods, or a setting is out of its range.
        MethodError: a method does not exist.
    """
    others = [key for key in keys if key != PLAIN]
    if not 1 <= len(others) <= MAX_BESIDE:
        raise SettingError(
            f"a race needs 1 to {MAX_BESIDE} methods beside plain decoding, got {len(others)}; "
            f"tick {'some' if not others else 'fewer'}"
        )
    forms = [replace(form, method=key, draft=None, beside=False) for key in (PLAIN, *others)]
    return tuple(one.requests(cards)[0] for one in forms)


def lane_infos(lanes: Sequence[Lane], cards: Sequence[MethodCard]) -> list[dict[str, Any]]:
    """What the viewer has to know of each lane before it starts."""
    by_key = {card.key: card for card in cards}
    return [
        {
            "key": lane.request.method,
            "title": by_key[lane.request.method].title,
            "lossless": by_key[lane.request.method].lossless,
            "refused": lane.refusal or "",
        }
        for lane in lanes
    ]


def race_record(
    lanes: Sequence[Lane],
    infos: Sequence[dict[str, Any]],
    *,
    repeats: int,
    shown: int | None = None,
) -> Record:
    """The first record of a race; ``shown`` is the round that is replayed once it is over."""
    record = open_record(kind="live", lanes=infos)
    limit = lanes[0].request.config.max_new_tokens
    over = shown is not None
    record[1]["race"] = {"limit": limit, "repeats": repeats, "over": over, "round": shown or 0}
    return record


def typical_round(comparison: Comparison, ticks: Sequence[Tick]) -> tuple[int, Comparison]:
    """The round (0, 1, …) whose speed-ups are nearest to the medians, and its own table."""
    medians = {row.lane.index: row.speedup.median for row in comparison.rows}
    found = []
    for repeat in sorted({tick.repeat for tick in ticks}):
        one = Comparison.of(comparison.lanes, [tick for tick in ticks if tick.repeat == repeat])
        if len(one.rows) == len(medians):
            far = sum(abs(log(r.speedup.median / medians[r.lane.index])) for r in one.rows)
            found.append((far, repeat, one))
    _, repeat, one = min(found, key=lambda item: item[:2], default=(0.0, 0, comparison))
    return repeat, one


def shelve_race(
    registry: Registry, comparison: Comparison, shown: Comparison, *, owner: str
) -> Run:
    """Make a run of one round, to be drawn, looked into and saved like any other."""
    run = Run(owner=owner, num_lanes=len(comparison.lanes))
    for row in shown.rows:
        lane = row.lane.index
        run.events[lane].extend(row.trace.events())
        run.traces[lane] = row.trace
        run.baselines[lane] = row.trace.baseline
    run.outcome = comparison
    run.done.set()
    return registry.add(run)


def race_messages(
    run: Run, comparison: Comparison, infos: Sequence[dict[str, Any]], *, repeats: int, shown: int
) -> list[str]:
    """All messages of a race that is over; ``shown`` is the round in ``run``, from 1 on."""
    told = [
        info | {"refused": comparison.refused.get(lane.label, "")}
        for lane, info in zip(comparison.lanes, infos, strict=True)
    ]
    outbox = Outbox(run.id)
    outbox.add(race_record(comparison.lanes, told, repeats=repeats, shown=shown))
    for row in comparison.rows:
        encoder = LaneEncoder(row.lane.index)
        for event in shelf.drawn(iter(run.events[row.lane.index])):
            outbox.add(encoder.encode(event))
        outbox.add(compare_record(row.lane.index, outcome(row, comparison.repeats)))
    texts = outbox.close("done")
    for seq, text in enumerate(texts):
        run.remember(seq, text)
    return texts


def outcome(row: Row, rounds: int) -> dict[str, Any]:
    """The figures of a row for the viewer's table."""
    figures = row.trace.metrics
    beside = shelf.beside(figures, row.trace.baseline or {}, shelf.sampled(row.trace))
    table = {
        "speedup": _spread(row.speedup),
        "speed": _spread(row.tokens_per_second),
        "rate": figures.get("acceptance_rate"),
        "tau": figures.get("block_efficiency"),
        "forwards": [figures.get("num_target_forwards"), figures.get("num_draft_forwards")],
        "shares": [figures.get(f"{part}_share") for part in ("draft", "verify", "other")],
        "bytes": [figures.get(name) for name in BYTES],
        "rounds": rounds,
        "same_ids": row.same_ids,
        "why": why(row),
    }
    median = row.speedup.median
    return beside | {"speedup": median, "verdict": shelf.verdict(median), "race": plain(table)}


def why(row: Row) -> list[Any]:
    """Why a method won or lost, as [key of the sentence, its values].

    A step brings τ tokens and takes as long as so many plain steps; the quotient is the speed-up.
    """
    figures = row.trace.metrics
    tau, speedup = figures.get("block_efficiency"), row.speedup.median
    if row.lane.index == 0:
        return ["sv_race_why_plain", {}]
    steps = row.trace.steps
    empty = ratio(sum(not step.proposed for step in steps), len(steps)) or 0.0
    values = {
        "tau": tau,
        "cost": tau / speedup if tau and speedup else None,
        "draft": figures.get("draft_share"),
        "empty": empty,
    }
    verdict = shelf.verdict(speedup)
    if verdict == "slower":
        return [f"sv_race_why_slower_{_burden(figures.get('costliest_term'), empty)}", values]
    kind = "empty" if empty >= MANY_EMPTY else "plainly"
    return [f"sv_race_why_{verdict}_{kind}" if verdict == "faster" else "sv_race_why_equal", values]


def _burden(costliest: str | None, empty: float) -> str:
    if empty >= MANY_EMPTY:
        return "empty"
    return costliest if costliest in ("draft", "verify") else "other"


def _spread(spread: Spread) -> list[float]:
    return [spread.median, spread.low, spread.high]
