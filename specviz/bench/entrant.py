"""One method on one prompt, ready to be timed in its four forms."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast
from unittest.mock import patch

from specviz import live
from specviz.bench.replay import Recording, recorded
from specviz.bench.stock import Generate, stock_call
from specviz.config import RunRequest
from specviz.engine.assistant import ModuleAssistant
from specviz.engine.decode import decode
from specviz.engine.drafters import mtp_drafter
from specviz.engine.drafters.base import Parts
from specviz.engine.language_model import LanguageModel
from specviz.events import Event, Finished, Prefilled
from specviz.live import LiveRun
from specviz.plans import make_plan
from specviz.trace import first_difference


@dataclass(frozen=True, slots=True)
class OurRun:
    """Ids of one of our runs, and the seconds of its own clock: no events, no texts."""

    ids: tuple[int, ...]
    engine_s: float


@dataclass(frozen=True, slots=True)
class Entrant:
    """A method on a prompt.

    Attributes:
        run: the models and settings.
        generate: the same by ``generate()``.
        forwards: our forward passes.
        modules: the same run's forward passes by Transformers' modules.
        ids: ids of our run.
        difference: first index where ``generate()`` gives another id, None if all are equal.
        same_steps: whether the run through the modules had the same ids, so the same forwards.
    """

    run: LiveRun
    generate: Generate
    forwards: Recording
    modules: Recording
    ids: tuple[int, ...]
    difference: int | None
    same_steps: bool

    def ours(self) -> OurRun:
        """Decode as users get it; the events are made and dropped."""
        prefill_s, last = 0.0, None
        for event in live.events(self.run, threading.Event(), _silent):
            if isinstance(event, Prefilled):
                prefill_s = event.prefill_s
            last = event
        assert isinstance(last, Finished)
        return OurRun(last.ids, prefill_s + last.decode_s)


def enter(request: RunRequest, status: Callable[[str], None]) -> Entrant:
    """Load, run each form once (which is its warm-up), and compare their ids.

    Raises:
        SpecvizError: the request is refused.
        ValueError: ``generate()`` has no counterpart.
    """
    run = live.prepare(make_plan(request), status)
    generate, parts = stock_call(run), live.parts_of(run, run.plan)
    with closing(cast(Generator[Event, None, None], live.events(run, None, status))) as events:
        next(events)  # warms up: a first call may prepare or measure, which is no forward pass
    ids, forwards = _record(run, parts)
    with _through_modules():
        module_ids, modules = _record(run, _module_parts(parts))
    return Entrant(
        run=run,
        generate=generate,
        forwards=forwards,
        modules=modules,
        ids=ids,
        difference=first_difference(generate(), ids),
        same_steps=module_ids == ids,
    )


def _record(run: LiveRun, parts: Parts) -> tuple[tuple[int, ...], Recording]:
    with recorded() as recording:
        method, text_of = run.plan.card.key, run.texts.text
        *_, last = decode(run.prompt_ids, method=method, parts=parts, text_of=text_of)
    assert isinstance(last, Finished)
    return last.ids, recording


def _module_parts(parts: Parts) -> Parts:
    """The same models, run through their own ``forward``."""
    target, draft = _by_module(parts.target), None
    if parts.draft is not None:
        draft = _by_module(parts.draft)
    return replace(parts, target=target, draft=draft)


def _by_module(model: LanguageModel) -> LanguageModel:
    return LanguageModel(model.module, model.end_ids, direct=False)


@contextmanager
def _through_modules() -> Iterator[None]:
    """Within, an MTP drafter runs through its module too."""

    def by_module(module: Any, *where: Any) -> ModuleAssistant:
        return ModuleAssistant(module)

    with patch.object(mtp_drafter, "assistant_of", by_module):
        yield


def _silent(text: str) -> None:
    """Status lines that nobody reads."""
