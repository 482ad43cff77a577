"""Windows of tokens that start where a document starts, so that prompts look like training text."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

SEED_STRIDE = 1_000_003
"""Further apart than the steps of any run: two seeds share no batch."""


@dataclass(frozen=True, slots=True)
class TokenStream:
    """Encoded documents: `ids` (N,) int16 and `starts` (D,) int64."""

    ids: Tensor
    starts: Tensor

    def save(self, path: Path) -> None:
        """Write the stream to one file."""
        torch.save({"ids": self.ids, "starts": self.starts}, path)

    @classmethod
    def load(cls, path: Path) -> "TokenStream":
        """Read a stream written by `save`."""
        state = torch.load(path, weights_only=True)
        return cls(state["ids"], state["starts"])


class Windows:
    """Draws batches of windows from a stream; the same step always draws the same batch.

    Args:
        stream: the encoded documents.
        length: tokens in a window.
        seed: seed of the draw.
        device: where the batches go.
    """

    def __init__(self, stream: TokenStream, *, length: int, seed: int, device: str = "cpu") -> None:
        self._ids = stream.ids
        self._starts = stream.starts[stream.starts < len(stream.ids) - length - 1]
        self._offsets = torch.arange(length + 1)
        self._device = device
        self._seed = seed

    def draw(self, batch: int, *, step: int) -> tuple[Tensor, Tensor]:
        """Return inputs and next tokens of a training step, both (batch, length) int64.

        Without a state, so that a run that continues goes on in the texts where it stopped.
        """
        rng = torch.Generator().manual_seed(self._seed * SEED_STRIDE + step)
        chosen = torch.randint(len(self._starts), (batch,), generator=rng)
        rows = self._ids[self._starts[chosen][:, None] + self._offsets].long()
        rows = rows.to(self._device)
        return rows[:, :-1].contiguous(), rows[:, 1:].contiguous()
