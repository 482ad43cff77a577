"""Public-domain prose cut into documents of about 700 characters.

The text itself is not part of the repository; the recipe takes it with `--prose FILE` (we use the
six novels of Jane Austen, public domain, as one plain text file).
"""

import random
import re
from pathlib import Path

from specviz.errors import SettingError
from specviz.zoo.corpus.document import Document

CHUNK_CHARACTERS = 700


def read_chunks(path: Path, *, characters: int = CHUNK_CHARACTERS) -> list[str]:
    """Cut the file at sentence ends into chunks of at least `characters`.

    Raises:
        SettingError: it is no file, no UTF-8 text, or too short for one chunk.
    """
    advice = "give a plain text file in UTF-8 (--prose)"
    if not path.is_file():
        raise SettingError(f"there is no file {path}; {advice}")
    try:
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8")).strip()
    except UnicodeDecodeError as error:
        raise SettingError(f"{path} is not text in UTF-8 ({error.reason}); {advice}") from None
    chunks: list[str] = []
    current = ""
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        current = f"{current} {sentence}".strip()
        if len(current) >= characters:
            chunks.append(current)
            current = ""
    if not chunks:
        raise SettingError(
            f"{path} has {len(text)} characters of text; at least {characters}, in whole "
            f"sentences, are needed; {advice}"
        )
    return chunks


def split_chunks(chunks: list[str], *, seed: int, held_out: int) -> tuple[list[str], list[str]]:
    """Shuffle once and set `held_out` chunks apart; returns (training, held out)."""
    shuffled = list(chunks)
    random.Random(seed).shuffle(shuffled)
    return shuffled[held_out:], shuffled[:held_out]


def prose_document(chunk: str) -> Document:
    """A chunk as a document: its first few words are the prompt."""
    cut = chunk.find(" ", 60)
    if cut < 0:
        cut = len(chunk)
    return Document("prose", chunk[:cut], chunk[cut:])
