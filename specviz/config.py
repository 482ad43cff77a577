"""What a run is asked to do: ``MethodCard`` (method), ``DecodeConfig`` (settings), ``RunRequest``.

All three are frozen, validated when built, and made of plain values only. This module knows
neither models nor tokenizers; whether a setting fits a *model* is checked in ``specviz.runs``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from specviz.errors import SettingError

MIN_GAMMA, MAX_GAMMA = 1, 16
MAX_NEW_TOKENS = 4096
MIN_TEMPERATURE, MAX_TEMPERATURE = 1e-6, 100.0  # below it, logits / temperature overflow float32
MAX_NGRAM = 16
MAX_EXIT_LAYER = 1000
MAX_STOPS = 16
SCHEDULES = ("constant", "heuristic", "auto")


@dataclass(frozen=True, slots=True)
class MethodCard:
    """What a decoding method is, for menus, the README table and the contract tests.

    Attributes:
        key: the name on the command line and in a trace, such as ``"prompt_lookup"``.
        title: the name on the page.
        summary: what it drafts with, one sentence.
        paper: authors, year and arXiv id of its source.
        lossless: whether the output keeps the target's distribution (and its greedy ids).
        provides_probs: whether its drafter reports the distribution q that it drafted from.
        needs: kinds of parts it needs besides a causal target, out of ``"draft_model"`` (same
            tokenizer), ``"foreign_draft_model"`` (any tokenizer), ``"exit_layer"``,
            ``"mtp_layers"``, ``"mtp_drafter"``, ``"dflash_drafter"``, ``"probs_drafter"``.
        settings: the fields of ``DecodeConfig`` that change what it does, besides those that
            every method obeys.
        order: place in menus and tables.
    """

    key: str
    title: str
    summary: str
    paper: str
    lossless: bool = True
    provides_probs: bool = False
    needs: frozenset[str] = frozenset()
    settings: tuple[str, ...] = ()
    order: int = 100


@dataclass(frozen=True, slots=True)
class DecodeConfig:
    """Settings of one run; every value is checked here, so the engine can trust them.

    Attributes:
        max_new_tokens: most tokens to add to the prompt, 1 to 4096.
        gamma: draft tokens asked for per step, 1 to 16.
        schedule: ``constant``; ``heuristic`` (+2 after full acceptance, −1 otherwise, as
            Transformers does); or ``auto`` (γ per step from measured rates and costs).
        confidence: a drafter that knows q stops after a token whose q is below this; 0 = off.
        exit_layer: number of the target's layers that draft in early exit, None = the method's own
            choice.
        ngram: longest n-gram that prompt lookup searches for, 1 to 16.
        ensemble_weight: weight of the target in the mixture, strictly between 0 and 1.
        temperature: 0 means greedy, otherwise (1e-6 to 100) logits are divided by it.
        top_k: keep only the k most likely tokens, 0 = off.
        top_p: keep the smallest set of tokens with at least this probability, 1 = off.
        repetition_penalty: divides (or multiplies) the logits of tokens seen before, 1 = off.
        no_repeat_ngram_size: no n-gram of this size occurs twice, 0 = off.
        min_new_tokens: no end token before this many new tokens, 0 = off.
        bad_words_ids: id sequences that must not be produced.
        seed: start of the random draws of this run.
        stop: texts that end the run once they appear in the new text.

    Raises:
        SettingError: a value is out of its range or of the wrong kind.
    """

    max_new_tokens: int = 64
    gamma: int = 5
    schedule: str = "constant"
    confidence: float = 0.0
    exit_layer: int | None = None
    ngram: int = 3
    ensemble_weight: float = 0.7
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    min_new_tokens: int = 0
    bad_words_ids: tuple[tuple[int, ...], ...] = ()
    seed: int = 0
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        whole("max_new_tokens", self.max_new_tokens, 1, MAX_NEW_TOKENS)
        whole("gamma", self.gamma, MIN_GAMMA, MAX_GAMMA, hint='change "Draft length" (--gamma)')
        choice("schedule", self.schedule, SCHEDULES)
        real("confidence", self.confidence, 0.0, 1.0)
        if self.exit_layer is not None:
            whole("exit_layer", self.exit_layer, 1, MAX_EXIT_LAYER)
        whole("ngram", self.ngram, 1, MAX_NGRAM)
        real("ensemble_weight", self.ensemble_weight, 0.0, 1.0, open_ends=True)
        real("temperature", self.temperature, 0.0, MAX_TEMPERATURE)
        if 0 < self.temperature < MIN_TEMPERATURE:
            allowed = f"0 (greedy) or from {MIN_TEMPERATURE:g} to {MAX_TEMPERATURE:g}"
            raise SettingError(_sentence("temperature", self.temperature, allowed, ""))
        whole("top_k", self.top_k, 0, 10**6)
        real("top_p", self.top_p, 0.0, 1.0)
        if self.top_p == 0:
            raise SettingError(_sentence("top_p", 0, "above 0 and at most 1", ""))
        real("repetition_penalty", self.repetition_penalty, 0.1, 10.0)
        whole("no_repeat_ngram_size", self.no_repeat_ngram_size, 0, 64)
        whole("min_new_tokens", self.min_new_tokens, 0, self.max_new_tokens)
        whole("seed", self.seed, 0, 2**63 - 1)
        _check_stop(self.stop)
        _check_bad_words(self.bad_words_ids)

    @property
    def greedy(self) -> bool:
        """True where the most likely token is always taken."""
        return self.temperature == 0


SETTING_NAMES = tuple(f.name for f in fields(DecodeConfig))
_NAMED = ("target", "draft", "drafter")


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One run as a user asks for it, before any model is loaded.

    Attributes:
        method: key of a ``MethodCard``.
        prompt: text to continue.
        chat: wrap the prompt as a user turn in the target's chat template.
        target, draft: model ids of the catalogue, hub ids or local folders; None = the default
            for the method.
        drafter: for ``ensemble`` only, the method whose drafts are verified.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        dtype: ``auto``, ``float32``, ``bfloat16``, ``float16``, ``float64``.
        config: the settings.

    Raises:
        SettingError: a model or a drafter is named by an empty text.
    """

    method: str
    prompt: str
    chat: bool = False
    target: str | None = None
    draft: str | None = None
    drafter: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    config: DecodeConfig = field(default_factory=DecodeConfig)

    def __post_init__(self) -> None:
        for name in _NAMED:
            value = getattr(self, name)
            if isinstance(value, str) and not value.strip():
                allowed = "the name of a method" if name == "drafter" else "the name of a model"
                raise SettingError(_sentence(name, value, allowed, "leave it out for the default"))

    @classmethod
    def of(cls, method: str, prompt: str, **options: Any) -> RunRequest:
        """Build a request from the option names of the command line, flat.

        Raises:
            SettingError: an option is unknown or its value is not allowed.
        """
        own = {f.name for f in fields(cls)} - {"method", "prompt", "config"}
        unknown = sorted(set(options) - own - set(SETTING_NAMES))
        if unknown:
            allowed = ", ".join(sorted(own | set(SETTING_NAMES)))
            raise SettingError(f"there is no setting {unknown[0]!r}; the settings are {allowed}")
        settings = {k: _frozen(v) for k, v in options.items() if k in SETTING_NAMES}
        rest = {k: v for k, v in options.items() if k in own}
        return cls(method=method, prompt=prompt, config=DecodeConfig(**settings), **rest)


