"""Loaded models are shared by all runs: whatever fails, and wherever, nothing in them changes.

Each method is broken in each phase: an exception in the n-th forward pass, in the drafter, the
verifier, the commit, the making of events or of texts; a cancel, a close or an interrupt between
any two events. Then weights, configs, tokenizers, hooks and modes are as before, no turn is held,
and the next run gives the same ids as ever.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
import torch

from specviz import live, runs
from specviz.attach import Attacher
from specviz.catalog import load as loading
from specviz.catalog.load import LoadedModel
from specviz.config import RunRequest
from specviz.engine import decode as engine
from specviz.engine import emit
from specviz.engine.assistant import DirectAssistant
from specviz.engine.cache import DirectCache
from specviz.engine.context import Context
from specviz.engine.direct import DirectLayers
from specviz.engine.drafters.base import Drafter
from specviz.engine.language_model import LanguageModel
from specviz.errors import ModelError, SpecvizError
from specviz.events import Event, Finished
from specviz.plans import make_plan
from specviz.trace import Trace, check
from specviz.turns import turns
from tests.checkpoints import OTHER, byte_tokenizer, save_checkpoint
from tests.fakes import near_copy, tiny_llama

PROMPT = "the cat sat on the mat and the cat sat on the"
TOKENS = 7
MAX_FORWARDS = 60  # more than any of these runs has


class BrokenError(RuntimeError):
    """The fault that is injected."""


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunRequest]:
    """One short run per method: tiny models where they serve, embedded ones elsewhere."""
    module = tiny_llama(vocab=320)
    folders = {
        "target": save_checkpoint(tmp_path_factory.mktemp("target"), module),
        "draft": save_checkpoint(tmp_path_factory.mktemp("draft"), near_copy(module)),
        "other": save_checkpoint(
            tmp_path_factory.mktemp("other"),
            tiny_llama(vocab=352, layers=1),
            byte_tokenizer(OTHER, vocab_size=300),
        ),
    }
    tiny = {"target": str(folders["target"]), "dtype": "float64"}
    own = {
        "plain": tiny,
        "prompt_lookup": {**tiny, "ngram": 2},
        "early_exit": {**tiny, "exit_layer": 2},
        "speculative": {**tiny, "draft": str(folders["draft"])},
        "ensemble": {**tiny, "draft": str(folders["draft"]), "ensemble_weight": 0.6},
        "universal": {**tiny, "draft": str(folders["other"])},
        "mtp_layers": {"target": "target-glm"},
        "mtp_drafter": {"target": "target-gemma"},
    }
    return {
        method: RunRequest.of(method, PROMPT, max_new_tokens=TOKENS, gamma=3, **options)
        for method, options in own.items()
    }


METHODS = (
    "plain", "prompt_lookup", "early_exit", "speculative", "ensemble", "universal", "mtp_layers",
    "mtp_drafter",
)  # fmt: skip
EMBEDDED = ("mtp_layers", "mtp_drafter")


def test_the_fingerprint_sees_every_kind_of_change(
    requests: dict[str, RunRequest], reference: dict[str, tuple[int, ...]]
) -> None:
    request = requests["speculative"]
    loaded = loading._cache[(make_plan(request).target.id, "cpu", "float64")]
    module, before = loaded.module, fingerprint(request)
    weight = next(module.parameters())
    changes: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
        (lambda: weight[0, 0].add_(1.0), lambda: weight[0, 0].sub_(1.0)),
        (module.train, module.eval),
        (lambda: setattr(module.config, "num_hidden_layers", 1),
         lambda: setattr(module.config, "num_hidden_layers", 3)),
        (lambda: setattr(module.generation_config, "num_assistant_tokens", 9),
         lambda: setattr(module.generation_config, "num_assistant_tokens", 5)),
        (lambda: setattr(loaded.tokenizer, "padding_side", "left"),
         lambda: setattr(loaded.tokenizer, "padding_side", "right")),
    ]  # fmt: skip
    for change, back in changes:
        change()
        assert fingerprint(request) != before
        back()
        assert fingerprint(request) == before


def test_every_method_with_embedded_or_tiny_models_is_here() -> None:
    without = {card.key for card in runs.cards()} - set(METHODS)
    assert without <= {"dflash"}  # its drafter needs hidden states; see its own tests


# What must not change


def fingerprint(request: RunRequest | None = None) -> str:
    """A hash of everything in the models of a request (None: all that are loaded), their
    tokenizers, and of torch's modes."""
    digest = hashlib.sha256()
    plan = None if request is None else make_plan(request)
    names = None if plan is None else {plan.target.id, getattr(plan.draft, "id", "")}
    for key in sorted(loading._cache):
        if names is None or key[0] in names:
            _add_model(digest, loading._cache[key])
    modes = (torch.is_inference_mode_enabled(), torch.is_grad_enabled(), torch.get_num_threads())
    digest.update(repr((*modes, torch.get_default_dtype())).encode())
    return digest.hexdigest()


