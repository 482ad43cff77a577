"""How close a target's greedy choices come to a tie.

The logits of one position are summed in another order when many positions are computed at once,
which moves them by about 1e-6 in float32. Where the two best tokens lie closer than that, plain
decoding and verification may choose differently although neither is wrong.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from specviz.catalog.examples import EXAMPLES, GRAMMAR_TARGETS
from specviz.zoo.corpus import HELD_OUT_SEED, documents
from specviz.zoo.exactness import BATCH, left_padded
from specviz.zoo.tokenizer import END_ID, PAD_ID

SAFE_GAP = 1e-4  # nats: a hundred times what another order of summation moves a logit
NUM_PROMPTS = 200
NEW_TOKENS = 32


def tie_prompts(count: int = NUM_PROMPTS) -> list[str]:
    """The page's examples for the targets and prompts of held-out documents."""
    shown = [e.prompt for e in EXAMPLES if set(e.targets) & set(GRAMMAR_TARGETS)]
    held_out = [document.prompt for document in documents(HELD_OUT_SEED, count) if document.prompt]
    return [*shown, *held_out][:count]


@torch.inference_mode()
def smallest_gap(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, prompts: Sequence[str]
) -> float:
    """Smallest difference, in nats, between the best and second logit of any greedy choice.

    The weights are used as they are: round them first to what is exported.
    """
    gaps = [gap for rows in _batches(tokenizer, prompts) for gap in _gaps(model, rows)]
    return min(gaps)


def _batches(tokenizer: PreTrainedTokenizerBase, prompts: Sequence[str]) -> Iterator[Tensor]:
    for first in range(0, len(prompts), BATCH):
        yield left_padded([tokenizer(text).input_ids for text in prompts[first : first + BATCH]])


def _gaps(model: PreTrainedModel, ids: Tensor) -> Iterator[float]:
    """The smallest gap of each step of one batch, ended rows left out."""
    ids = ids.to(model.device)
    found = model.generate(
        input_ids=ids,
        attention_mask=(ids != PAD_ID).long(),
        do_sample=False,
        max_new_tokens=NEW_TOKENS,
        pad_token_id=PAD_ID,
        output_logits=True,
        return_dict_in_generate=True,
    )
    running = torch.ones(len(ids), dtype=torch.bool, device=ids.device)
    for step, logits in enumerate(found.logits):
        best = logits.float().topk(2).values
        yield (best[:, 0] - best[:, 1])[running].min().item()
        running &= found.sequences[:, ids.shape[1] + step] != END_ID
        if not running.any():
            return
