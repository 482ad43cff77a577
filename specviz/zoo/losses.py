"""Held-out loss of an exported model, in nats per token."""

from typing import Any

import torch
import torch.nn.functional as F

from specviz.zoo.corpus import Document
from specviz.zoo.tokenizer import END_ID, PAD_ID

BATCH = 16
IGNORED = -100


@torch.no_grad()
def genre_loss(model: Any, tokenizer: Any, docs: list[Document]) -> float:
    """Mean loss over all tokens of the documents but each first one; the end token counts."""
    total, count = 0.0, 0
    for first in range(0, len(docs), BATCH):
        rows = [[*tokenizer(d.text).input_ids, END_ID] for d in docs[first : first + BATCH]]
        width = max(map(len, rows))
        ids = torch.full((len(rows), width), PAD_ID)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = torch.tensor(row)
        targets = ids[:, 1:].masked_fill(ids[:, 1:] == PAD_ID, IGNORED)
        # Padding stands on the right, where causal attention never looks.
        logits = model(ids).logits[:, :-1]
        summed = F.cross_entropy(
            logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), reduction="sum"
        )
        total += summed.item()
        count += int((targets != IGNORED).sum())
    return total / max(count, 1)
