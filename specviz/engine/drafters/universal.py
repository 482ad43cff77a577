"""Universal assisted decoding: a draft model with another tokenizer.

The text so far is put into the draft model's tokens, the draft model continues it with γ of its own
tokens (always the most likely one), and the new text is put back into the target's tokens, aligned
with those that stand at the end of the text. The target verifies them like a copied draft: greedy
by its argmax, with sampling by a draw from p (``sample_match``), which is exact for any draft.

Not chosen: drafting from the words that both vocabularies share, with q renormalised and the p/q
rule (Timor et al., arXiv 2502.05202, algorithm 4). It is exact too, but shorter tokens of the draft
model are rarely what the target would say. Measured on the embedded pair (73 % of the assistant's
words shared, γ 7, temperature 1): 1.24 tokens per step, against 2.59 with the method used here; and
2.57 where the drafts are drawn instead of the most likely ones.

Source: Transformers 5.24, universal assisted generation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from specviz.config import MethodCard
from specviz.engine.cache import KVCache
from specviz.engine.context import Context
from specviz.engine.drafters.base import Draft, Drafter, Parts
from specviz.engine.language_model import LanguageModel, Outputs
from specviz.engine.vocabulary import BROKEN, GrowingIds, TextTail, VocabularyMap, new_text
from specviz.events import PiecesSource

METHOD = MethodCard(
    key="universal",
    title="Universal assisted decoding",
    summary="A smaller model with another tokenizer drafts text, the target verifies its tokens.",
    paper="Timor et al. 2025, arXiv 2502.05202",
    needs=frozenset({"foreign_draft_model"}),
    settings=("gamma", "schedule", "confidence"),
    order=60,
)
LOOKBACK, MAX_LOOKBACK = 8, 32  # tokens before the new text that are encoded with it


class Universal(Drafter):
    """Drafts text with a foreign model; keeps that model's cache over the common prefix."""

    def __init__(self, model: LanguageModel, vocabulary: VocabularyMap, vocab_size: int) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._vocab_size = vocab_size
        self._cache: KVCache = model.new_cache(1)
        self._fed: list[int] = []  # draft ids, of which the cache holds the first

    def begin(self, context: Context, outputs: Outputs | None) -> None:
        """Read the prompt, all but the last of its draft tokens."""
        self._read = TextTail(self._vocabulary.target)
        self._written = GrowingIds(self._vocabulary.draft)
        self._cache, self._fed = self._model.new_cache(context.capacity), []
        self._read.extend(context.ids)
        ids = self._written.follow(self._read.text)
        if len(ids) > 1 and self._has_room(len(ids)):
            self._model.prefill(ids[:-1], self._cache)
            self._fed = ids[:-1]

    def propose(self, context: Context, gamma: int) -> Draft:
        """Continue the text by up to γ draft tokens and put it into the target's tokens."""
        if not self._read.extend(context.ids):
            return Draft()  # the text ends inside a character
        ids = self._written.follow(self._read.text)
        if not ids or not self._has_room(len(ids) + gamma):
            return Draft()
        pieces, forwards = self._continue(context, ids, gamma)
        before = ids[-LOOKBACK:]
        text = new_text(self._vocabulary.draft, before, pieces)
        found = self._aligned(context.ids, text) if text else []
        sent = self._usable(context, found)[:gamma]
        sources = _pieces_of(self._vocabulary, (context.ids, sent), (before, pieces))
        return Draft(
            tuple(sent),
            sources=sources,
            num_forwards=forwards,
            num_unsent=len(found) - len(sent),
            loose_end=len(pieces) == gamma and len(found) == len(sent),
        )

    @property
    def cache_bytes(self) -> int:
        """Bytes of the draft model's cache."""
        return self._cache.num_bytes

    def _has_room(self, count: int) -> bool:
        """Whether the draft model has positions for ``count`` of its tokens (0 = unlimited)."""
        return self._model.max_positions == 0 or count <= self._model.max_positions

    def _continue(self, context: Context, ids: list[int], gamma: int) -> tuple[list[int], int]:
        """Up to γ most likely draft tokens after ``ids``, and the forward passes they took."""
        kept = min(common_length(self._fed, ids), len(ids) - 1)
        self._cache.crop(kept)
        pieces: list[int] = []
        inputs, forwards, confidence = ids[kept:], 0, context.config.confidence
        while forwards < gamma:
            logits = self._model.forward(inputs, self._cache).logits[0]
            forwards += 1
            token = int(logits.argmax())
            if token in self._vocabulary.draft.special_ids:
                break
            pieces.append(token)
            inputs = [token]
            if confidence and float(logits.float().softmax(-1)[token]) < confidence:
                break
        self._fed = [*ids, *pieces][: self._cache.length]
        return pieces, forwards

    def _aligned(self, ids: Sequence[int], text: str) -> list[int]:
        """``text`` in the target's tokens, as they follow ``ids``."""
        side = self._vocabulary.target
        window = list(ids[self._window_start(ids) :])
        before = side.decode(window)
        encoded = side.encode(before + text)
        for end in sorted(range(len(encoded)), key=lambda end: abs(end - len(window))):
            if encoded[:end] == window or side.decode(encoded[:end]) == before:
                return encoded[end:]
        return side.encode(text)  # a token stretches over the joint: encode what follows alone

    def _window_start(self, ids: Sequence[int]) -> int:
        """A place a few tokens back where a word starts, behind the last special token."""
        side = self._vocabulary.target
        for index in range(len(ids) - 1, -1, -1):
            if ids[index] in side.special_ids:
                return index + 1
            length = len(ids) - index
            if length >= MAX_LOOKBACK or (length >= LOOKBACK and side.starts_word(ids[index])):
                return index
        return 0

    def _usable(self, context: Context, ids: list[int]) -> list[int]:
        """The ids before the first that is special or that a logits processor forbids."""
        refused = self._vocabulary.target.special_ids | context.end_ids
        for index, token in enumerate(ids):
            if token in refused:
                ids = ids[:index]
                break
        return ids[: context.processors.num_allowed(context.ids, ids, self._vocab_size)]


