"""Shape of a trace: the format name, its version, and a validator for ``schema.json``.

The schema file (JSON Schema, draft 2020-12) is the one description of the shape. The validator
below reads the part of the language that the file uses, so nothing need be installed to check a
file. It is stricter in one point: an integer is written without a decimal point. What fields mean
together is checked in ``check``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from math import inf, isfinite
from typing import Any

from specviz.errors import TraceError

FORMAT = "specviz.trace"
VERSION = 1
MAX_SHOWN = 60

Path = tuple[str | int, ...]
Fault = tuple[Path, str] | None
Checker = Callable[[object], Fault]
_TYPES: Mapping[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: _is_number(value),
}


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of the current version; read it, do not change it."""
    text = files("specviz.trace").joinpath("schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def validate(document: object) -> None:
    """Raise ``TraceError`` unless ``document`` has the shape of the current version.

    Args:
        document: what ``json.loads`` returned; only plain dicts, lists and scalars are accepted.
    """
    fault = _whole_checker()(document)
    if fault:
        path, trouble = fault
        raise TraceError(f"{place(path)}: {trouble}")


def place(path: Path) -> str:
    """A position in a trace in words: ``step 3, proposed 1, fate``."""
    if not path:
        return "the trace"
    words: list[str] = []
    for part in path:
        if isinstance(part, int) and words:
            words[-1] = f"{'step' if words == ['steps'] else words[-1]} {part}"
        else:
            words.append(str(part))
    return ", ".join(words)


def shown(value: object) -> str:
    """A value for a message: short, and on one line."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**18:
        return "a huge number"
    text = ascii(value[: MAX_SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


@cache
def _whole_checker() -> Checker:
    return _checker(json_schema())


@cache
def _checker_of(name: str) -> Checker:
    return _checker(json_schema()["$defs"][name])


def _checker(schema: Mapping[str, Any]) -> Checker:
    """A function that finds the first fault of a value; compiled once, since files are long."""
    if "$ref" in schema:
        return _checker_of(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return _any_checker([_checker(choice) for choice in schema["anyOf"]])
    rules = [
        make(schema)
        for name, make in (
            ("type", _type_rule),
            ("const", _choice_rule),
            ("enum", _choice_rule),
            ("pattern", _pattern_rule),
            ("minimum", _range_rule),
            ("required", _required_rule),
            ("properties", _properties_rule),
            ("items", _items_rule),
        )
        if name in schema
    ]

    def check(value: object) -> Fault:
        for rule in rules:
            fault = rule(value)
            if fault is not None:
                return fault
        return None

    return check


def _any_checker(choices: list[Checker]) -> Checker:
    def check(value: object) -> Fault:
        faults = []
        for choice in choices:
            fault = choice(value)
            if fault is None:
                return None
            faults.append(fault)
        # The choice that got furthest, so that a message names the real trouble.
        return max(faults, key=lambda fault: (len(fault[0]), "null" not in fault[1]))

    return check


def _type_rule(schema: Mapping[str, Any]) -> Checker:
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    tests = [_TYPES[name] for name in names]

    def check(value: object) -> Fault:
        for test in tests:
            if test(value):
                return None
        return (), f"must be of type {' or '.join(names)}, got {shown(value)}"

    return check


def _choice_rule(schema: Mapping[str, Any]) -> Checker:
    allowed = [schema["const"]] if "const" in schema else schema["enum"]

    def check(value: object) -> Fault:
        if any(type(value) is type(item) and value == item for item in allowed):
            return None
        return (), f"must be {' or '.join(map(shown, allowed))}, got {shown(value)}"

    return check


def _pattern_rule(schema: Mapping[str, Any]) -> Checker:
    # "$" of Python also matches before a last newline, that of JSON Schema does not.
    pattern = re.compile(schema["pattern"].removeprefix("^").removesuffix("$"))

    def check(value: object) -> Fault:
        if not isinstance(value, str) or pattern.fullmatch(value):
            return None
        return (), f"must match {schema['pattern']}, got {shown(value)}"

    return check


def _range_rule(schema: Mapping[str, Any]) -> Checker:
    low, high = schema["minimum"], schema.get("maximum", inf)

    def check(value: object) -> Fault:
        if not isinstance(value, (int, float)) or low <= value <= high:
            return None
        return (), f"must be from {low} to {high}, got {shown(value)}"

    return check


def _required_rule(schema: Mapping[str, Any]) -> Checker:
    names = schema["required"]

    def check(value: object) -> Fault:
        if isinstance(value, dict):
            for name in names:
                if name not in value:
                    return (), f"{name!r} is missing"
        return None

    return check


def _properties_rule(schema: Mapping[str, Any]) -> Checker:
    parts = [(name, _checker(part)) for name, part in schema["properties"].items()]

    def check(value: object) -> Fault:
        if isinstance(value, dict):
            for name, part in parts:
                if name in value and (fault := part(value[name])) is not None:
                    return (name, *fault[0]), fault[1]
        return None

    return check


def _items_rule(schema: Mapping[str, Any]) -> Checker:
    part = _checker(schema["items"])

    def check(value: object) -> Fault:
        if isinstance(value, list):
            for index, item in enumerate(value):
                if (fault := part(item)) is not None:
                    return (index, *fault[0]), fault[1]
        return None

    return check


def _is_number(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (isinstance(value, int) or isfinite(value))  # type: ignore[arg-type]