def _add_model(digest: Any, loaded: LoadedModel) -> None:
    tokenizer = loaded.tokenizer
    digest.update(tokenizer.backend_tokenizer.to_str().encode())
    digest.update(repr(sorted(tokenizer.special_tokens_map.items())).encode())
    digest.update(repr((tokenizer.padding_side, tokenizer.truncation_side)).encode())
    for module in (loaded.module, loaded.mtp_layers):
        if module is None:
            continue
        for name, value in module.state_dict().items():
            digest.update(name.encode())
            digest.update(value.contiguous().view(torch.uint8).numpy())
        for name, part in module.named_modules():
            hooks = (len(part._forward_hooks), len(part._forward_pre_hooks))
            digest.update(repr((name, type(part).__name__, part.training, hooks)).encode())
        digest.update(_plain(module.config.to_dict()))
        grads = [p.requires_grad or p.grad is not None for p in module.parameters()]
        digest.update(repr(any(grads)).encode())
    digest.update(_plain(loaded.module.generation_config.to_dict()))
    digest.update(repr(sorted(vars(loaded.module).keys())).encode())
    model = loaded.language_model
    if model is not None:
        digest.update(repr((model.end_ids, model.num_threads, model.path_note)).encode())


def _plain(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, default=str).encode()


@pytest.fixture(scope="module")
def reference(requests: dict[str, RunRequest]) -> dict[str, tuple[int, ...]]:
    """The ids of each method, everything loaded and warm."""
    return {method: runs.run(request).output_ids for method, request in requests.items()}


@contextmanager
def unchanged(request: RunRequest, expected: tuple[int, ...]) -> Iterator[None]:
    """Around something that fails: nothing changes, no turn is held, the next run is right."""
    before = fingerprint(request)
    yield
    assert turns._running == {} and turns._waiting == {}
    trace = runs.run(request)
    check(trace)
    assert trace.output_ids == expected
    assert fingerprint(request) == before


def fails_at(count: int, error: BaseException, *, late: bool = False) -> Callable[[Any], Any]:
    """Makes a function that works ``count`` times and then fails, ``late`` after its own work."""
    calls = [0]

    def wrap(real: Any) -> Any:
        def broken(*args: Any, **options: Any) -> Any:
            calls[0] += 1
            if calls[0] <= count:
                return real(*args, **options)
            if late:
                real(*args, **options)
            raise error

        return broken

    return wrap


def consume(request: RunRequest) -> Iterator[Event]:
    return runs.stream(request)


# Exceptions within a step


@pytest.mark.parametrize("method", METHODS)
def test_a_forward_pass_that_fails_changes_nothing(
    method: str, requests: dict[str, RunRequest], reference: dict[str, tuple[int, ...]]
) -> None:
    """Every forward pass of the run in turn: prompt, drafting, verification, of every model."""
    request, step = requests[method], 5 if method in EMBEDDED else 1
    with unchanged(request, reference[method]):
        for count in range(0, MAX_FORWARDS, step):
            wrap = fails_at(count, BrokenError(), late=bool(count % 2))
            with ExitStack() as stack:
                for owner, name in FORWARDS:
                    real = getattr(owner, name)
                    stack.enter_context(patch.object(owner, name, wrap(real)))
                try:
                    trace = runs.run(request)
                except BrokenError:
                    assert turns._running == {}
                    continue
            assert trace.output_ids == reference[method]
            break
        else:
            pytest.fail("the run has more forward passes than were broken")
        assert count > 3


FORWARDS = ((DirectLayers, "run"), (LanguageModel, "_forward_module"), (DirectAssistant, "step"))


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("phase", ["begin", "propose", "verify", "commit"])
@pytest.mark.parametrize("method", METHODS)
def test_a_drafter_that_fails_changes_nothing(
    method: str,
    phase: str,
    late: bool,
    requests: dict[str, RunRequest],
    reference: dict[str, tuple[int, ...]],
) -> None:
    request = requests[method]
    drafter = drafter_type(request)
    with unchanged(request, reference[method]):
        wrap = fails_at(0 if phase == "begin" else 1, BrokenError(), late=late)
        with (
            patch.object(drafter, phase, wrap(getattr(drafter, phase))),
            pytest.raises(BrokenError),
        ):
            list(consume(request))


def drafter_type(request: RunRequest) -> type[Drafter]:
    found: list[type[Drafter]] = []
    real = engine.Run.__init__

    def noted(self: Any, prompt: Any, drafter: Drafter, *args: Any) -> None:
        found.append(type(drafter))
        real(self, prompt, drafter, *args)

    with patch.object(engine.Run, "__init__", noted):
        next(consume(request))
    return found[-1]


