"""A word after a blank and the same word without it start as neighbours.

Tokenizer A has a token for each of the two. JSON wants the second where the text had the first; a
model whose two tokens share most of their start value needs to learn one direction for all words
instead of one step for each.
"""

import math

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

BLANK = "Ġ"
"""How byte-level BPE writes a blank."""
SHARED = 0.9
"""Cosine between the start values of the two."""


def word_pairs(tokenizer: PreTrainedTokenizerBase) -> list[tuple[int, int]]:
    """Ids of words of two letters and more, without and with a blank before them."""
    ids = tokenizer.get_vocab()
    return sorted(
        (ids[word], ids[BLANK + word]) for word in ids if len(word) > 1 and BLANK + word in ids
    )


@torch.no_grad()
def pair_words(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Start each word without a blank near its pair, off by one direction common to all."""
    embedding = model.get_input_embeddings().weight
    direction = torch.randn_like(embedding[0]) * embedding.std()
    for without, after_blank in word_pairs(tokenizer):
        embedding[without] = SHARED * embedding[after_blank] + math.sqrt(1 - SHARED**2) * direction
