"""The embedded models on thirty prompts: every exact method gives the ids of ``generate()``.

``SPECVIZ_PROMPTS=200`` adds held-out prompts of the models' own genres up to that number. The
oracle is plain greedy ``generate()`` of Transformers on the same loaded module, in float32.
"""

from __future__ import annotations

import functools
import os

import pytest
import torch

from specviz import runs
from specviz.catalog.load import load
from specviz.catalog.locate import locate
from specviz.config import RunRequest
from specviz.trace import check
from specviz.zoo.corpus import HELD_OUT_SEED, documents
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


def prompts() -> list[str]:
    """Thirty prompts of different kinds, and as many held-out ones as are asked for."""
    count = int(os.environ.get("SPECVIZ_PROMPTS", len(PROMPTS)))
    held_out = [document.prompt for document in documents(HELD_OUT_SEED, count) if document.prompt]
    return [*PROMPTS, *held_out][: max(count, len(PROMPTS))]


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
def test_greedy_ids_equal_generate_on_every_prompt(target, method):
    different = []
    for prompt in prompts():
        request = RunRequest.of(method, prompt, target=target, max_new_tokens=NEW_TOKENS)
        trace = runs.run(request)
        check(trace)
        if tuple(trace.output_ids) != generated(target, prompt):
            different.append(prompt)
    print(f"{target}, {method}: {len(prompts()) - len(different)} of {len(prompts())} equal")
    assert not different