PLACES = {
    "prefill": (LanguageModel, "prefill", 0),
    "scores": (engine.Run, "_score", 1),
    "judge": (engine, "rule_of", 0),
    "commit": (Context, "commit", 1),
    "crop": (DirectCache, "crop", 2),
    "announce": (emit, "drafted", 1),
    "tokens": (emit, "judged_tokens", 1),
    "own token": (emit, "target_token", 0),
    "texts": (Attacher, "attach", 3),
    "header": (live, "header_of", 0),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("method", METHODS)
def test_a_fault_of_ours_changes_nothing(
    method: str,
    place: str,
    requests: dict[str, RunRequest],
    reference: dict[str, tuple[int, ...]],
) -> None:
    request = requests[method]
    owner, name, count = PLACES[place]
    with unchanged(request, reference[method]):
        wrap = fails_at(count, BrokenError(), late=True)
        with patch.object(owner, name, wrap(getattr(owner, name))), pytest.raises(BrokenError):
            list(consume(request))


@pytest.mark.parametrize("error", [KeyboardInterrupt, torch.OutOfMemoryError, MemoryError])
def test_an_interrupt_and_a_lack_of_memory_change_nothing(
    error: type[BaseException],
    requests: dict[str, RunRequest],
    reference: dict[str, tuple[int, ...]],
) -> None:
    request = requests["speculative"]
    seen = ModelError if error is torch.OutOfMemoryError else error
    with unchanged(request, reference["speculative"]):
        wrap = fails_at(9, error("no"))
        with patch.object(DirectLayers, "run", wrap(DirectLayers.run)), pytest.raises(seen):
            list(consume(request))


# Between events


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_left_between_events_changes_nothing(
    method: str, requests: dict[str, RunRequest], reference: dict[str, tuple[int, ...]]
) -> None:
    request = requests[method]
    with unchanged(request, reference[method]):
        for count in range(1, 6):
            _leave(request, count, lambda events, stop: events.close())  # type: ignore[attr-defined]
            _leave(request, count, _throw)
            _leave(request, count, _cancel)
            _leave(request, count, lambda events, stop: None)  # forgotten, so collected


def _leave(request: RunRequest, count: int, act: Callable[[Any, threading.Event], None]) -> None:
    stop = threading.Event()
    events = runs.stream(request, stop=stop)
    for _ in range(count):
        next(events)
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    act(events, stop)


def _throw(events: Any, stop: threading.Event) -> None:
    with pytest.raises(BrokenError):
        events.throw(BrokenError())


def _cancel(events: Any, stop: threading.Event) -> None:
    stop.set()
    *_, last = events
    assert isinstance(last, Finished) and last.finish_reason == "cancelled"


@pytest.mark.parametrize("method", METHODS)
def test_a_sampled_run_changes_nothing(
    method: str, requests: dict[str, RunRequest], reference: dict[str, tuple[int, ...]]
) -> None:
    with unchanged(requests[method], reference[method]):
        for options in ({"temperature": 0.8}, {"temperature": 1.0, "repetition_penalty": 1.3}):
            config = RunRequest.of("plain", PROMPT, max_new_tokens=TOKENS, **options).config
            runs.run(_with(requests[method], config))


def _with(request: RunRequest, config: Any) -> RunRequest:
    own = request.config
    kept = {"gamma": own.gamma, "ngram": own.ngram, "exit_layer": own.exit_layer}
    return replace(request, config=replace(config, **kept))


# Before the run


def test_a_warm_up_that_fails_is_done_again(
    requests: dict[str, RunRequest], reference: dict[str, tuple[int, ...]]
) -> None:
    request = requests["speculative"]
    with unchanged(request, reference["speculative"]), patch.object(live, "_warm", set()):
        wrap = fails_at(2, BrokenError())
        with patch.object(DirectLayers, "run", wrap(DirectLayers.run)), pytest.raises(BrokenError):
            list(consume(request))
        assert live._warm == set()
        assert runs.run(request).output_ids == reference["speculative"]


@pytest.mark.parametrize("name", ["_load_module", "load_mtp_layers", "choose_threads", "sha256_of"])
def test_a_load_that_fails_leaves_no_half_model(name: str) -> None:
    request = RunRequest.of("mtp_layers", PROMPT, max_new_tokens=3, dtype="bfloat16")
    loading._cache.pop(("target-glm", "cpu", "bfloat16"), None)
    before = (fingerprint(), set(loading._cache))
    wrap = fails_at(0, BrokenError(), late=True)
    with (
        patch.object(loading, name, wrap(getattr(loading, name))),
        pytest.raises((BrokenError, SpecvizError)),
    ):
        list(consume(request))
    assert (fingerprint(), set(loading._cache)) == before
    assert len(Trace.from_events(list(consume(request))).output_ids) == 3
