"""Checkpoint folders for tests: random tiny models with tokenizers trained on a few words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from tests.fakes import tiny_llama

ENGLISH = "the cat sat on the mat and the dog sat near the cat while rain fell on the roof " * 20
OTHER = "quartz jumps by lynx vex daft waltz nymph for quick jigs vow black sphinx judge my " * 20


def byte_tokenizer(text: str = ENGLISH, vocab_size: int = 285) -> PreTrainedTokenizerFast:
    """A byte-level BPE with an end token, trained on ``text``."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator([text], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>")


def save_checkpoint(folder: Path, model: Any = None, tokenizer: Any = None) -> Path:
    """A folder that ``load`` accepts; by default a random Llama and a small tokenizer."""
    tokenizer = tokenizer or byte_tokenizer()
    model = model or tiny_llama(vocab=320)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def edit_config(folder: Path, **changes: Any) -> None:
    """Change fields of ``config.json``; None removes a field."""
    path = folder / "config.json"
    config = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not None}))
