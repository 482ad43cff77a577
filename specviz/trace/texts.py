"""Texts of tokens whose bytes may end inside a character."""

from __future__ import annotations

import codecs
from collections.abc import Iterable


def split_texts(pieces: Iterable[bytes]) -> list[str]:
    """The text that each piece of a UTF-8 stream completes.

    A character split over pieces keeps its bytes in each of them and its text in the last. What
    is no UTF-8 becomes U+FFFD; bytes of a character that never ends have no text.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return [decoder.decode(piece) for piece in pieces]


def loose_end(pieces: Iterable[bytes]) -> str:
    """What decoding shows for a character that has not ended with the last piece: U+FFFD or ""."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for piece in pieces:
        decoder.decode(piece)
    return decoder.decode(b"", final=True)
