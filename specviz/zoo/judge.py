"""Judging of answers: exact copies, right last lines, names that do not drift. Pure text."""

import re

from specviz.zoo.corpus import Check, Document
from specviz.zoo.corpus.words import FEMALE_NAMES, MALE_NAMES

ALL_NAMES = frozenset(FEMALE_NAMES) | frozenset(MALE_NAMES)
NUM_CHARACTERS = 2


def lines(text: str) -> list[str]:
    """The non-empty lines."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def is_right(document: Document, answer: str) -> bool | None:
    """Judge a generated answer, or return None where there is nothing to compare."""
    wanted, given = lines(document.answer), lines(answer)
    match document.check:
        case Check.NONE:
            return None
        case Check.FIRST_LINE:
            return given[:1] == wanted[:1]
        case Check.LAST_LINE:
            return given[-1:] == wanted[-1:]
        case Check.WHOLE:
            return answer.strip() == document.answer.strip()
        case Check.NAMES:
            return names_hold(document, answer)


def names_hold(document: Document, answer: str) -> bool:
    """The hero of the prompt appears and no more than two characters have names."""
    used = set(re.findall(r"\b[A-Z][a-z]+\b", answer)) & ALL_NAMES
    known = set(re.findall(r"\b[A-Z][a-z]+\b", document.prompt)) & ALL_NAMES
    story = document.genre != "summary"
    allowed = len(used) <= NUM_CHARACTERS if story else used <= known
    return document.names[0] in used and allowed


PARTS = {"csv": r"[,\n]", "json": r"\n", "rewrite": r"\s+"}
"""Genre to what separates its parts: cells, fields, words."""


def right_fields(document: Document, answer: str) -> tuple[int, int]:
    """Equal parts of an answer, place by place, and all parts of it."""
    pattern = PARTS[document.genre]
    wanted = [part.strip(" ,") for part in re.split(pattern, document.answer.strip())]
    given = [part.strip(" ,") for part in re.split(pattern, answer.strip())]
    equal = sum(left == right for left, right in zip(wanted, given, strict=False))
    return equal, len(wanted)