def common_length(one: list[int], other: list[int]) -> int:
    """Length of the common prefix, by halving: lists compare much faster than a loop."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _pieces_of(
    vocabulary: VocabularyMap,
    target: tuple[Sequence[int], Sequence[int]],
    draft: tuple[Sequence[int], Sequence[int]],
) -> tuple[PiecesSource, ...]:
    """For each target token the draft tokens that share a character with it; (before, ids) each."""
    ours = _spans(vocabulary.target.decode, target[0][-LOOKBACK:], target[1])
    theirs = _spans(vocabulary.draft.decode, *draft)
    return tuple(
        PiecesSource(
            tuple(
                token
                for token, (low, high) in zip(draft[1], theirs, strict=True)
                if low < stop and start < high
            )
        )
        for start, stop in ours
    )


def _spans(
    decode: Callable[[Sequence[int]], str], before: Sequence[int], ids: Sequence[int]
) -> list[tuple[int, int]]:
    """The characters (first, behind the last) of each id; a part of a character counts as it."""
    length = len(decode(before))
    texts = [decode([*before, *ids[:count]])[length:] for count in range(len(ids) + 1)]
    return [(len(left.rstrip(BROKEN)), len(right)) for left, right in pairwise(texts)]


def build(parts: Parts) -> Drafter:
    """A drafter that uses ``parts.draft`` through ``parts.vocabulary``."""
    assert parts.draft is not None, "universal decoding needs a draft model"
    assert isinstance(parts.vocabulary, VocabularyMap), "and how its tokens map to the target's"
    return Universal(parts.draft, parts.vocabulary, parts.target.vocab_size)
