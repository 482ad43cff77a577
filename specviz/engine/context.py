"""The state of one run: the tokens so far, the target's cache, and where the text must end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from specviz.config import MAX_GAMMA, DecodeConfig
from specviz.engine.cache import KVCache
from specviz.engine.sampling import Processors

TextOf = Callable[[Sequence[int]], str]


@dataclass(frozen=True, slots=True)
class Commit:
    """What of a block is kept.

    Attributes:
        ids: the kept ids, accepted drafts first.
        num_accepted: how many of them are drafts.
        cut: reason if the block was cut short, so that its target token was dropped.
        finished: reason if the run ends here.
    """

    ids: tuple[int, ...]
    num_accepted: int
    cut: str | None
    finished: str | None


class Context:
    """Tokens of one run. Between steps the target's cache holds all of them but the last."""

    def __init__(
        self,
        prompt_ids: Sequence[int],
        *,
        config: DecodeConfig,
        end_ids: Sequence[int],
        cache: KVCache,
        processors: Processors,
        rng: torch.Generator,
        text_of: TextOf,
    ) -> None:
        self.ids = list(prompt_ids)
        self.processors = processors
        self.rng = rng
        self.prompt_length = len(self.ids)
        self.config = config
        self.end_ids = frozenset(end_ids)
        self.cache = cache
        self._text_of = text_of

    @property
    def new_ids(self) -> list[int]:
        """The ids added to the prompt."""
        return self.ids[self.prompt_length :]

    @property
    def capacity(self) -> int:
        """Tokens that a cache of this run may have to hold."""
        return self.prompt_length + self.config.max_new_tokens + MAX_GAMMA + 1

    @property
    def remaining(self) -> int:
        """How many more tokens the limit allows."""
        return self.config.max_new_tokens - (len(self.ids) - self.prompt_length)

    def commit(self, accepted: Sequence[int], next_id: int) -> Commit:
        """Append the accepted drafts and the target's token, up to the first reason to stop."""
        block = (*accepted, next_id)
        end, reason = self._end_of(block)
        kept = block[:end]
        self.ids.extend(kept)
        cut = reason if end < len(block) else None
        return Commit(kept, min(end, len(accepted)), cut, reason)

    def _end_of(self, block: Sequence[int]) -> tuple[int, str | None]:
        """Length of the block that is kept, and why the run ends with it (None: it goes on)."""
        for index, token in enumerate(block[: self.remaining]):
            if token in self.end_ids:
                return index + 1, "eos"
            if self.config.stop and self._stops(block[: index + 1]):
                return index + 1, "stop"
        if len(block) >= self.remaining:
            return self.remaining, "length"
        return len(block), None

    def _stops(self, block: Sequence[int]) -> bool:
        """Whether a stop text stands at the end of the new text plus ``block``.

        A stop text of b bytes lies within b tokens; a few more keep split characters whole.
        """
        window = max(len(text.encode("utf-8", "surrogatepass")) for text in self.config.stop) + 4
        tail = [*self.new_ids, *block][-window:]
        text = self._text_of(tail)
        return any(stop in text for stop in self.config.stop)
