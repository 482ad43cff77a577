"""Links that bring a setting, or a place in a recorded run, to another reader.

A link is the query of the page's address: names are those of the command line's options, what
equals its default is left out. Reading one trusts nothing: unknown names are passed over (the page
and Gradio have their own), known ones are bounded, parsed and validated like any other setting.
What belongs to one machine (device, number format, folders) is in no link. Whether the method and
the models exist here is for the page to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypedDict
from urllib.parse import urlencode

from specviz.config import MAX_STOPS, DecodeConfig, RunRequest
from specviz.errors import SettingError

MAX_PROMPT = 2000  # characters
MAX_STOP = 100
MAX_VALUE = 40  # characters of a number
MAX_STEP = 10**6
WHOLE = ("max_new_tokens", "gamma", "exit_layer", "ngram", "top_k", "no_repeat_ngram_size",
         "min_new_tokens", "seed")  # fmt: skip
REAL = ("confidence", "ensemble_weight", "temperature", "top_p", "repetition_penalty")
KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)


class Link(TypedDict):
    """What a link says.

    Attributes:
        settings: keyword arguments of ``RunRequest.of``, validated; empty if it gives none.
        run: name of a recorded run, None if it names none.
        step: number of steps of the run that are shown, None if it gives none.
    """

    settings: dict[str, Any]
    run: str | None
    step: int | None


def settings_query(
    request: Mapping[str, Any], *, run: str | None = None, step: int | None = None
) -> str:
    """The query of a link, without the question mark; ASCII only.

    Args:
        request: settings by their names, such as a trace's ``request`` with the ``prompt`` text;
            what is no setting, belongs to a machine, is None or a default is left out.
        run: name of a recorded run.
        step: number of steps shown.

    Raises:
        SettingError: a value cannot be in a link.
    """
    pairs: list[tuple[str, str]] = []
    if run is not None:
        pairs.append(("run", _matching("run", run, RUN_NAME, "letters, digits, - and _")))
    if step is not None:
        pairs.append(("step", str(_whole("step", str(step)))))
    read: dict[str, Any] = {}
    for name, parse in _PARSERS.items():
        value = request.get(name)
        if value is None or value == _DEFAULTS.get(name, MISSING):
            continue
        texts = [str(item) for item in value] if name == "stop" else [_written(value)]
        read[name] = parse(name, texts)
        pairs += [(name, text) for text in texts]
    _validate(read)  # so that no link is made that could not be read
    return urlencode(pairs)


def parse_query(query: Mapping[str, Any]) -> Link:
    """Read a link.

    Args:
        query: names -> a text, or a list of texts where a name was given more than once.

    Raises:
        SettingError: a known name has a value that is not allowed.
    """
    settings: dict[str, Any] = {}
    for name, parse in _PARSERS.items():
        texts = _texts(name, query.get(name))
        if texts:
            settings[name] = parse(name, texts)
    _validate(settings)
    run, step = _texts("run", query.get("run")), _texts("step", query.get("step"))
    return Link(
        settings=settings,
        run=_matching("run", run[0], RUN_NAME, "letters, digits, - and _") if run else None,
        step=min(_whole("step", step[0]), MAX_STEP) if step else None,
    )


def _validate(settings: Mapping[str, Any]) -> None:
    """Every range, by the same code that guards the command line."""
    known = {name: value for name, value in settings.items() if name not in ("method", "prompt")}
    RunRequest.of(settings.get("method", "plain"), settings.get("prompt", ""), **known)


def _texts(name: str, value: Any) -> list[str]:
    texts = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(text, str) for text in texts) or len(texts) > MAX_STOPS:
        raise SettingError(f"the link gives {name} in a way that cannot be read; leave it out")
    return texts


def _written(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _one(name: str, texts: list[str], limit: int) -> str:
    if len(texts) != 1:
        raise SettingError(f"{name} must be given once in a link, got {len(texts)} values")
    if len(texts[0]) > limit:
        raise SettingError(
            f"{name} must have at most {limit} characters in a link, got {len(texts[0])}; "
            "share the trace instead"
        )
    return texts[0]


def _matching(name: str, text: str, pattern: re.Pattern[str], allowed: str) -> str:
    if not isinstance(text, str) or not pattern.fullmatch(text) or ".." in text:
        raise SettingError(f"{name} must be made of {allowed}, got {_shown(text)}")
    return text


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text):
        raise SettingError(
            f"{name} must be a whole number that is not negative, got {_shown(text)}"
        )
    return int(text)


def _parse_whole(name: str, texts: list[str]) -> int:
    return _whole(name, _one(name, texts, MAX_VALUE))


def _parse_real(name: str, texts: list[str]) -> float:
    text = _one(name, texts, MAX_VALUE)
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,20})?(e-?[0-9]{1,2})?", text):
        raise SettingError(f"{name} must be a number that is not negative, got {_shown(text)}")
    return float(text)


def _parse_flag(name: str, texts: list[str]) -> bool:
    text = _one(name, texts, MAX_VALUE)
    if text not in ("0", "1"):
        raise SettingError(f"{name} must be 0 or 1, got {_shown(text)}")
    return text == "1"


def _parse_key(name: str, texts: list[str]) -> str:
    return _matching(name, _one(name, texts, MAX_VALUE), KEY, "small letters, digits and _")


def _parse_model(name: str, texts: list[str]) -> str:
    """An id of the catalogue or the hub; folders are of one machine only, so never in a link."""
    text = _one(name, texts, 200)
    return _matching(name, text, MODEL_ID, "letters, digits, -, _ and ., with one / at most")


def _parse_prompt(name: str, texts: list[str]) -> str:
    return _clean(name, _one(name, texts, MAX_PROMPT))


def _parse_stop(name: str, texts: list[str]) -> tuple[str, ...]:
    return tuple(_clean(name, _one(name, [text], MAX_STOP)) for text in texts)


def _clean(name: str, text: str) -> str:
    """A text that survives the way through an address."""
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise SettingError(f"{name} holds a character that cannot be in a link; leave it out")
    return text


def _shown(value: Any) -> str:
    """A value for a message: short, and every odd character as an escape."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


_PARSERS: Mapping[str, Callable[[str, list[str]], Any]] = {
    "method": _parse_key,
    "prompt": _parse_prompt,
    "chat": _parse_flag,
    "target": _parse_model,
    "draft": _parse_model,
    "drafter": _parse_key,
    "schedule": _parse_key,
    **dict.fromkeys(WHOLE, _parse_whole),
    **dict.fromkeys(REAL, _parse_real),
    "stop": _parse_stop,
}
_DEFAULTS: Mapping[str, Any] = {
    f.name: f.default for kind in (DecodeConfig, RunRequest) for f in fields(kind)
}
