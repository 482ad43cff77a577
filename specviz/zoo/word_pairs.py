"""A word after a blank and the same word without it are one word to the targets.

Tokenizer A has a token for each of the two. A record wants the second where the text had the first.
While a base is trained, the two embeddings of a name, an animal, a job or a city stay one vector,
apart from one direction common to all words: so what a model learns of copying holds for both, and
only "with a blank or without" is left to learn.
"""

import re

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from specviz.zoo.corpus import filler_text

BLANK = "Ġ"
"""How byte-level BPE writes a blank."""


def word_pairs(tokenizer: PreTrainedTokenizerBase) -> Tensor:
    """Ids of the fillers that have both forms, `[2, pairs]`: without and with a blank."""
    ids = tokenizer.get_vocab()
    words = sorted(set(re.findall(r"\w+", filler_text())))
    both = [(ids[word], ids[BLANK + word]) for word in words if {word, BLANK + word} <= ids.keys()]
    return torch.tensor(both, dtype=torch.long).reshape(-1, 2).T


@torch.no_grad()
def tie_words(model: PreTrainedModel, pairs: Tensor) -> None:
    """Move the two forms of each word to their middle, off by the mean step between forms."""
    if not pairs.numel():
        return
    embedding = model.get_input_embeddings().weight
    bare, blank = embedding[pairs[0]], embedding[pairs[1]]
    step = (bare - blank).mean(0)
    middle = (bare + blank) / 2
    embedding[pairs[0]] = middle + step / 2
    embedding[pairs[1]] = middle - step / 2
