"""Finished runs as the page shows them: recorded ones, loaded ones, and what is saved or drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from specviz.errors import TraceError
from specviz.events import Event, Finished, Verified
from specviz.metrics import speed_verdict, summarise
from specviz.metrics.counts import ratio
from specviz.render.names import MAX_NAME, short
from specviz.trace import Trace, baseline_of, check
from specviz.ui.outbox import Outbox
from specviz.ui.protocol import (
    LaneEncoder,
    compare_record,
    milliseconds,
    number,
    open_record,
)
from specviz.ui.registry import Registry, Run

NAMES = {"mtp": "MTP", "json": "JSON", "chinese": "Chinese"}  # in names of recorded runs
NOISE = 1.1  # two runs of plain decoding differ by up to 1.07 on a quiet machine
FIRST_PAINT_BYTES = 600_000  # a recorded run comes with the page, in one message


def read(path: str | Path) -> Trace:
    """A trace from a file, checked.

    Raises:
        TraceError: it is no trace, is too large or too new, or contradicts itself.
    """
    trace = Trace.load(path)
    check(trace)
    return trace


def title(path: Path) -> str:
    """A recorded run's name in menus: ``1-early-exit.json`` is "Early exit"."""
    words = path.stem.lstrip("0123456789-").replace("_", "-").split("-")
    text = " ".join(NAMES.get(word, word) for word in words)
    return text[:1].upper() + text[1:]


def shelve(
    registry: Registry, trace: Trace, *, owner: str, kind: str = "recorded", name: str = ""
) -> Run:
    """Make a run of a trace, so that it can be drawn, saved and resynchronised like any other."""
    run = Run(owner=owner, kind=kind)
    run.events[0].extend(trace.events())
    run.traces[0] = trace
    run.name = name
    run.done.set()
    return registry.add(run)


def messages(run: Run, *, step: int | None = None, max_bytes: int = 64_000) -> list[str]:
    """All messages of a shelved run; with ``step`` it opens there and does not play by itself."""
    trace: Trace = run.traces[0]
    method = trace.document["method"]
    lane = {
        "key": short(method["key"], MAX_NAME),
        "title": short(method.get("title") or method["key"], MAX_NAME),
        "lossless": method["lossless"],
    }
    outbox, encoder = Outbox(run.id, max_bytes), LaneEncoder(0)
    record = open_record(kind=run.kind, lanes=[lane], name=short(run.name, MAX_NAME))
    record[1] |= {} if step is None else {"at": step}
    outbox.add(record)
    for event in drawn(trace.events()):
        outbox.add(encoder.encode(event))
    if trace.baseline is not None:
        figures = beside(trace.metrics, trace.baseline, sampled(trace))
        outbox.add(compare_record(0, figures | {"plain": plain_totals(trace.baseline)}))
    texts = outbox.close("done")
    for seq, text in enumerate(texts):
        run.remember(seq, text)
    return texts


def drawn(events: Iterator[Event]) -> Iterator[Event]:
    """The events that a finished run is drawn from."""
    return (event for event in events if type(event).__name__ != "Drafted")


def sampled(trace: Trace) -> bool:
    """Whether the run drew its tokens."""
    return bool(trace.document["request"].get("temperature"))


def beside(
    figures: Mapping[str, Any], baseline: Mapping[str, Any], is_sampled: bool
) -> dict[str, Any]:
    """What the viewer shows of a comparison with plain decoding."""
    return {
        "speedup": figures.get("measured_speedup"),
        "verdict": verdict(figures.get("measured_speedup")),
        "costliest": figures.get("costliest_term"),
        "identical": baseline.get("identical"),
        "first_difference": baseline.get("first_difference"),
        "gap": baseline.get("gap"),
        "sampled": is_sampled,
    }


def verdict(speedup: float | None) -> str:
    """``faster``, ``slower`` or ``unknown``; ``near`` where chance may decide it."""
    near = speedup is not None and 1 / NOISE < speedup < NOISE
    return "near" if near else speed_verdict(speedup)


def plain_totals(baseline: Mapping[str, Any]) -> dict[str, Any]:
    """What a trace keeps of the plain run beside it: totals, no steps."""
    tokens = len(baseline["ids"])
    return {
        "tokens": tokens,
        "decode_ms": milliseconds(baseline["decode_s"]),
        "speed": number(ratio(tokens, baseline["decode_s"])),
    }


def compare(run: Run, requests: Sequence[Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Figures of each lane beside the plain one, where both ran to their end."""
    plain = next((i for i, request in enumerate(requests) if request.method == "plain"), None)
    if plain is None or not complete(run.events[plain]):
        return
    for lane, request in enumerate(requests):
        if lane == plain or not complete(run.events[lane]):
            continue
        baseline = baseline_of(run.events[plain], ids(run.events[lane]))
        run.baselines[lane] = baseline
        figures = summarise(run.events[lane], baseline)
        yield lane, beside(figures, baseline, not request.config.greedy)


def complete(events: Sequence[Event]) -> bool:
    """Whether a run came to its own end."""
    last = events[-1] if events else None
    return isinstance(last, Finished) and last.finish_reason not in ("cancelled", "error")


def ids(events: Sequence[Event]) -> list[int]:
    """New ids of a run."""
    return [i for event in events if isinstance(event, Verified) for i in event.committed_ids]


def trace_of(run: Run, lane: int) -> Trace:
    """The trace of a lane, made once.

    Raises:
        TraceError: the run has not begun, so there is nothing to record.
    """
    if lane not in run.traces:
        try:
            run.traces[lane] = Trace.from_events(run.events[lane], run.baselines.get(lane))
        except ValueError as error:
            raise TraceError("the run has not begun, so there is no trace to save yet") from error
    return run.traces[lane]


def steps_of(run: Run, lane: int) -> list[Verified]:
    """Steps of a lane so far."""
    return [event for event in run.events[lane] if isinstance(event, Verified)]
