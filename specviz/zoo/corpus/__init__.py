"""The corpus of the zoo: a seeded grammar with state, plus optional public-domain prose.

`documents(seed, count)` is deterministic: the same seed gives the same documents on each machine.
Training and held-out text use different seeds (`TRAIN_SEED`, `HELD_OUT_SEED`).
"""

import random
from collections.abc import Callable, Iterator, Sequence

from specviz.zoo.corpus.chat import as_chat, chat, fact
from specviz.zoo.corpus.crafts import name_some, python_function, recipe, spanish
from specviz.zoo.corpus.document import Check, Document
from specviz.zoo.corpus.numbers import (
    addition,
    counting,
    dates,
    problem,
    small_sums,
    sorting,
)
from specviz.zoo.corpus.prose import prose_document
from specviz.zoo.corpus.records import CITIES, csv_record, json_record
from specviz.zoo.corpus.stories import holder, names, reading, rewrite, story, summary
from specviz.zoo.corpus.words import ANIMALS, FEMALE_NAMES, JOBS, MALE_NAMES, OBJECTS

__all__ = [
    "GENRES",
    "HELD_OUT_SEED",
    "TRAIN_SEED",
    "Check",
    "Document",
    "documents",
    "filler_text",
]

TRAIN_SEED = 1
HELD_OUT_SEED = 2
PROSE_SHARE = 0.06
CHAT_SHARE = 0.15

GENRES: dict[str, tuple[Callable[[random.Random], Document], int]] = {
    "story": (story, 20),
    "summary": (summary, 7),
    "rewrite": (rewrite, 45),
    "names": (names, 16),
    "reading": (reading, 9),
    "recipe": (recipe, 6),
    "json": (json_record, 9),
    "csv": (csv_record, 6),
    "addition": (addition, 13),
    "sums": (small_sums, 3),
    "problem": (problem, 3),
    "sorting": (sorting, 4),
    "counting": (counting, 2),
    "dates": (dates, 4),
    "holder": (holder, 5),
    "code": (python_function, 6),
    "chat": (chat, 10),
    "fact": (fact, 18),
    "list": (name_some, 1),
    "spanish": (spanish, 2),
}
"""Genre to its writer and its weight."""

WRAPPED = frozenset({"story", "recipe", "addition", "problem", "code", "list", "dates", "spanish"})
"""Genres that also appear inside the chat template."""


def documents(
    seed: int, count: int, *, genre: str | None = None, prose: Sequence[str] = ()
) -> Iterator[Document]:
    """Write `count` documents.

    Args:
        seed: seed of the draw.
        count: number of documents.
        genre: one genre only; default is the mixture of `GENRES`.
        prose: chunks of prose, mixed in with a share of `PROSE_SHARE`.

    Yields:
        Documents in a fixed order.
    """
    rng = random.Random(seed)
    writers = [writer for writer, _ in GENRES.values()]
    weights = [weight for _, weight in GENRES.values()]
    for _ in range(count):
        if genre is not None:
            yield GENRES[genre][0](rng)
        elif prose and rng.random() < PROSE_SHARE:
            yield prose_document(rng.choice(prose))
        else:
            document = rng.choices(writers, weights)[0](rng)
            wrap = document.genre in WRAPPED and rng.random() < CHAT_SHARE
            yield as_chat(document) if wrap else document


def filler_text() -> str:
    """The words that fill places of the grammar: behind a blank, and those of records in quotes.

    A name of several tokens is found again and changed with more trouble than one of one token.
    """
    in_records = (*FEMALE_NAMES, *MALE_NAMES, *ANIMALS, *JOBS, *CITIES)
    told = "".join(f" {word}" for word in (*in_records, *OBJECTS))
    return told + "".join(f'"{word}"' for word in in_records)
