"""A trace as a file: dumps, loads, save, load, migrate.

Files are UTF-8 with every character outside ASCII escaped, so that lone surrogates survive; what
is not finite, too large, too deep, of a newer version or not of the trace's shape is refused with
``TraceError``. Unknown fields are kept. Whether the parts agree is checked in ``check``.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from specviz.errors import TraceError
from specviz.trace.schema import FORMAT, VERSION, shown, validate

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 64

Migration = Callable[[dict[str, Any]], dict[str, Any]]
MIGRATIONS: Mapping[int, Migration] = {}
"""Version -> function that turns a document of that version into one of the next."""


def dumps(document: Mapping[str, Any]) -> str:
    """The document as JSON text in ASCII, ending with a newline.

    Raises:
        TraceError: it holds a number that is not finite.
    """
    try:
        text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise TraceError(f"a trace can only hold finite numbers: {error}") from error
    return text + "\n"


def loads(text: str | bytes, *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Parse, migrate and validate a trace.

    Args:
        text: JSON; bytes must be strict UTF-8.
        max_bytes: greatest size accepted.

    Raises:
        TraceError: it is no trace of a version that this program knows.
    """
    if len(text) > max_bytes:
        raise TraceError(_too_large(len(text), max_bytes))
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        document = json.loads(decoded, parse_constant=_refuse, object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise TraceError(f"the trace is not UTF-8: byte {error.start} is no text") from error
    except RecursionError as error:
        raise TraceError(_too_deep()) from error
    except ValueError as error:
        raise TraceError(f"the trace is not JSON that can be read: {error}") from error
    return accept(document)


def accept(document: object) -> dict[str, Any]:
    """Migrate and validate a parsed document; the argument itself is not changed.

    Raises:
        TraceError: it is no trace of a version that this program knows.
    """
    copy = _bounded_copy(document)
    current = migrate(copy)
    validate(current)
    return current


def migrate(document: object) -> dict[str, Any]:
    """Bring a document to the current version.

    Raises:
        TraceError: it is not a trace, or of a version that cannot be read.
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TraceError(f'this is not a trace: its "format" must be "{FORMAT}"')
    version = document.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise TraceError(f"version must be a whole number from 1, got {shown(version)}")
    if version > VERSION:
        raise TraceError(
            f"the trace has version {shown(version)}, this program reads up to version {VERSION}; "
            "use a newer specviz"
        )
    while version < VERSION:
        document = MIGRATIONS[version](document)
        version += 1
    return document


def save(document: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a trace; an existing file is replaced as a whole or not at all.

    Raises:
        TraceError: the file cannot be written, or a number is not finite.
    """
    text = dumps(document)
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="ascii")  # a pipe or a device cannot be replaced
        else:
            replace_file(target.resolve(), text, encoding="ascii")
    except OSError as error:
        raise TraceError(f"cannot write the trace {shown(str(path))}: {error.strerror}") from error


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Read a trace.

    Raises:
        TraceError: the file cannot be read or is no trace that this program knows.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise TraceError(f"cannot read the trace {shown(str(path))}: {error.strerror}") from error
    if len(data) > max_bytes:
        raise TraceError(_too_large(None, max_bytes))
    return loads(data, max_bytes=max_bytes)


def replace_file(target: Path, text: str, *, encoding: str) -> None:
    """Write a file as a whole or not at all.

    Raises:
        OSError: it cannot be written; what stood there is unchanged.
    """
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        temporary.write_text(text, encoding=encoding, newline="\n")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _bounded_copy(value: object, depth: int = 0) -> Any:
    """A copy of plain JSON values only, no deeper than ``MAX_DEPTH``, with finite numbers."""
    if depth > MAX_DEPTH:
        raise TraceError(_too_deep())
    if isinstance(value, dict):
        return {_name(key): _bounded_copy(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_bounded_copy(item, depth + 1) for item in value]
    if isinstance(value, float) and not isfinite(value):
        raise TraceError("the trace holds a number that is not finite")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TraceError(f"a trace cannot hold a value of type {type(value).__name__}")


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise TraceError(f"names in a trace must be texts, got {shown(key)}")
    return key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same name twice")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


def _too_large(size: int | None, max_bytes: int) -> str:
    got = "more" if size is None else f"{size:,}"
    return f"the trace is too large: at most {max_bytes:,} bytes, got {got}"


def _too_deep() -> str:
    return f"the trace is nested too deeply: at most {MAX_DEPTH} levels"
