"""Generation of answers with Transformers' own `generate`, and their judgement per genre."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from specviz.zoo.corpus import Document
from specviz.zoo.judge import is_right, right_fields
from specviz.zoo.tokenizer import PAD_ID

BATCH = 25
EXTRA_TOKENS = 40
MAX_TOKENS = 250
PARTED_GENRES = ("json", "csv", "rewrite")


@dataclass(frozen=True, slots=True)
class Judged:
    """Share of right answers and of equal parts of them; None where nothing is compared."""

    rate: float | None
    fields: float | None


def left_padded(rows: list[list[int]]) -> Tensor:
    """Rows of ids as one tensor (rows, longest row), padded on the left."""
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), PAD_ID)
    for index, row in enumerate(rows):
        ids[index, width - len(row) :] = torch.tensor(row)
    return ids


@torch.no_grad()
def answers(model: Any, tokenizer: Any, docs: list[Document]) -> list[str]:
    """Greedy answers to the prompts of the documents, in batches padded on the left."""
    given: list[str] = []
    for first in range(0, len(docs), BATCH):
        part = docs[first : first + BATCH]
        rows = [tokenizer(d.prompt).input_ids for d in part]
        longest = max(len(tokenizer(d.answer).input_ids) for d in part)
        ids = left_padded(rows)
        output = model.generate(
            input_ids=ids,
            attention_mask=(ids != PAD_ID).long(),
            do_sample=False,
            max_new_tokens=min(MAX_TOKENS, longest + EXTRA_TOKENS),
        )
        given += tokenizer.batch_decode(output[:, ids.shape[1] :], skip_special_tokens=True)
    return given


def judge_genre(model: Any, tokenizer: Any, docs: list[Document]) -> Judged:
    """Share of right answers over documents of one genre."""
    docs = [document for document in docs if document.check.value != "none"]
    if not docs:
        return Judged(None, None)
    given = answers(model, tokenizer, docs)
    right = [bool(is_right(d, answer)) for d, answer in zip(docs, given, strict=True)]
    fields = None
    if docs[0].genre in PARTED_GENRES:
        pairs = [right_fields(d, answer) for d, answer in zip(docs, given, strict=True)]
        fields = sum(equal for equal, _ in pairs) / sum(count for _, count in pairs)
    return Judged(sum(right) / len(right), fields)
