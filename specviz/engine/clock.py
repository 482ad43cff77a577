"""A clock that waits for the device before it is read.

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
