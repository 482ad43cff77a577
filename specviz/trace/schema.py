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
from math import isfinite
from typing import Any

from specviz.errors import TraceError

FORMAT = "specviz.trace"
VERSION = 1
MAX_SHOWN = 60

Path = tuple[str | int, ...]
Fault = tuple[Path, str] | None
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
    fault = _fault(document, json_schema(), ())
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


def _fault(value: object, schema: Mapping[str, Any], path: Path) -> Fault:
    """The first fault of ``value``, with its place, or None."""
    if "$ref" in schema:
        return _fault(value, json_schema()["$defs"][schema["$ref"].rpartition("/")[2]], path)
    if "anyOf" in schema:
        return _any_fault(value, schema["anyOf"], path)
    trouble = _scalar_trouble(value, schema)
    if trouble:
        return path, trouble
    if isinstance(value, dict):
        return _object_fault(value, schema, path)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            fault = _fault(item, schema["items"], (*path, index))
            if fault:
                return fault
    return None


def _any_fault(value: object, choices: list[Mapping[str, Any]], path: Path) -> Fault:
    """The fault of the choice that got furthest, so that a message names the real trouble."""
    faults = []
    for choice in choices:
        fault = _fault(value, choice, path)
        if fault is None:
            return None
        faults.append(fault)
    return max(faults, key=lambda fault: (len(fault[0]), "null" not in fault[1]))


def _object_fault(value: dict[str, Any], schema: Mapping[str, Any], path: Path) -> Fault:
    for name in schema.get("required", ()):
        if name not in value:
            return path, f"{name!r} is missing"
    for name, part in schema.get("properties", {}).items():
        if name in value:
            fault = _fault(value[name], part, (*path, name))
            if fault:
                return fault
    return None


def _scalar_trouble(value: object, schema: Mapping[str, Any]) -> str | None:
    wanted = schema.get("type")
    if wanted is not None:
        names = [wanted] if isinstance(wanted, str) else wanted
        if not any(_TYPES[name](value) for name in names):
            return f"must be of type {' or '.join(names)}, got {shown(value)}"
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and not any(_same(value, item) for item in allowed):
        return f"must be {' or '.join(map(shown, allowed))}, got {shown(value)}"
    if isinstance(value, str) and "pattern" in schema and not _matches(schema["pattern"], value):
        return f"must match {schema['pattern']}, got {shown(value)}"
    if isinstance(value, (int, float)) and not _in_range(value, schema):
        low, high = schema.get("minimum", "any"), schema.get("maximum", "any")
        return f"must be from {low} to {high}, got {shown(value)}"
    return None


def _is_number(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (isinstance(value, int) or isfinite(value))  # type: ignore[arg-type]


def _same(value: object, item: object) -> bool:
    return type(value) is type(item) and value == item


def _matches(pattern: str, value: str) -> bool:
    # "$" of Python also matches before a last newline, that of JSON Schema does not.
    return re.fullmatch(pattern.removeprefix("^").removesuffix("$"), value) is not None


def _in_range(value: float, schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
