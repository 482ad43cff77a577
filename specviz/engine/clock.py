"""What is read off the device: the time, and how much memory its allocator has held.

Kernels on a GPU are launched, not awaited: reading the time without waiting would book their
cost on whatever waits next. On a CPU there is nothing to wait for.
"""

from __future__ import annotations

import time

import torch


class Clock:
    """Seconds of ``time.perf_counter`` with the device synchronised first."""

    def __init__(self, device: torch.device) -> None:
        self._wait = {"cuda": torch.cuda.synchronize, "mps": torch.mps.synchronize}.get(device.type)

    def now(self) -> float:
        """The time in seconds, after everything launched so far has finished."""
        if self._wait is not None:
            self._wait()
        return time.perf_counter()


class PeakMemory:
    """The most bytes that a GPU's allocator has held at once since this object was made.

    There is one such figure per device, so runs that overlap on it share the larger one.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device if device.type == "cuda" else None
        if self._device is not None:
            torch.cuda.reset_peak_memory_stats(self._device)

    @property
    def num_bytes(self) -> int | None:
        """The peak so far; None off CUDA, where no allocator counts."""
        return None if self._device is None else torch.cuda.max_memory_allocated(self._device)
