"""The embedded models: right answers to the page's examples, and the ids of ``generate()``.

The ids are those of every exact method on thirty prompts.

``SPECVIZ_PROMPTS=200`` adds held-out prompts of the models' own genres up to that number. The
oracle is plain greedy ``generate()`` of Transformers on the same loaded module, in float32.
"""

from __future__ import annotations

import functools
import os

import pytest
import torch

from specviz import runs
from specviz.catalog.examples import EXAMPLES
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


ANSWERS = {
    "JSON from a text": """[
  {
    "name": "Nora",
    "age": 35,
    "job": "painter",
    "city": "Oslo",
    "pet": "cat"
  },
  {
    "name": "Karl",
    "age": 52,
    "job": "sailor",
    "city": "Rome",
    "pet": null
  }
]""",
    "Rewrite with one change": "Long ago, a wise mouse named Oskar lived near the hill. Every day "
    "Oskar walked to the hill with his golden bell. It was a windy day when Oskar saw that the "
    "bell was gone.",
    "Times table": "\n".join(f"7 x {i} = {7 * i}" for i in range(1, 11)),
    "Questions and answers": "The capital of Greece is Athens.",
}
"""What is right for those examples of the page that have one right answer."""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("title", ANSWERS)
def test_the_targets_answer_the_examples_of_the_page(title, target):
    (example,) = (e for e in EXAMPLES if e.title == title and target in e.targets)
    trace = runs.run(RunRequest.of("plain", example.prompt, target=target, max_new_tokens=128))
    assert trace.text.removesuffix("<|endoftext|>").strip() == ANSWERS[title]


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
