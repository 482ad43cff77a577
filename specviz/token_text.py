"""From token ids to text and bytes, one token at a time.

A tokenizer may split a character over several tokens. Each token keeps its own bytes, and the
character's text stands in the token that completes it, so the joined texts are the decoded text.
Ids come in and strings go out; models and runs are unknown here.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from specviz.events import PromptToken, TopToken

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE_SIGN = "\u2581"  # SentencePiece writes a blank as this sign


@dataclass(frozen=True, slots=True)
class Reader:
    """What has been read so far: bytes that wait for the rest of their character."""

    pending: bytes = b""

    def read(self, data: bytes) -> tuple[str, Reader]:
        """The text that ``data`` completes, and the reader that stands behind it."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(self.pending + data)
        return text, Reader(decoder.getstate()[0])


class TokenTexts:
    """Texts and bytes of one tokenizer's tokens.

    Args:
        tokenizer: a Transformers tokenizer; it is only read.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._added = {int(i): t.content for i, t in tokenizer.added_tokens_decoder.items()}
        self._to_bytes = _byte_rule(tokenizer)
        self._known: dict[int, bytes] = {}

    def data(self, token_id: int) -> bytes:
        """The bytes of a token; ids beyond the vocabulary (padded embeddings) have none."""
        found = self._known.get(token_id)
        if found is None:
            found = self._known[token_id] = self._find(token_id)
        return found

    def text(self, ids: Iterable[int]) -> str:
        """The decoded text; bytes of a character that is not complete at the end are left out."""
        return Reader().read(b"".join(map(self.data, ids)))[0]

    def label(self, token_id: int) -> str:
        """A token by itself, legible even if it holds part of a character: ``<0xF0><0x9F>``."""
        data = self.data(token_id)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return "".join(f"<0x{byte:02X}>" for byte in data)

    def top(self, tokens: Sequence[TopToken]) -> tuple[TopToken, ...]:
        """Alternatives with their labels."""
        return tuple(TopToken(t.id, t.prob, self.label(t.id)) for t in tokens)

    def prompt(self, ids: Iterable[int]) -> tuple[PromptToken, ...]:
        """The tokens of a prompt."""
        tokens, reader = [], Reader()
        for token_id in ids:
            text, reader = reader.read(self.data(token_id))
            tokens.append(PromptToken(token_id, text, self.data(token_id)))
        return tuple(tokens)

    def _find(self, token_id: int) -> bytes:
        if token_id in self._added:
            return str(self._added[token_id]).encode("utf-8", "replace")
        token = self._tokenizer.convert_ids_to_tokens(token_id)
        return b"" if token is None else self._to_bytes(str(token))


def _byte_rule(tokenizer: Any) -> Callable[[str], bytes]:
    """How a vocabulary entry is written in bytes, from the tokenizer's own decoder."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    decoder = json.loads(backend.to_str()).get("decoder") if backend is not None else None
    kinds = json.dumps(decoder)
    if '"ByteLevel"' in kinds:
        return _from_byte_level
    if '"ByteFallback"' in kinds or '"Metaspace"' in kinds or _SPACE_SIGN in kinds:
        return _from_sentence_piece
    return lambda token: token.encode("utf-8", "replace")


def _from_byte_level(token: str) -> bytes:
    table = _byte_level_table()
    try:
        return bytes(table[sign] for sign in token)
    except KeyError:  # an entry that is no byte-level token, such as a reserved one
        return token.encode("utf-8", "replace")


def _from_sentence_piece(token: str) -> bytes:
    match = _BYTE_TOKEN.fullmatch(token)
    if match:
        return bytes([int(match.group(1), 16)])
    return token.replace(_SPACE_SIGN, " ").encode("utf-8", "replace")


@lru_cache(maxsize=1)
def _byte_level_table() -> dict[str, int]:
    """Sign → byte of byte-level BPE (Radford et al., 2019): printable bytes stand for themselves,
    the others are moved to 256 and up in order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in printable]
    table = {chr(byte): byte for byte in printable}
    table.update({chr(256 + place): byte for place, byte in enumerate(moved)})
    return table
