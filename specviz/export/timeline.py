"""The time line of a run in the Chrome trace event format, for Perfetto and chrome://tracing.

One track per part of a step (draft, verify, other), one for the whole steps with their tokens, and
counters for what grows or shrinks: acceptance rate, tokens per second, memory. The clock starts
with the prompt; times are µs with ns behind the point, so that slices touch exactly. Loading the
models is outside of it. Texts of tokens are shown with signs for what is hidden, so any viewer can
read them.

Source: "Trace Event Format" (Chromium project): phases X (slice), C (counter), M (names).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from specviz.events import DraftToken, Prefilled, TargetToken, Verified
from specviz.export.inert import inert_json
from specviz.metrics.counts import num_judged, ratio
from specviz.render import visible
from specviz.render.names import short
from specviz.trace import Trace

PROCESS = 1
TRACKS = ("steps", "draft", "verify", "other")  # thread ids 1 to 4
CATEGORY = "specviz"

Slice = dict[str, Any]


def export_timeline(trace: Trace) -> str:
    """Chrome trace event JSON of a run, in ASCII, ending with a newline.

    Args:
        trace: the run; ``specviz.trace.check`` should have passed.
    """
    document = trace.document
    prefilled = next(event for event in trace.events() if isinstance(event, Prefilled))
    starts = list(accumulate(map(_step_ns, trace.steps), initial=_ns(prefilled.prefill_s)))
    events = [*_names(short(document["method"]["key"])), _prefill(prefilled)]
    for step, start in zip(trace.steps, starts, strict=False):
        events += _slices(step, start)
    events += _counters(trace.steps, starts)
    return inert_json(
        {
            "displayTimeUnit": "ms",
            "otherData": {
                "made_by": "specviz export",
                "recorded": short(document["created"]),
                "method": short(document["method"]["key"]),
                "tokens": len(trace.output_ids),
                "finish_reason": document["output"]["finish_reason"],
            },
            "traceEvents": events,
        }
    ) + "\n"  # fmt: skip


def _ns(seconds: float) -> int:
    return round(1e9 * seconds)


def _step_ns(step: Verified) -> int:
    return sum(map(_ns, (step.draft_s, step.verify_s, step.other_s)))


def _names(method: str) -> Iterator[Slice]:
    """Names of the process and its tracks."""
    title = {"name": f"specviz: {method}"}
    yield {"ph": "M", "pid": PROCESS, "name": "process_name", "args": title}
    for number, track in enumerate(TRACKS, start=1):
        head = {"ph": "M", "pid": PROCESS, "tid": number}
        yield {**head, "name": "thread_name", "args": {"name": track}}
        yield {**head, "name": "thread_sort_index", "args": {"sort_index": number}}


def _slice(track: str, name: str, start_ns: int, size_ns: int, args: dict[str, Any]) -> Slice:
    return {
        "ph": "X",
        "pid": PROCESS,
        "tid": TRACKS.index(track) + 1,
        "cat": CATEGORY,
        "name": name,
        "ts": start_ns / 1000,
        "dur": size_ns / 1000,
        "args": args,
    }


def _prefill(event: Prefilled) -> Slice:
    args = {"prompt_tokens": event.num_prompt_tokens}
    return _slice("steps", "prompt", 0, _ns(event.prefill_s), args)


def _slices(step: Verified, start_ns: int) -> Iterator[Slice]:
    """The slice of the whole step, then those of its parts that took any time."""
    yield _slice("steps", f"step {step.index + 1}", start_ns, _step_ns(step), _step_args(step))
    for part, seconds in (
        ("draft", step.draft_s),
        ("verify", step.verify_s),
        ("other", step.other_s),
    ):
        if seconds:
            yield _slice(part, part, start_ns, _ns(seconds), _part_args(part, step))
        start_ns += _ns(seconds)


def _step_args(step: Verified) -> dict[str, Any]:
    kept: list[DraftToken | TargetToken] = [*step.accepted]
    if step.target_token is not None:
        kept.append(step.target_token)
    args: dict[str, Any] = {
        "index": step.index,
        "gamma": step.gamma,
        "text": "".join(visible(token.text, token.data) for token in kept),
        "proposed": len(step.proposed),
        "accepted": len(step.accepted),
        "committed": len(step.committed_ids),
    }
    return args | ({"cut": step.cut} if step.cut else {})


def _part_args(part: str, step: Verified) -> dict[str, Any]:
    if part == "draft":
        tokens = [_token_args(token, judged=False) for token in step.proposed]
        return {"forwards": step.num_draft_forwards, "unsent": step.num_unsent, "tokens": tokens}
    if part == "verify":
        own = [_token_args(step.target_token)] if step.target_token else []
        tokens = [*map(_token_args, step.proposed), *own]
        return {"forwards": step.num_target_forwards, "positions": len(step.proposed) + 1,
                "tokens": tokens}  # fmt: skip
    return {}


def _token_args(token: DraftToken | TargetToken, judged: bool = True) -> dict[str, Any]:
    """A token with what was known of it: ``p`` of the target only once it was judged."""
    args: dict[str, Any] = {"text": visible(token.text, token.data), "id": token.id}
    if isinstance(token, DraftToken) and token.draft_prob is not None:
        args["q"] = token.draft_prob
    if not judged:
        return args
    args["fate"] = token.fate.value if token.fate else None
    if token.target_prob is not None:
        args["p"] = token.target_prob
    if isinstance(token, DraftToken) and token.draw is not None:
        args |= {"draw": token.draw, "accept_prob": token.accept_prob}
    return args


def _counters(steps: Sequence[Verified], starts: Sequence[int]) -> Iterator[Slice]:
    """Values as they stand after each step; a rate only once something was judged."""
    accepted = judged = tokens = 0
    for number, step in enumerate(steps):
        end_ns = starts[number + 1]
        accepted, judged = accepted + len(step.accepted), judged + num_judged(step)
        tokens += len(step.committed_ids)
        if judged:
            yield _counter("acceptance rate so far", end_ns, rate=accepted / judged)
        speed = ratio(tokens, (end_ns - starts[0]) / 1e9)
        if speed is not None:
            yield _counter("tokens per second so far", end_ns, tokens_per_s=speed)
        memory = step.memory
        yield _counter(
            "memory (bytes)",
            end_ns,
            target_cache=memory.target_cache_bytes,
            draft_cache=memory.draft_cache_bytes,
            logits=memory.logits_bytes,
        )
        if memory.allocated_bytes is not None:
            yield _counter("GPU allocator (bytes)", end_ns, peak=memory.allocated_bytes)


def _counter(name: str, at_ns: int, **values: float) -> Slice:
    return {
        "ph": "C",
        "pid": PROCESS,
        "tid": 0,
        "cat": CATEGORY,
        "name": name,
        "ts": at_ns / 1000,
        "args": values,
    }