def whole(name: str, value: object, low: int, high: int, *, hint: str = "") -> None:
    """Raise ``SettingError`` unless ``value`` is an int within ``low``…``high``."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SettingError(_sentence(name, value, f"a whole number from {low} to {high}", hint))


def real(name: str, value: object, low: float, high: float, *, open_ends: bool = False) -> None:
    """Raise ``SettingError`` unless ``value`` is a finite number within ``low``…``high``."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    good = good and (isinstance(value, int) or math.isfinite(value))  # type: ignore[arg-type]
    good = good and low <= value <= high  # type: ignore[operator]
    if good and open_ends:
        good = low < value < high  # type: ignore[operator]
    if not good:
        inside = f"a number strictly between {low:g} and {high:g}"
        allowed = inside if open_ends else f"a number from {low:g} to {high:g}"
        raise SettingError(_sentence(name, value, allowed, ""))


def choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise ``SettingError`` unless ``value`` is one of ``allowed``."""
    if value not in allowed:
        raise SettingError(_sentence(name, value, "one of " + ", ".join(allowed), ""))


def settings_of(config: DecodeConfig) -> Mapping[str, Any]:
    """The settings as a read-only mapping of plain values, in the order of the class."""
    return MappingProxyType({name: getattr(config, name) for name in SETTING_NAMES})


def _check_stop(stop: Any) -> None:
    good = isinstance(stop, tuple) and len(stop) <= MAX_STOPS
    good = good and all(isinstance(text, str) and text for text in stop)
    if not good:
        allowed = f"up to {MAX_STOPS} texts that are not empty"
        raise SettingError(_sentence("stop", stop, allowed, "leave it out for no stop text"))


def _check_bad_words(bad_words: object) -> None:
    good = isinstance(bad_words, tuple) and all(
        isinstance(word, tuple) and word and all(type(i) is int and i >= 0 for i in word)
        for word in bad_words
    )
    if not good:
        allowed = "tuples of token ids, none of them empty"
        raise SettingError(_sentence("bad_words_ids", bad_words, allowed, ""))


def _frozen(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(item) for item in value)
    return value


def _sentence(name: str, value: object, allowed: str, hint: str) -> str:
    try:
        shown = repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        shown = "a huge number"
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return f"{name} must be {allowed}, got {shown}" + (f"; {hint}" if hint else "")
