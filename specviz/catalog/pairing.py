"""Which methods a target serves, and which draft models fit it: told before anything runs.

Tokenizers are compared, never sizes: a padded embedding of another size is a good pair, equal
sizes with other tokens are not. Everything here is a pure function of ``ModelFacts`` and of
vocabularies (token → id); whether a loaded model's cache can be rolled back only ``load`` knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from specviz.catalog.folders import DRAFTER_TYPES, RECURRENT_TYPES, ModelFacts, architecture
from specviz.config import MethodCard
from specviz.errors import MethodError, PairError

MAX_EXTRA_TOKENS = 128  # reserved tokens that one side of a pair may have more (2023 llama.cpp)
SAME_TOKENS = frozenset({"draft_model", "mtp_drafter", "dflash_drafter"})
DRAFT_NEEDS = frozenset({"draft_model", "foreign_draft_model", "mtp_drafter", "dflash_drafter"})

Vocabulary = Mapping[str, int]


def why_target_unfit(card: MethodCard, facts: ModelFacts | None) -> str | None:
    """The reason why a target cannot run a method, None where it can or nothing is known yet."""
    if facts is None:
        return None
    if facts.is_drafter:
        return "it is a drafter, which only drafts for its own target"
    if facts.is_encoder_decoder:
        return "it is an encoder-decoder; specviz decodes causal models"
    recurrent = sorted(facts.layer_types & RECURRENT_TYPES)
    if recurrent and card.key != "plain":
        return f"its {_words(recurrent[0])} layers keep a state that cannot be rolled back"
    for need in sorted(card.needs):
        reason = _TARGET_CHECKS.get(need, _nothing)(facts)
        if reason is not None:
            return reason
    return None


def check_target(card: MethodCard, name: str, facts: ModelFacts | None) -> None:
    """Refuse a method that the target does not serve.

    Raises:
        MethodError: names the target, the method and the reason.
    """
    reason = why_target_unfit(card, facts)
    if reason is not None:
        raise MethodError(
            f"{card.key!r} cannot run on {name!r}: {reason}; choose another method or target"
        )


def check_exit_layer(exit_layer: int | None, name: str, num_layers: int) -> None:
    """Refuse an exit that is not strictly inside the model.

    Raises:
        MethodError: allowed are 1 … L−1.
    """
    if exit_layer is not None and not 1 <= exit_layer <= num_layers - 1:
        raise MethodError(
            f"exit_layer must be from 1 to {num_layers - 1} for {name!r}, which has {num_layers} "
            f'layers, got {exit_layer}; change "Exit layer" (--exit-layer)'
        )


def check_draft(
    card: MethodCard, target: tuple[str, ModelFacts | None], draft: tuple[str, ModelFacts | None]
) -> None:
    """Refuse a draft model of the wrong kind, family or size; ``(id, facts)`` each.

    Raises:
        PairError: names both models and what would fit.
    """
    reason = why_draft_unfit(card, target[1], draft[1])
    if reason is not None:
        raise PairError(
            f"{draft[0]!r} cannot draft for {target[0]!r} in {card.key!r}: {reason}; "
            "choose another draft model"
        )


def why_draft_unfit(
    card: MethodCard, target: ModelFacts | None, draft: ModelFacts | None
) -> str | None:
    """The reason why a draft model does not suit, tokenizers apart; None where it does."""
    if draft is None:
        return None
    if "mtp_drafter" in card.needs:
        return _why_no_mtp_drafter(target, draft)
    if "dflash_drafter" in card.needs:
        return _why_no_block_drafter(target, draft)
    if draft.is_drafter:
        return "it is a drafter that needs its own target, not a model that can draft alone"
    if draft.is_encoder_decoder:
        return "it is an encoder-decoder"
    recurrent = sorted(draft.layer_types & RECURRENT_TYPES)
    if recurrent:
        return f"its {_words(recurrent[0])} layers keep a state that cannot be rolled back"
    return None


def check_vocabularies(
    card: MethodCard,
    target: tuple[str, Vocabulary],
    draft: tuple[str, Vocabulary],
) -> None:
    """Refuse a pair whose tokens differ, where the method needs the same; ``(id, tokens)`` each.

    Raises:
        PairError: names an id that means different tokens, and the method that would work.
    """
    if not card.needs & SAME_TOKENS:
        return
    difference = first_difference(target[1], draft[1])
    if difference is None:
        return
    advice = "choose a draft model of the same family"
    if "draft_model" in card.needs:
        advice = "use the method 'universal', which takes any tokenizer, or " + advice
    raise PairError(
        f"{target[0]!r} and {draft[0]!r} have different tokenizers: {difference} "
        f"(vocabularies overlap by {100 * overlap(target[1], draft[1]):.1f} %); {advice}"
    )


def first_difference(target: Vocabulary, draft: Vocabulary) -> str | None:
    """Where two vocabularies disagree, None if every common id is the same token and at most
    ``MAX_EXTRA_TOKENS`` are known to one side only."""
    ours = {index: token for token, index in target.items()}
    theirs = {index: token for token, index in draft.items()}
    for index in sorted(ours.keys() & theirs.keys()):
        if ours[index] != theirs[index]:
            return f"id {index} is {ours[index]!r} in one and {theirs[index]!r} in the other"
    num_extra = len(ours.keys() ^ theirs.keys())
    if num_extra > MAX_EXTRA_TOKENS:
        return f"{num_extra} ids are known to only one of them"
    return None


def overlap(target: Vocabulary, draft: Vocabulary) -> float:
    """Share of the draft model's words that the target's vocabulary holds too, 0 to 1."""
    return len(target.keys() & draft.keys()) / max(1, len(draft))


def _why_no_block_drafter(target: ModelFacts | None, draft: ModelFacts) -> str | None:
    if not draft.block_layers:
        return f"it is a {architecture(draft.model_type)} model, not a block drafter (DFlash)"
    if target is None:
        return None
    if draft.hidden_size != target.hidden_size:
        return (
            f"it was made for a hidden size of {draft.hidden_size}, "
            f"and the target has {target.hidden_size}"
        )
    if max(draft.block_layers) >= target.num_layers:
        return (
            f"it reads layer {max(draft.block_layers)} (from 0 on), "
            f"and the target has {target.num_layers} layers"
        )
    return None


def _why_no_mtp_drafter(target: ModelFacts | None, draft: ModelFacts) -> str | None:
    families = DRAFTER_TYPES.get(draft.model_type)
    if families is None:
        return f"it is a {architecture(draft.model_type)} model, not an MTP drafter"
    if target is None:
        return None
    if not target.model_type.startswith(families):
        made_for, found = architecture(families[0]), architecture(target.model_type)
        return f"it drafts for {made_for} models, and the target is {found}"
    if draft.backbone_hidden_size != target.hidden_size:
        return (
            f"it was made for a hidden size of {draft.backbone_hidden_size}, "
            f"and the target has {target.hidden_size}"
        )
    return None


def _words(name: str) -> str:
    return name.replace("_", " ")


def _nothing(facts: ModelFacts) -> str | None:
    return None


def _needs_depth(facts: ModelFacts) -> str | None:
    return None if facts.num_layers >= 2 else f"it has {facts.num_layers} layer, two are needed"


def _needs_mtp(facts: ModelFacts) -> str | None:
    if facts.num_mtp_layers == 0:
        return "its config names no multi-token-prediction layers"
    if facts.num_bytes and not facts.has_mtp_weights:
        return (
            f"its config promises {facts.num_mtp_layers} multi-token-prediction layers, "
            "but the files hold no weights for them (many conversions drop them)"
        )
    return None


def _needs_drafter_family(facts: ModelFacts) -> str | None:
    families = sorted({name for names in DRAFTER_TYPES.values() for name in names})
    if facts.model_type.startswith(tuple(families)):
        return None
    names = ", ".join(architecture(family) for family in families)
    return f"MTP drafters exist for {names}, and it is {architecture(facts.model_type)}"


_TARGET_CHECKS: dict[str, Callable[[ModelFacts], str | None]] = {
    "exit_layer": _needs_depth,
    "mtp_layers": _needs_mtp,
    "mtp_drafter": _needs_drafter_family,
}
