"""A request checked and completed: what really runs, before anything is loaded.

Refusals that need no model are made here, so they cost nothing and come at once. Only the
standard library is used; whether tokens and caches fit is checked by ``specviz.live``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specviz.catalog.entries import DEFAULT_TARGET, PAIRS
from specviz.catalog.locate import Place, locate
from specviz.catalog.pairing import DRAFT_NEEDS, check_draft, check_exit_layer, check_target
from specviz.config import MAX_EXIT_LAYER, MethodCard, RunRequest, settings_of
from specviz.errors import MethodError, PairError, PromptError, SettingError
from specviz.method_cards import find_card

MAX_PROMPT_CHARACTERS = 100_000
METHOD_SETTINGS = ("gamma", "schedule", "confidence", "exit_layer", "ngram", "ensemble_weight")


@dataclass(frozen=True, slots=True)
class Plan:
    """One run, ready to be prepared.

    Attributes:
        card: the method.
        drafting: the method whose drafts are used: ``card``, or for an ensemble another one.
        request: as asked, with defaults filled in.
        target: where the target is.
        draft: where the draft model is, None if the method needs none.
    """

    card: MethodCard
    drafting: MethodCard
    request: RunRequest
    target: Place
    draft: Place | None = None


def make_plan(request: RunRequest) -> Plan:
    """Check a request and fill in its defaults.

    Raises:
        SpecvizError: a sentence that names what is wrong and what would do.
    """
    if not isinstance(request, RunRequest):
        raise SettingError(
            f"a run needs a RunRequest, got {request!r}; build it with RunRequest.of"
        )
    card = find_card(request.method)
    check_prompt(request.prompt)
    target = locate(DEFAULT_TARGET if request.target is None else request.target)
    drafting = _drafting_card(card, request, target)
    check_target(drafting, target.id, target.facts)
    draft_id = _draft_id(drafting, target, request.draft)
    draft = None if draft_id is None else locate(draft_id)
    config = request.config
    if "exit_layer" in drafting.needs and config.exit_layer is None and target.entry is not None:
        config = replace(config, exit_layer=target.entry.exit_layer)
    request = replace(
        request,
        target=target.id,
        draft=draft_id,
        drafter=drafting.key if drafting is not card else None,
        config=config,
    )
    return recheck(Plan(card, drafting, request, target, draft))


def request_of(method: str, prompt: str, **options: Any) -> RunRequest:
    """``RunRequest.of``; an exit that no model has is refused with the range of this target.

    Raises:
        SpecvizError: an option is unknown or its value is not allowed.
    """
    exit_layer = options.get("exit_layer")
    if type(exit_layer) is int and not 1 <= exit_layer <= MAX_EXIT_LAYER:
        target = locate(options.get("target") or DEFAULT_TARGET)
        if target.facts is not None:
            check_exit_layer(exit_layer, target.id, target.facts.num_layers)
    return RunRequest.of(method, prompt, **options)


def recheck(plan: Plan) -> Plan:
    """Check what the models' files say; again once more of them has been fetched.

    Raises:
        SpecvizError: the method does not run on this target, or the pair does not fit.
    """
    target, config = plan.target, plan.request.config
    facts = target.facts
    check_target(plan.drafting, target.id, facts)
    if plan.draft is not None:
        check_draft(plan.drafting, (target.id, facts), (plan.draft.id, plan.draft.facts))
    if facts is None:
        return plan
    check_bad_words(config.bad_words_ids, target.id, facts.embedding_size)
    if "exit_layer" in plan.drafting.needs:
        check_exit_layer(config.exit_layer, target.id, facts.num_layers)
    if "mtp_layers" in plan.drafting.needs:
        gamma = min(facts.num_mtp_layers, 16)
        config = replace(config, gamma=gamma, schedule="constant")
        return replace(plan, request=replace(plan.request, config=config))
    return plan


def check_prompt(prompt: object) -> None:
    """Refuse what cannot be continued.

    Raises:
        PromptError: several prompts, no text, too much of it, or text that is no Unicode.
    """
    if isinstance(prompt, (list, tuple)):
        raise PromptError(
            f"one prompt at a time, got a {type(prompt).__name__} of {len(prompt)}; "
            "run them one after the other"
        )
    if not isinstance(prompt, str):
        raise PromptError(f"the prompt must be text, got {type(prompt).__name__} {prompt!r:.60}")
    if not prompt.strip():
        raise PromptError(f"the prompt must hold more than spaces, got {prompt[:20]!r}; type some")
    if len(prompt) > MAX_PROMPT_CHARACTERS:
        raise PromptError(
            f"the prompt must have at most {MAX_PROMPT_CHARACTERS} characters, got {len(prompt)}; "
            "shorten it"
        )
    surrogate = next((sign for sign in prompt if "\ud800" <= sign <= "\udfff"), None)
    if surrogate is not None:
        raise PromptError(
            f"the prompt holds the lone surrogate {surrogate!r}, which is no character; remove it"
        )


def check_bad_words(words: Sequence[Sequence[int]], name: str, vocab_size: int) -> None:
    """Refuse to forbid ids that the target does not have.

    Raises:
        SettingError: names the first of them; ``vocab_size`` 0 = unknown.
    """
    beyond = next((token for word in words for token in word if token >= vocab_size), None)
    if vocab_size and beyond is not None:
        shown = beyond if beyond < 10**12 else "a huge number"
        raise SettingError(
            f"bad_words_ids must be from 0 to {vocab_size - 1} for {name!r}, got {shown}; "
            "name ids of the target's tokenizer"
        )


def check_length(name: str, num_prompt_tokens: int, max_new_tokens: int, limit: int) -> None:
    """Refuse a prompt that with its new tokens exceeds what a model can hold.

    Raises:
        PromptError: ``limit`` > 0 would be exceeded.
    """
    if limit and num_prompt_tokens + max_new_tokens > limit:
        raise PromptError(
            f"the prompt has {num_prompt_tokens} tokens and {max_new_tokens} are to be added, but "
            f"{name!r} holds at most {limit}; shorten the prompt or lower max_new_tokens"
        )


def effective_settings(plan: Plan) -> Mapping[str, Any]:
    """The settings in force, for the trace; those that the method has no use for are None."""
    used = set(plan.card.settings) | set(plan.drafting.settings)
    if "mtp_layers" in plan.drafting.needs:
        used.add("gamma")  # not chosen, but in force: the number of layers
    settings = dict(settings_of(plan.request.config))
    for name in METHOD_SETTINGS:
        if name not in used:
            settings[name] = None
    request = plan.request
    names = ("method", "chat", "target", "draft", "drafter", "device", "dtype")
    return {**{name: getattr(request, name) for name in names}, **settings}


def default_draft(method: str, target_id: str) -> str | None:
    """The draft model that the catalogue knows to fit, None if there is none."""
    for pair in PAIRS:
        if pair.target == target_id and method in pair.methods:
            return pair.draft
    return None


def _drafting_card(card: MethodCard, request: RunRequest, target: Place) -> MethodCard:
    """The method that drafts; for an ensemble, one that reports the distribution q."""
    if "probs_drafter" not in card.needs:
        return card
    has_draft = request.draft or default_draft("speculative", target.id)
    drafting = find_card(request.drafter or ("speculative" if has_draft else "early_exit"))
    if not drafting.provides_probs or "probs_drafter" in drafting.needs:
        raise MethodError(
            f"{card.key!r} mixes two distributions, and the drafter {drafting.key!r} reports none; "
            "choose a drafter such as 'speculative' or 'early_exit'"
        )
    return drafting


def _draft_id(card: MethodCard, target: Place, asked: str | None) -> str | None:
    if not card.needs & DRAFT_NEEDS:
        return None
    found = asked or default_draft(card.key, target.id)
    if found is None:
        raise PairError(
            f"{card.key!r} needs a draft model, and the catalogue knows none for {target.id!r}; "
            'name one as "Draft model" (--draft)'
        )
    return found
