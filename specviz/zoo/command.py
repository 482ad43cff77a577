"""What the zoo's commands share: how they refuse, and numbers that must be above 0."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from specviz.errors import SpecvizError

REFUSED, INTERRUPTED = 2, 130


@contextmanager
def refusals(prog: str) -> Iterator[None]:
    """End the command with one sentence on stderr where the work is refused.

    Files that the system does not give are such a refusal too; any other error is a fault of ours
    and keeps its traceback.

    Raises:
        SystemExit: with status 2, as argparse does; 130 when interrupted.
    """
    try:
        yield
    except SpecvizError as error:
        _end(f"{prog}: {error}", REFUSED)
    except OSError as error:
        if error.filename is None or error.strerror is None:
            raise
        advice = "give a place that can be read and written"
        _end(f"{prog}: {error.filename}: {error.strerror}; {advice}", REFUSED)
    except KeyboardInterrupt:
        _end(f"{prog}: interrupted", INTERRUPTED)


def _end(sentence: str, status: int) -> None:
    print(sentence, file=sys.stderr)
    raise SystemExit(status) from None


def positive(text: str) -> int:
    """A whole number of at least 1, as a type of argparse."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return number
