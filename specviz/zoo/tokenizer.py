"""Tokenizers A and B of the zoo: byte-level BPE with exact round trips and one end token.

A serves both targets, the assistants and the drafter. B splits words into syllable-like pieces and
has a smaller vocabulary, so that universal assisted decoding has something to translate.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from specviz.errors import ModelError
from specviz.zoo.corpus.chat import CHAT_TEMPLATE, END_OF_TEXT

PAD = "<|pad|>"
END_ID, PAD_ID = 0, 1
FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
SYLLABLES = r" ?[aeiouAEIOU]?[^aeiouAEIOU\s\d\"',.!?]+|\s+|\d"


def words_pre_tokenizer() -> pre_tokenizers.PreTokenizer:
    """Pre-tokenizer of A: each newline and each digit alone, then the GPT-2 word pattern.

    A newline alone is one token wherever it stands, so a prompt ending in newlines looks as it did
    in training.
    """
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("\n", "isolated"),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )


def syllables_pre_tokenizer() -> pre_tokenizers.PreTokenizer:
    """Pre-tokenizer of B: consonant groups with at most one vowel in front."""
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("\n", "isolated"),
            pre_tokenizers.Split(Regex(SYLLABLES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def train_tokenizer(
    texts: Iterable[str], *, size: int, pre_tokenizer: pre_tokenizers.PreTokenizer
) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE of at most `size` tokens with the chat template of the zoo."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[END_OF_TEXT, PAD],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=END_OF_TEXT,
        eos_token=END_OF_TEXT,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
        model_max_length=1024,
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def save_tokenizer(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write a tokenizer as a whole or not at all, in place of what is there."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    tokenizer.save_pretrained(part)
    if folder.exists():
        shutil.rmtree(folder)
    part.rename(folder)


def load_tokenizer(
    folder: Path, *, advice: str = "make the folder again"
) -> PreTrainedTokenizerBase:
    """Load a tokenizer written by `save_pretrained`.

    Args:
        folder: where it lies.
        advice: what to do when it does not.

    Raises:
        ModelError: a file is missing or broken.
    """
    for name in FILES:
        if not (folder / name).is_file() or not (folder / name).stat().st_size:
            raise ModelError(
                f"there is no tokenizer in {folder}: {name} is missing or empty; {advice}"
            )
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        ids = tokenizer(END_OF_TEXT + PAD).input_ids
        whole = ids == [END_ID, PAD_ID] == [tokenizer.eos_token_id, tokenizer.pad_token_id]
    except PermissionError:
        raise
    except Exception as error:
        raise ModelError(f"the tokenizer in {folder} is broken or cut short; {advice}") from error
    if not whole:
        raise ModelError(f"the tokenizer in {folder} is none of the zoo; {advice}")
    return tokenizer


def encode_documents(
    tokenizer: PreTrainedTokenizerBase, texts: list[str], *, batch: int = 2000
) -> tuple[torch.Tensor, torch.Tensor]:
    """Encode documents into one stream, an end token after each.

    Returns:
        `ids` (N,) int16 and `starts` (D,) int64: where each document begins.
    """
    backend = tokenizer.backend_tokenizer
    ids: list[int] = []
    starts: list[int] = []
    for first in range(0, len(texts), batch):
        for encoding in backend.encode_batch(texts[first : first + batch]):
            starts.append(len(ids))
            ids.extend(encoding.ids)
            ids.append(END_ID)
    return torch.tensor(ids, dtype=torch.int16), torch.tensor(starts, dtype=torch.int64)
