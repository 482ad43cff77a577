"""The embedded models on thirty prompts: every exact method gives the ids of ``generate()``.

The oracle is plain greedy ``generate()`` of Transformers on the same loaded module, in float32.
"""

from __future__ import annotations

import functools

import pytest
import torch

from specviz import runs
from specviz.catalog.load import load
from specviz.catalog.locate import locate
from specviz.config import RunRequest
from specviz.trace import check
from tests.prompts import PROMPTS

NEW_TOKENS = 32
TARGETS = ("target-glm", "target-gemma")


@functools.cache
def generated(target: str, prompt: str) -> tuple[int, ...]:
    """New ids of plain greedy ``generate()``, ended by the model's own end token."""
    loaded = load(locate(target), status=lambda text: None)
    inputs = torch.tensor([loaded.tokenizer(prompt)["input_ids"]])
    with torch.inference_mode():
        found = loaded.module.generate(
            inputs,
            attention_mask=torch.ones_like(inputs),
            do_sample=False,
            max_new_tokens=NEW_TOKENS,
            pad_token_id=1,
        )
    return tuple(found[0, inputs.shape[1] :].tolist())


def pairs() -> list[tuple[str, str]]:
    """Every target with every exact method that it serves."""
    return [
        (target, card.key)
        for target in TARGETS
        for card in runs.cards()
        if card.lossless and runs.availability(target)[card.key] is None
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "method"), pairs())
def test_greedy_ids_equal_generate_on_thirty_prompts(target, method):
    different = []
    for prompt in PROMPTS:
        request = RunRequest.of(method, prompt, target=target, max_new_tokens=NEW_TOKENS)
        trace = runs.run(request)
        check(trace)
        if tuple(trace.output_ids) != generated(target, prompt):
            different.append(prompt)
    assert not different
