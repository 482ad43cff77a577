"""Any text made visible: blanks, newlines and what a screen would hide or obey become signs.

``pieces`` keeps the original characters beside the signs, so that a renderer can show the sign and
still have the real text copied. Signs never contain control characters, so what this module
returns is inert on a terminal and in a page (which must still escape it).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

NEWLINE, TAB, SPACE, BLANK, NOTHING = "↵", "⇥", "·", "␣", "∅"
DOTTED_CIRCLE = "\u25cc"
# Cc control, Cf format (bidi, zero width), Cs surrogate, Zl/Zp separators, Zs odd spaces, and Co
# and Cn, which have no shape of their own (private use, unassigned, noncharacters).
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_EMOJI = range(0x1F000, 0x1FB00)  # grows every year, so unassigned here may well have a shape
_EMPTY = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters without ink


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text.

    Attributes:
        text: the characters themselves.
        sign: what to show for them, "" to show them as they are.
    """

    text: str
    sign: str = ""

    @property
    def shown(self) -> str:
        """The sign, or the text where it needs none."""
        return self.sign or self.text


def pieces(text: str) -> tuple[Piece, ...]:
    """Split a token's text into plain stretches and single characters that need a sign."""
    blank = bool(text) and not text.strip(" ")
    return tuple(_pieces(text, BLANK if blank else SPACE))


def visible(text: str, data: bytes = b"") -> str:
    """The text of a token on one line, never empty.

    Args:
        text: decoded text; may be empty.
        data: the token's bytes, shown as hex where there is no text (part of a character).
    """
    if text:
        return "".join(piece.shown for piece in pieces(text))
    return hex_sign(data) if data else NOTHING


def hex_sign(data: bytes) -> str:
    """Bytes that are no text by themselves: ``⟨E2 82⟩``."""
    return f"⟨{data.hex(' ').upper()}⟩"


def sign_of(char: str, *, space: str = SPACE) -> str:
    """The sign for one character, "" where it can be shown as it is."""
    if char == " ":
        return space
    if char in "\n\t":
        return NEWLINE if char == "\n" else TAB
    code = ord(char)
    if not _is_hidden(char):
        return ""
    if code < 0x20:
        return chr(0x2400 + code)  # control pictures
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def _is_hidden(char: str) -> bool:
    if char in _EMPTY:
        return True
    return unicodedata.category(char) in _HIDDEN and ord(char) not in _EMOJI


def _pieces(text: str, space: str) -> Iterator[Piece]:
    if text and unicodedata.category(text[0]).startswith("M"):
        yield Piece("", DOTTED_CIRCLE)  # or the mark would sit on the neighbour's last letter
    plain = ""
    for char in text:
        sign = sign_of(char, space=space)
        if not sign:
            plain += char
            continue
        if plain:
            yield Piece(plain)
            plain = ""
        yield Piece(char, sign)
    if plain:
        yield Piece(plain)
