"""Ctrl-C on the command line: the first one asks the run to end after its step."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

SENTENCE = "specviz: stopping …; press Ctrl-C again to end at once"


@contextmanager
def interruptible(*, tell: bool) -> Iterator[threading.Event]:
    """The event that the first Ctrl-C sets; the second one ends the program.

    Args:
        tell: say on stderr that it was heard, since a model that loads takes its time.
    """
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        if tell:
            _say(SENTENCE)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _say(text: str) -> None:
    """Write a line without Python's buffers, which a signal may have interrupted."""
    with suppress(OSError, ValueError):
        encoding = sys.stderr.encoding or "utf-8"
        os.write(sys.stderr.fileno(), f"\n{text}\n".encode(encoding, "replace"))
