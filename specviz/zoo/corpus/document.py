"""The document: one training text, split into what a user would type and what is to be written."""

from dataclasses import dataclass
from enum import Enum


class Check(Enum):
    """How an answer of a genre is judged."""

    NONE = "none"
    """Free text; nothing to compare."""
    FIRST_LINE = "first_line"
    """The first non-empty line must be equal."""
    LAST_LINE = "last_line"
    """The last line must be equal."""
    WHOLE = "whole"
    """The whole answer must be equal."""
    NAMES = "names"
    """Only the listed names may appear, and the first of them must."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the corpus.

    Args:
        genre: key of the genre, for example `story`.
        prompt: the part a user would type; never ends in white space.
        answer: the rest, with the separator (newline or space) in front.
        check: how an answer is judged.
        names: names that the answer may use (for `Check.NAMES`).
    """

    genre: str
    prompt: str
    answer: str
    check: Check = Check.NONE
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole document."""
        return self.prompt + self.answer
