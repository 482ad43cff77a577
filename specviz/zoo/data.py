"""Windows of tokens that start where a document starts, so that prompts look like training text."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from specviz.errors import ModelError
from specviz.zoo.stored import broken, read_state, save_state

SEED_STRIDE = 1_000_003
"""Further apart than the steps of any run: two seeds share no batch."""


@dataclass(frozen=True, slots=True)
class TokenStream:
    """Encoded documents: `ids` (N,) int16 and `starts` (D,) int64."""

    ids: Tensor
    starts: Tensor

    def save(self, path: Path) -> None:
        """Write the stream to one file."""
        save_state({"ids": self.ids, "starts": self.starts}, path)

    @classmethod
    def load(cls, path: Path) -> "TokenStream":
        """Read a stream written by `save`.

        Raises:
            ModelError: the file is missing or broken.
        """
        state = read_state(path, "ids", "starts", stage="corpus")
        stream = cls(state["ids"], state["starts"])
        if not stream.is_whole:
            raise ModelError(broken(path, stage="corpus"))
        return stream

    @property
    def is_whole(self) -> bool:
        """Ids, and starts of documents that lie within them."""
        for row, dtype in ((self.ids, torch.int16), (self.starts, torch.int64)):
            if not isinstance(row, Tensor) or row.dtype != dtype or row.ndim != 1 or not len(row):
                return False
        return int(self.starts.min()) >= 0 and int(self.starts.max()) < len(self.ids)


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
