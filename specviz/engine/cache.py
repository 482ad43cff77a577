"""Key/value caches that can be rolled back, with one invariant: ``length`` is what is valid.

``DirectCache`` belongs to ``engine.direct``: buffers of fixed capacity that are addressed by
position, so rolling back is setting a number. ``ModuleCache`` wraps the ``DynamicCache`` of
Transformers for models that run through their own ``forward``. Neither knows about tokens.
"""

from __future__ import annotations

from typing import Protocol

import torch
from transformers import DynamicCache, PreTrainedModel


class KVCache(Protocol):
    """Keys and values of a prefix of the tokens of one sequence."""

    @property
    def length(self) -> int:
        """Number of tokens whose keys and values are valid."""

    def extend(self, length: int) -> None:
        """Declare the first ``length`` tokens valid, after all layers have written them."""

    def crop(self, length: int) -> None:
        """Forget everything behind the first ``length`` tokens; never grows."""

    @property
    def num_bytes(self) -> int:
        """Bytes of the valid entries."""


class DirectCache:
    """Per layer one key and one value buffer of shape (kv heads, capacity, head size).

    Entries are written by position, also ahead of ``length`` (early exit runs the first layers
    ahead of the others); ``length`` says up to where *all* layers are valid.
    """

    def __init__(
        self, shapes: list[tuple[int, int]], capacity: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        """Allocate buffers.

        Args:
            shapes: (kv heads, head size) of each layer.
            capacity: tokens there is room for; grows when needed.
            dtype, device: those of the model.
        """
        self.keys = [torch.zeros(h, capacity, d, dtype=dtype, device=device) for h, d in shapes]
        self.values = [torch.zeros_like(key) for key in self.keys]
        self._length = 0
        self._bytes_per_token = sum(2 * h * d for h, d in shapes) * dtype.itemsize

    @property
    def length(self) -> int:
        """Number of tokens that are valid in all layers."""
        return self._length

    @property
    def num_bytes(self) -> int:
        """Bytes of the valid entries (not of the free room)."""
        return self._length * self._bytes_per_token

    def reserve(self, length: int) -> None:
        """Make room for ``length`` tokens; doubles the buffers, so growth stays cheap."""
        capacity = self.keys[0].shape[1]
        if length <= capacity:
            return
        room = max(length, 2 * capacity) - capacity
        for buffers in (self.keys, self.values):
            for i, old in enumerate(buffers):
                buffers[i] = torch.cat([old, old.new_zeros(old.shape[0], room, old.shape[2])], 1)

    def extend(self, length: int) -> None:
        """Declare the first ``length`` tokens valid, after all layers have written them."""
        assert self._length <= length <= self.keys[0].shape[1], (self._length, length)
        self._length = length

    def crop(self, length: int) -> None:
        """Forget everything behind ``length``; the entries are overwritten later."""
        assert 0 <= length <= self._length, (length, self._length)
        self._length = length


class ModuleCache:
    """A ``DynamicCache`` that records enough of its past to be rolled back.

    Sliding-window layers drop old entries only when cropped, hence ``crop`` is also called with
    nothing to remove.
    """

    def __init__(self, model: PreTrainedModel, inner: DynamicCache | None = None) -> None:
        """Make the cache of a model, or wrap ``inner``, a kind of cache that its drafter needs."""
        config = model.config.get_text_config(decoder=True)
        self.inner = DynamicCache(config=config) if inner is None else inner
        self.inner.activate_past_recording()
        self._length = 0

    @property
    def length(self) -> int:
        """Number of valid tokens, counted here because sliding layers hold fewer."""
        return self._length

    @property
    def num_bytes(self) -> int:
        """Bytes that the layers hold."""
        total = 0
        for layer in self.inner.layers:
            for name in ("keys", "values"):
                held = getattr(layer, name, None)
                total += held.numel() * held.element_size() if torch.is_tensor(held) else 0
        return total

    def extend(self, length: int) -> None:
        """Note that a forward pass has brought the cache to ``length`` tokens."""
        assert length >= self._length
        self._length = length

    def crop(self, length: int) -> None:
        """Remove the tokens behind ``length`` from every layer."""
        assert 0 <= length <= self._length, (length, self._length)
        for layer in self.inner.layers:
            if layer.is_initialized:  # a shell of the first layers never fills the others
                layer.crop(length - self._length)
        self._length = length
