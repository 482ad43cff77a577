"""A live run: load what a plan needs, describe it, and decode, with text attached to the events.

This is the part of ``specviz.runs`` that needs torch; only ``runs`` imports it, inside functions.
Loading, encoding and the making of text are never inside a timing of the engine.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch

from specviz.attach import Attacher
from specviz.catalog.load import LoadedModel, has_tokenizer, load, load_tokenizer
from specviz.catalog.locate import Place, Status, fetch_description
from specviz.catalog.pairing import check_vocabularies
from specviz.engine.decode import decode
from specviz.engine.drafters.base import Parts
from specviz.engine.drafters.early_exit import default_exit_layer
from specviz.engine.language_model import LanguageModel
from specviz.engine.vocabulary import VocabularyMap
from specviz.errors import MethodError, ModelError, PromptError
from specviz.events import Event
from specviz.header import header_of
from specviz.plans import Plan, check_length, recheck
from specviz.token_text import TokenTexts

_WARM_UP_TOKENS = 4
_MAX_VOCABULARIES = 8  # pairs
_warm: set[Hashable] = set()
_vocabularies: dict[Hashable, VocabularyMap] = {}


@dataclass(frozen=True, slots=True)
class LiveRun:
    """Everything of one run, in memory.

    Attributes:
        plan: what was asked, completed.
        prompt_ids: the encoded prompt.
        texts: the target tokenizer's texts.
        target, draft: the loaded models.
    """

    plan: Plan
    prompt_ids: tuple[int, ...]
    texts: TokenTexts
    target: LoadedModel
    draft: LoadedModel | None

    @property
    def models(self) -> tuple[Hashable, ...]:
        """Keys of the models that the run wants for itself."""
        return (self.target.key,) if self.draft is None else (self.target.key, self.draft.key)

    @property
    def load_s(self) -> float:
        """Seconds that loading the models took, whenever that was."""
        return self.target.load_s + (self.draft.load_s if self.draft is not None else 0.0)


def prepare(plan: Plan, status: Status) -> LiveRun:
    """Check what only tokenizers can tell, then load.

    Raises:
        SpecvizError: prompt or pair do not fit, or a model cannot be loaded.
    """
    target = fetch_description(plan.target, status)
    draft = None if plan.draft is None else fetch_description(plan.draft, status)
    plan = recheck(replace(plan, target=target, draft=draft))
    tokenizer = load_tokenizer(target, status)
    prompt_ids = encode(plan, tokenizer)
    config = plan.request.config
    for place in (target, draft):
        if place is not None and place.facts is not None and not place.facts.is_drafter:
            limit = place.facts.max_positions
            check_length(place.id, len(prompt_ids), config.max_new_tokens, limit)
    if draft is not None and has_tokenizer(draft):
        ours = (target.id, tokenizer.get_vocab())
        theirs = (draft.id, load_tokenizer(draft, status).get_vocab())
        check_vocabularies(plan.drafting, ours, theirs)
    where: dict[str, Any] = {"device": plan.request.device, "dtype": plan.request.dtype}
    loaded = load(target, **where, status=status)
    loaded_draft = None if draft is None else load(draft, **where, status=status)
    plan = recheck(replace(plan, target=loaded.place))
    _check_caches(plan, loaded, loaded_draft)
    plan = _resolve(plan, loaded)
    return LiveRun(plan, prompt_ids, TokenTexts(tokenizer), loaded, loaded_draft)


def preload(place: Place) -> None:
    """Put a model into the cache of loaded ones, for runs that choose no device and no dtype."""
    load(place, status=lambda text: None)


def encode(plan: Plan, tokenizer: Any) -> tuple[int, ...]:
    """The prompt as ids, in the chat template if asked.

    Raises:
        PromptError: there is no chat template, or no token comes out.
    """
    prompt = plan.request.prompt
    if plan.request.chat:
        if not tokenizer.chat_template:
            raise PromptError(
                f"{plan.target.id!r} has no chat template; leave out the chat option (--chat)"
            )
        turn = [{"role": "user", "content": prompt}]
        prompt = tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)
    ids = tokenizer(prompt, add_special_tokens=not plan.request.chat, verbose=False)["input_ids"]
    if not ids:
        raise PromptError(f"the prompt {prompt[:20]!r} has no tokens; type more of it")
    return tuple(int(token_id) for token_id in ids)


def events(run: LiveRun, stop: threading.Event | None, status: Status) -> Iterator[Event]:
    """Decode; the caller holds the models.

    Raises:
        ModelError: the device ran out of memory.
    """
    stop = stop or threading.Event()
    attacher = Attacher(run.texts, _draft_texts(run))
    with _threads(run), _memory_error(run):
        _warm_up(run, status)
        status("Running")
        for event in _decode(run, run.plan, stop):
            header = None if attacher.started else header_of(run)
            yield attacher.attach(event, header)


def _decode(run: LiveRun, plan: Plan, stop: threading.Event) -> Iterator[Event]:
    return decode(
        run.prompt_ids,
        method=plan.card.key,
        parts=parts_of(run, plan),
        text_of=run.texts.text,
        stopped=stop.is_set,
    )


def parts_of(run: LiveRun, plan: Plan) -> Parts:
    """What the engine builds the method of a plan from."""
    needs = plan.drafting.needs
    drafter_model = run.target.mtp_layers if "mtp_layers" in needs else None
    if needs & {"mtp_drafter", "dflash_drafter"} and run.draft is not None:
        drafter_model = run.draft.module
    return Parts(
        target=_language_model(run.target),
        config=plan.request.config,
        draft=run.draft.language_model if run.draft is not None else None,
        vocabulary=_vocabulary(run) if "foreign_draft_model" in needs else None,
        drafter_model=drafter_model,
        drafter_method=plan.drafting.key if plan.drafting is not plan.card else None,
    )


def _vocabulary(run: LiveRun) -> VocabularyMap:
    """How the two tokenizers relate; made once per pair, since large vocabularies take a while."""
    assert run.draft is not None
    found = _vocabularies.get(run.models)
    if found is None:
        if len(_vocabularies) >= _MAX_VOCABULARIES:
            _vocabularies.clear()
        found = VocabularyMap.of(run.target.tokenizer, run.draft.tokenizer)
        _vocabularies[run.models] = found
    return found


def _language_model(loaded: LoadedModel) -> LanguageModel:
    assert loaded.language_model is not None
    return loaded.language_model


def _check_caches(plan: Plan, target: LoadedModel, draft: LoadedModel | None) -> None:
    if plan.card.key == "plain":
        return
    for loaded in (target, draft):
        model = loaded.language_model if loaded is not None else None
        reason = model.why_not_croppable() if model is not None else None
        if loaded is not None and reason is not None:
            raise MethodError(
                f"{plan.card.key!r} cannot run with {loaded.place.id!r}: {reason}; "
                "choose another model, or the method 'plain'"
            )


def _resolve(plan: Plan, target: LoadedModel) -> Plan:
    """The plan with every ``auto`` and default replaced by what is in force."""
    request, config = plan.request, plan.request.config
    if "exit_layer" in plan.drafting.needs and config.exit_layer is None:
        config = replace(config, exit_layer=default_exit_layer(target.facts.num_layers))
    request = replace(request, config=config, device=target.device, dtype=target.dtype)
    return replace(plan, request=request)


def _warm_up(run: LiveRun, status: Status) -> None:
    """Decode a few tokens once per method and models, so that no timing holds a first call."""
    key = (run.plan.card.key, run.plan.drafting.key, *run.models)
    if key in _warm:
        return
    status("Warming up")
    config = replace(
        run.plan.request.config,
        max_new_tokens=_WARM_UP_TOKENS,
        min_new_tokens=0,
        stop=(),
    )
    short = replace(run.plan, request=replace(run.plan.request, config=config))
    for _ in _decode(run, short, threading.Event()):
        pass
    _warm.add(key)


@contextmanager
def _threads(run: LiveRun) -> Iterator[None]:
    """Use the number of threads that was measured to be fastest for the target."""
    chosen = _language_model(run.target).num_threads
    if chosen is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(chosen)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _memory_error(run: LiveRun) -> Iterator[None]:
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise ModelError(
            f"the memory of {run.target.device!r} is too small for {run.target.place.id!r} with "
            f"{len(run.prompt_ids)} prompt tokens; choose a smaller model or a shorter prompt"
        ) from error


def _draft_texts(run: LiveRun) -> TokenTexts | None:
    if run.draft is None or run.draft.tokenizer is None:
        return None
    return TokenTexts(run.draft.tokenizer)
