"""Timing: every form of every method on every prompt, in every round."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from specviz import runs
from specviz.bench.entrant import Entrant, OurRun, enter
from specviz.bench.result import FORMS, Result, Seconds
from specviz.catalog.entries import DEFAULT_TARGET
from specviz.config import RunRequest, whole
from specviz.engine.clock import Clock
from specviz.errors import MethodError, ModelError
from specviz.turns import turns

NEAR = ("embedded", "wheel")
NUM_PROMPTS = {"embedded": 3}  # of a target's examples; others are large, so one
Status = Callable[[str], None]


def bench(
    *,
    targets: Sequence[str] = (),
    methods: Sequence[str] = (),
    tokens: int = 64,
    repeats: int = 3,
    prompts: int | None = None,
    status: Status | None = None,
    **options: Any,
) -> list[Result]:
    """Measure methods on targets.

    Args:
        targets: ids; none = all targets that are on this machine, embedded ones first.
        methods: keys; none = all.
        tokens: new tokens per prompt, at most.
        repeats: rounds.
        prompts: the first so many examples of a target; None = 3 of an embedded one, else 1.
        status: is told in words what takes time.
        **options: further options of ``RunRequest.of``, such as ``device`` and ``gamma``.

    Raises:
        SpecvizError: a target, method or option is no good.
    """
    whole("repeats", repeats, 1, 100)
    if prompts is not None:
        whole("prompts", prompts, 1, 100)
    tell = status or (lambda text: None)
    known = [card.key for card in runs.cards()]
    for method in methods:
        if method not in known:
            raise MethodError(f"there is no method {method!r}; the methods are {', '.join(known)}")
    results = []
    for target in targets or _targets_here():
        asked = {**options, "target": target, "max_new_tokens": tokens}
        requests = {
            method: _requests(method, target, prompts, asked) for method in methods or known
        }
        results += _bench_target(target, requests, repeats, tell)
    return results


def _targets_here() -> list[str]:
    return [model.id for model in runs.targets() if model.source in NEAR]


def _bench_target(
    target: str, requests: dict[str, list[RunRequest]], repeats: int, tell: Status
) -> list[Result]:
    """All methods of one target, interleaved."""
    reasons = runs.availability(target)
    refused: dict[str, str] = {}
    ready: dict[str, list[Entrant]] = {}
    for method, asked in requests.items():
        tell(f"{target}, {method}: preparing")
        reason = reasons.get(method)
        try:
            if reason is None:
                ready[method] = [enter(request, tell) for request in asked]
            else:
                refused[method] = reason
        except (MethodError, ModelError, ValueError) as error:
            refused[method] = str(error)
    rounds: dict[str, list[dict[str, Seconds]]] = {method: [] for method in ready}
    for repeat in range(repeats):
        for method, entrants in ready.items():
            tell(f"{target}, {method}: round {repeat + 1} of {repeats}")
            rounds[method].append(_round(entrants, repeat))
    return [
        _result(method, ready[method], rounds[method])
        if method in ready
        else Result(method, target, refusal=refused[method])
        for method in requests
    ]


def _requests(
    method: str, target: str, prompts: int | None, options: dict[str, Any]
) -> list[RunRequest]:
    source = next((m.source for m in runs.targets() if m.id == target), "path")
    examples = runs.examples(target) or runs.examples(DEFAULT_TARGET)
    return [
        RunRequest.of(method, example.prompt, chat=example.chat, **options)
        for example in examples[: prompts or NUM_PROMPTS.get(source, 1)]
    ]


def _round(entrants: Sequence[Entrant], repeat: int) -> dict[str, Seconds]:
    """One round of a method: all forms of a prompt, then the next prompt; the order rotates."""
    parts: dict[str, list[Seconds]] = {form: [] for form in FORMS}
    for entrant in entrants:
        start = repeat % len(FORMS)
        with turns.turn(entrant.run.models, status=lambda text: None):
            for form in (*FORMS[start:], *FORMS[:start]):
                parts[form].append(_time(entrant, form))
    return {form: _sum(found) for form, found in parts.items()}


def _time(entrant: Entrant, form: str) -> Seconds:
    model = entrant.run.target.language_model
    assert model is not None
    clock, before = Clock(model.device), torch.get_num_threads()
    call: Callable[[], object] = {
        "ours": entrant.ours,
        "generate": entrant.generate,
        "forwards": entrant.forwards.replay,
        "modules": entrant.modules.replay,
    }[form]
    entrant.forwards.reset()
    entrant.modules.reset()
    torch.set_num_threads(model.num_threads or before)
    try:
        wall, cpu = clock.now(), time.process_time()
        found = call()
        seconds = (clock.now() - wall, time.process_time() - cpu)
    finally:
        torch.set_num_threads(before)
    return Seconds(*seconds, engine=found.engine_s if isinstance(found, OurRun) else None)


def _sum(parts: Sequence[Seconds]) -> Seconds:
    engine = [part.engine for part in parts if part.engine is not None]
    return Seconds(
        sum(part.wall for part in parts),
        sum(part.cpu for part in parts),
        sum(engine) if engine else None,
    )


def _result(
    method: str, entrants: Sequence[Entrant], rounds: Sequence[dict[str, Seconds]]
) -> Result:
    run = entrants[0].run
    model = run.target.language_model
    return Result(
        method=method,
        target=run.target.place.id,
        draft=run.draft.place.id if run.draft is not None else None,
        device=run.target.device,
        dtype=run.target.dtype,
        gamma=None if method == "plain" else run.plan.request.config.gamma,
        num_tokens=sum(len(entrant.ids) for entrant in entrants),
        num_prompts=len(entrants),
        threads=model.num_threads if model is not None else None,
        differences=tuple(entrant.difference for entrant in entrants),
        same_steps=all(entrant.same_steps for entrant in entrants),
        rounds=tuple(rounds),
    )
