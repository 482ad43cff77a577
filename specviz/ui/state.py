"""What the page knows, and how it changes: pure, without Gradio.

``Menu`` says what can be chosen for a target and a method; ``Form`` holds what the visitor typed
and becomes ``RunRequest``; ``Session`` remembers which run the page shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

from specviz.config import DecodeConfig, MethodCard, RunRequest
from specviz.errors import MethodError, SpecvizError
from specviz.ui.source import Source

PLAIN = "plain"
COMMON = (
    "max_new_tokens",
    "temperature",
    "top_k",
    "top_p",
    "repetition_penalty",
    "seed",
    "stop",
)
SPECIAL = ("gamma", "schedule", "confidence", "exit_layer", "ngram", "ensemble_weight")
DRAFTING = ("gamma", "schedule", "confidence", "exit_layer", "ngram")  # how drafts are made
WHOLE = ("max_new_tokens", "gamma", "exit_layer", "ngram", "top_k", "seed")
MOST_LAYERS = 64  # of a target whose files are not here yet


@dataclass(frozen=True, slots=True)
class Session:
    """What one open page shows.

    Attributes:
        run_id: the run whose figures and trace are offered, empty before the first one.
        lane: the lane of that run that the visitor looks at.
    """

    run_id: str = ""
    lane: int = 0

    def showing(self, run_id: str) -> Session:
        """The session after another run was put on screen."""
        return replace(self, run_id=run_id, lane=0)


@dataclass(frozen=True, slots=True)
class Setup:
    """What this server allows.

    Attributes:
        live: whether anything can be decoded; without torch the page shows recorded runs only.
        any_model: whether visitors may name models outside the catalogue.
    """

    live: bool = True
    any_model: bool = False


def torch_is_here() -> bool:
    """Whether torch is installed; it is looked for, not imported."""
    try:
        return find_spec("torch") is not None
    except (ImportError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class Menu:
    """What the page offers for a target and a method.

    Attributes:
        target: id of the chosen target.
        layers: its number of layers, or the most that are offered where it is not known.
        methods: the methods that can run on it, in order.
        refused: the others, as (title, reason).
        method: the chosen one, None where nothing can run.
        drafts: ids of models that can draft, the default first.
        drafters: methods whose drafts the method can verify, for an ensemble only.
        drafter: the chosen one of them, None where the method drafts itself.
        shown: settings of ``SPECIAL`` that the method obeys.
        trained_exits: whether the target's early layers were trained to draft.
        overlaps: per model that drafts with another vocabulary, the share (below 1) of its words
            that the target knows.
    """

    target: str
    layers: int
    methods: tuple[MethodCard, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    method: MethodCard | None = None
    drafts: tuple[str, ...] = ()
    drafters: tuple[MethodCard, ...] = ()
    drafter: MethodCard | None = None
    shown: tuple[str, ...] = ()
    trained_exits: bool = False
    overlaps: tuple[tuple[str, float], ...] = ()

    @property
    def hidden(self) -> tuple[str, ...]:
        """Settings that the method does not obey."""
        return tuple(name for name in SPECIAL if name not in self.shown)


def menu(
    source: Source,
    target_id: str | None,
    method_key: str | None,
    drafter_key: str | None = None,
    *,
    any_model: bool = False,
) -> Menu:
    """What can be chosen for a target and a method; what cannot be had becomes the default.

    Args:
        source: ``specviz.runs``, or a stand-in.
        target_id, method_key, drafter_key: what the visitor chose.
        any_model: whether a target outside the catalogue may be named.
    """
    targets = source.targets()
    target = next((t for t in targets if t.id == target_id), None)
    if target is None and not (any_model and target_id):
        target = default_target(targets)
    name = target.id if target is not None else str(target_id)
    reasons = availability(source, name)
    cards = sorted(source.cards(), key=lambda card: card.order)
    able = tuple(card for card in cards if reasons.get(card.key) is None)
    method = chosen(able, method_key)
    drafters = drafters_of(able)
    drafter = pick(drafters, drafter_key) if method is not None and borrows(method) else None
    models = drafts(source, name, drafter or method)
    return Menu(
        target=name,
        layers=int(getattr(target, "num_layers", 0) or MOST_LAYERS),
        methods=able,
        refused=tuple((c.title, str(reasons[c.key])) for c in cards if reasons.get(c.key)),
        method=method,
        drafts=models,
        drafters=drafters,
        drafter=drafter,
        shown=obeyed(method, drafter) if method is not None else (),
        trained_exits=bool(getattr(target, "trained_for_early_exit", False)),
        overlaps=overlaps(source, name, method, models),
    )


def overlaps(
    source: Source, target_id: str, method: MethodCard | None, models: Sequence[str]
) -> tuple[tuple[str, float], ...]:
    """What a method with two vocabularies should be told before it runs (see ``Menu``)."""
    if method is None or "foreign_draft_model" not in method.needs:
        return ()
    found = [(model, source.vocabulary_overlap(target_id, model)) for model in models]
    return tuple((model, share) for model, share in found if share is not None and share < 1)


def borrows(card: MethodCard) -> bool:
    """Whether a method verifies the drafts of another one, as an ensemble does."""
    return "probs_drafter" in card.needs


def takes_draft(card: MethodCard) -> bool:
    """Whether a method needs a model that drafts."""
    return any("draft" in need for need in card.needs)


def drafters_of(cards: Sequence[MethodCard]) -> tuple[MethodCard, ...]:
    """The methods whose drafts an ensemble can verify: they report the distribution q."""
    return tuple(card for card in cards if card.provides_probs and not borrows(card))


def pick(cards: Sequence[MethodCard], key: str | None) -> MethodCard | None:
    """The card of this key, else the first; None without any."""
    return next((card for card in cards if card.key == key), cards[0] if cards else None)


def obeyed(method: MethodCard, drafter: MethodCard | None) -> tuple[str, ...]:
    """Settings of ``SPECIAL`` that change what a method does with this drafter.

    Drafts are made as the drafter makes them, so a length that its checkpoint fixes cannot be set.
    """
    source = drafter or method
    return tuple(
        name for name in SPECIAL if name in (source if name in DRAFTING else method).settings
    )


def availability(source: Source, target_id: str) -> Mapping[str, str | None]:
    """Per method why it cannot run; of a target that is not known yet, Run will tell."""
    try:
        return source.availability(target_id)
    except SpecvizError:
        return {}


def default_target(targets: Sequence[Any]) -> Any:
    """The target marked as default, else the first."""
    return next((t for t in targets if t.default), targets[0])


def chosen(able: Sequence[MethodCard], key: str | None) -> MethodCard | None:
    """The method of this key, else the first that drafts anything, else the first."""
    wanted = next((card for card in able if card.key == key), None)
    drafting = next((card for card in able if card.key != PLAIN), None)
    return wanted or drafting or (able[0] if able else None)


def drafts(source: Source, target_id: str, method: MethodCard | None) -> tuple[str, ...]:
    """Models that can draft in this method, none where it needs none."""
    if method is None or not method.needs:
        return ()
    try:
        return tuple(source.drafts(target_id, method.key))
    except SpecvizError:
        return ()


@dataclass(frozen=True, slots=True)
class Form:
    """What the visitor chose: plain values of the page's controls, not yet checked."""

    prompt: str
    target: str
    method: str
    draft: str | None = None
    chat: bool = False
    beside: bool = True
    drafter: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def requests(self, cards: Sequence[MethodCard]) -> tuple[RunRequest, ...]:
        """The runs asked for: the method, then plain decoding beside it if wanted.

        Raises:
            MethodError: the method does not exist.
            SettingError: a setting is out of its range.
        """
        card = next((card for card in cards if card.key == self.method), None)
        if card is None:
            keys = ", ".join(card.key for card in cards)
            raise MethodError(f"there is no method {self.method!r}; the methods are {keys}")
        runs = [self._request(card, self._drafter(card, cards))]
        plain = next((card for card in cards if card.key == PLAIN), None)
        if self.beside and plain is not None and card.key != PLAIN:
            runs.append(self._request(plain))
        return tuple(runs)

    def _drafter(self, card: MethodCard, cards: Sequence[MethodCard]) -> MethodCard | None:
        """The method that drafts for an ensemble, None where none was named or it drafts itself."""
        if not self.drafter or not borrows(card):
            return None
        able = drafters_of(cards)
        found = next((other for other in able if other.key == self.drafter), None)
        if found is None:
            keys = ", ".join(other.key for other in able)
            raise MethodError(f"there is no drafter {self.drafter!r}; the drafters are {keys}")
        return found

    def _request(self, card: MethodCard, drafter: MethodCard | None = None) -> RunRequest:
        names = [*COMMON, *obeyed(card, drafter)]
        given = {n: clean(n, self.settings[n]) for n in names if n in self.settings}
        options = {"chat": bool(self.chat), "target": self.target or None, **given}
        if drafter is not None:
            options["drafter"] = drafter.key
        if takes_draft(drafter or card) and self.draft:
            options["draft"] = self.draft
        return RunRequest.of(card.key, self.prompt or "", **options)


def clean(name: str, value: Any) -> Any:
    """A control's value as a setting: whole numbers as int, 0 layers as "the method decides"."""
    if name == "stop":
        lines = value.splitlines() if isinstance(value, str) else value or ()
        return tuple(line for line in lines if line)
    if name == "exit_layer" and not value:
        return None
    if name in WHOLE and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def lanes(requests: Sequence[RunRequest], cards: Sequence[MethodCard]) -> list[dict[str, Any]]:
    """What the viewer has to know of each lane before it starts."""
    by_key = {card.key: card for card in cards}
    return [
        {
            "key": request.method,
            "title": by_key[request.method].title,
            "lossless": by_key[request.method].lossless,
        }
        for request in requests
    ]


DEFAULTS = DecodeConfig()
