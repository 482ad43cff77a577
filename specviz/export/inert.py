"""JSON that is only data wherever it stands, and the hashes by which a page allows its scripts."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&"}


def inert_json(value: Any) -> str:
    """JSON in ASCII without ``<``, ``>`` and ``&``: nothing in it can end a script element.

    Args:
        value: dicts, lists, strings (lone surrogates allowed), finite numbers, None.

    Raises:
        ValueError: a number is not finite.
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return escaped(text)


def escaped(json_text: str) -> str:
    """JSON text, already in ASCII, with ``<``, ``>`` and ``&`` as escapes; it means the same.

    Outside of strings JSON has none of the three, so replacing all of them is safe.
    """
    return json_text.translate(_ESCAPES)


def csp_hash(text: str) -> str:
    """The source expression by which a content security policy allows an inline element.

    Args:
        text: the exact content of the element, with ``\\n`` line ends.
    """
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
