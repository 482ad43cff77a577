"""The one bridge between what people use and what decodes: ``RunRequest`` -> events.

The page, the Python API and the command line call these functions and nothing below them. Lists
(``cards``, ``targets``, ``drafts`` …) need no torch; torch, the engine and the loader are imported
when the first run starts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specviz.catalog.examples import EXAMPLES, Example
from specviz.catalog.folders import ROOT, read_vocabulary, weight_files
from specviz.catalog.locate import fetch_weights, locate
from specviz.catalog.menu import ModelInfo, draft_ids, model_list, reasons
from specviz.catalog.pairing import overlap
from specviz.config import MethodCard, RunRequest
from specviz.errors import BusyError, ModelError, SpecvizError
from specviz.events import Event, Finished, Prefilled
from specviz.method_cards import find_card, read_cards
from specviz.plans import Plan, make_plan
from specviz.plans import request_of as request_of
from specviz.trace import Trace, baseline_of
from specviz.turns import turns

if TYPE_CHECKING:
    from specviz.live import LiveRun

Status = Callable[[str], None]


def cards() -> tuple[MethodCard, ...]:
    """All methods, in menu order."""
    return read_cards()


def models() -> tuple[ModelInfo, ...]:
    """The catalogue."""
    return model_list(read_cards())


def targets() -> tuple[ModelInfo, ...]:
    """The models of the catalogue whose text can be wanted; the default comes first."""
    found = [model for model in models() if model.role == "target"]
    return tuple(sorted(found, key=lambda model: not model.default))


def availability(target_id: str) -> Mapping[str, str | None]:
    """Per method None if it can run on this target, else the reason.

    Raises:
        ModelError: there is no such model.
    """
    return reasons(read_cards(), locate(target_id))


def drafts(target_id: str, method: str) -> tuple[str, ...]:
    """Ids of catalogue models that can draft for a target in a method; the default comes first.

    Raises:
        SpecvizError: there is no such model or method.
    """
    return draft_ids(find_card(method), locate(target_id))


def examples(target_id: str) -> tuple[Example, ...]:
    """Prompts from the domain that the target was trained on; empty for unknown models."""
    return tuple(example for example in EXAMPLES if target_id in example.targets)


def recorded() -> tuple[Path, ...]:
    """Recorded traces that come with the project, by name."""
    return tuple(sorted((ROOT / "assets" / "traces").glob("*.json")))


def vocabulary_overlap(target_id: str, draft_id: str) -> float | None:
    """Share (0 to 1) of the draft model's words that the target knows; None if not on disk.

    Raises:
        ModelError: there is no such model.
    """
    found = []
    for model_id in (target_id, draft_id):
        folder = locate(model_id).folder
        vocabulary = read_vocabulary(folder) if folder is not None else None
        if vocabulary is None:
            return None
        found.append(vocabulary)
    return overlap(found[0], found[1])


def stream(
    request: RunRequest, *, stop: threading.Event | None = None, status: Status | None = None
) -> Iterator[Event]:
    """Decode a request, event by event, with texts attached.

    Args:
        request: what to run.
        stop: once set, the run ends as cancelled within one step.
        status: is told in words what takes time: loading, waiting, warming up.

    Returns:
        An iterator of ``Prefilled``, ``Drafted``, ``Verified``, ``Finished``; a run that was
        stopped before it began yields ``Finished`` alone. Close it to free the models early.

    Raises:
        SpecvizError: the request is refused; at once for what needs no model, else on first use.
    """
    return _stream(make_plan(request), stop, status or _silent)


def run(
    request: RunRequest,
    *,
    baseline: bool = False,
    stop: threading.Event | None = None,
    status: Status | None = None,
) -> Trace:
    """Decode a request to the end.

    Args:
        request: what to run.
        baseline: decode the same prompt plainly too and put the comparison into the trace.
        stop, status: as in ``stream``.

    Raises:
        SpecvizError: the request is refused.
        BusyError: it was stopped before it began, so there is nothing to record.
    """
    plan, tell = make_plan(request), status or _silent
    if not baseline:
        return _record(list(_stream(plan, stop, tell)))
    plain = make_plan(_plain(plan.request))
    from specviz import live

    ready = _prepare(plan, tell)
    beside = _prepare(plain, tell)
    with turns.turn({*ready.models, *beside.models}, stop=stop, status=tell) as granted:
        if not granted:
            return _record([])
        plain_events = list(live.events(beside, stop, tell))
        run_events = list(live.events(ready, stop, tell))
    return _record(run_events, plain_events)


def warm_up() -> None:
    """Start torch and load the default models, so that a first run begins sooner.

    What goes wrong here is said by the run that needs it.
    """
    with suppress(SpecvizError):
        for _ in stream(RunRequest.of("speculative", "Once upon a time", max_new_tokens=4)):
            pass


def at_hand() -> tuple[str, ...]:
    """Ids of the catalogue's models whose weights are on this machine."""
    places = [locate(model.id) for model in models()]
    return tuple(
        place.id
        for place in places
        if place.gguf_file or (place.folder is not None and weight_files(place.folder))
    )


def preload(model_id: str) -> None:
    """Load a model onto the device that a run with ``auto`` chooses, in this very thread.

    Raises:
        ModelError: it cannot be loaded.
    """
    from specviz import live

    live.preload(locate(model_id))


def fetch(request: RunRequest, *, status: Status | None = None) -> None:
    """Check a request and download what its models lack, without loading anything.

    Raises:
        SpecvizError: the request is refused, or the hub does not give the files.
    """
    plan = make_plan(request)
    for found in (plan.target, plan.draft):
        if found is not None:
            fetch_weights(found, status or _silent)


def _stream(plan: Plan, stop: threading.Event | None, status: Status) -> Iterator[Event]:
    ready = _prepare(plan, status)
    from specviz import live

    with turns.turn(ready.models, stop=stop, status=status) as granted:
        if granted and not (stop is not None and stop.is_set()):
            yield from live.events(ready, stop, status)
        else:
            yield Finished(ids=(), finish_reason="cancelled", decode_s=0.0)


def _prepare(plan: Plan, status: Status) -> LiveRun:
    status("Starting torch")
    try:
        from specviz import live
    except ImportError as error:
        raise ModelError(
            f"live runs need torch and transformers ({error}); install requirements.txt, or "
            "replay a recorded run"
        ) from error
    return live.prepare(plan, status)


def _record(events: list[Event], plain_events: list[Event] | None = None) -> Trace:
    if not any(isinstance(event, Prefilled) for event in events):
        raise BusyError("the run was stopped before it began; start it again")
    beside: dict[str, Any] | None = None
    if plain_events is not None:
        finished = next(event for event in events if isinstance(event, Finished))
        beside = baseline_of(plain_events, finished.ids)
    return Trace.from_events(events, beside)


def _plain(request: RunRequest) -> RunRequest:
    return replace(request, method="plain", draft=None, drafter=None)


def _silent(text: str) -> None:
    """Status lines that nobody reads."""
