"""How two tokenizers relate: what a draft model with other tokens needs to draft for a target.

The only bridge between the two is text, so each side is reduced to two functions, ids to text and
text to ids. Tokenizers are only read; models and runs are unknown here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

BROKEN = "\ufffd"  # what a part of a character decodes to
MAX_TAIL = 24  # tokens of the draft model that are encoded anew in each step, at most about


@dataclass(frozen=True, slots=True)
class TextSide:
    """One tokenizer.

    Attributes:
        encode: text to ids, without start or end tokens.
        decode: ids to text, special tokens left out, no cleaning of blanks.
        words: vocabulary entry to id.
        special_ids: ids that stand for no text.
        start_ids: what the tokenizer puts before a text (the start token of some models).
    """

    encode: Callable[[str], list[int]]
    decode: Callable[[Sequence[int]], str]
    words: Mapping[str, int] = field(repr=False)
    special_ids: frozenset[int] = frozenset()
    start_ids: tuple[int, ...] = ()
    _starts_word: dict[int, bool] = field(default_factory=dict, repr=False, compare=False)

    def starts_word(self, token: int) -> bool:
        """Whether the token begins with a blank, so that a text may be split before it."""
        found = self._starts_word.get(token)
        if found is None:
            found = self._starts_word[token] = self.decode([token])[:1].isspace()
        return found

    @classmethod
    def of(cls, tokenizer: Any) -> TextSide:
        """The side of a Transformers tokenizer."""
        added = tokenizer.added_tokens_decoder.items()
        special = {index for index, token in added if token.special}

        def encode(text: str) -> list[int]:
            ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
            return ids

        def decode(ids: Sequence[int]) -> str:
            text: str = tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            return text

        first = tokenizer("a")["input_ids"][:1]
        start = tuple(first) if first and first[0] == tokenizer.bos_token_id else ()
        special |= set(tokenizer.all_special_ids)
        return cls(encode, decode, tokenizer.get_vocab(), frozenset(special), start)


class VocabularyMap:
    """Target's and draft model's tokenizer side by side."""

    def __init__(self, target: TextSide, draft: TextSide) -> None:
        self.target = target
        self.draft = draft

    @classmethod
    def of(cls, target_tokenizer: Any, draft_tokenizer: Any) -> VocabularyMap:
        """The map between two Transformers tokenizers."""
        return cls(TextSide.of(target_tokenizer), TextSide.of(draft_tokenizer))

    @cached_property
    def shared_ids(self) -> tuple[tuple[int, int], ...]:
        """(draft id, target id) of every word that both know, special tokens left out."""
        ours, theirs = self.target, self.draft
        return tuple(
            sorted(
                (index, ours.words[word])
                for word, index in theirs.words.items()
                if word in ours.words
                and index not in theirs.special_ids
                and ours.words[word] not in ours.special_ids
            )
        )

    @cached_property
    def overlap(self) -> float:
        """Words in both over words of the draft model, 0 to 1."""
        both = self.target.words.keys() & self.draft.words.keys()
        return len(both) / max(1, len(self.draft.words))


class TextTail:
    """The text of growing ids, read piece by piece.

    A few ids before the new ones are decoded with them and subtracted, because some tokenizers
    decode a token differently at the start of a text.
    """

    def __init__(self, side: TextSide, lookback: int = 6) -> None:
        self._side = side
        self._lookback = lookback
        self._read = 0
        self.text = ""

    def extend(self, ids: Sequence[int]) -> bool:
        """Read up to the end of ``ids``; False while that lies inside a character."""
        low = max(0, self._read - self._lookback)
        before = self._side.decode(ids[low : self._read])
        whole = self._side.decode(ids[low:])
        if whole.endswith(BROKEN):
            return False
        self.text += whole[len(before) :]
        self._read = len(ids)
        return True


class GrowingIds:
    """The draft model's ids of a growing text; only its last part is encoded anew.

    Invariant: ``_fixed`` encodes the first ``_num_chars`` characters, and
    encoding what follows by itself gave the same ids as encoding both together.
    """

    def __init__(self, side: TextSide) -> None:
        self._side = side
        self._fixed = list(side.start_ids)
        self._num_chars = 0

    def follow(self, text: str) -> list[int]:
        """The ids of ``text``, which starts with every text given before."""
        tail = text[self._num_chars :]
        encoded = self._side.encode(tail) if tail else []
        if len(encoded) > MAX_TAIL:
            return self._fix(tail, encoded)
        return self._fixed + encoded

    def _fix(self, tail: str, encoded: list[int]) -> list[int]:
        """Split in the last third, before a word if there is one, unless that changes an id."""
        ids = self._fixed + encoded
        cut = tail.find(" ", 2 * len(tail) // 3)
        if cut < 0:
            cut = 2 * len(tail) // 3  # a script without blanks
        if cut > 0 and not tail[cut - 1].isspace():
            first = self._side.encode(tail[:cut])
            if first + self._side.encode(tail[cut:]) == encoded:
                self._fixed += first
                self._num_chars += cut
        return ids


def new_text(side: TextSide, before: Sequence[int], ids: Sequence[int]) -> str:
    """The text that ``ids`` add behind ``before``, up to the last whole character."""
    whole = side.decode([*before, *ids])[len(side.decode(before)) :]
    return whole.rstrip(BROKEN)
