"""The first three tokens of every lossless method against their exact law, by enumeration.

``SPECVIZ_DRAWS=20000 pytest -s -m slow tests/engine/test_frequencies.py`` is the long version: it
prints the total variation of each method beside that of plain decoding on the same model and of as
many draws from the law itself.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from specviz.config import DecodeConfig
from specviz.engine.drafters import methods
from specviz.engine.drafters.base import Parts
from specviz.engine.language_model import LanguageModel
from tests import fakes
from tests.engine.drafting import PROCESSED, first_tokens
from tests.engine.laws import Law, chi_square_p, distance, enumerated, logits_of, noise
from tests.engine.test_dflash import block_drafter
from tests.engine.test_universal import SMALL, Echo, small_table

PROMPT = [1, 5, 2, 6, 1, 5]
SETTINGS = {
    "temperature 0.7": {"temperature": 0.7},
    "top-k 5": {"temperature": 1.0, "top_k": 5},
    "top-p 0.9": {"temperature": 1.0, "top_p": 0.9},
    "penalty 1.3": {"temperature": 1.0, "repetition_penalty": 1.3},
    "all four": PROCESSED,
}


@dataclass(frozen=True)
class Family:
    """A target with what its methods need, and its logits computed apart from the engine."""

    target: Any
    logits: Callable[[Sequence[int]], Tensor]
    parts: dict[str, Any]
    prompt: list[int]


def _llama(std: float, seed: int) -> Any:
    return fakes.tiny_llama(vocab=8, layers=2, seed=seed, std=std, dtype=torch.float32)


def speculative_family() -> Family:
    """A Llama and a noisy copy of it."""
    module = _llama(0.2, 14)
    draft = LanguageModel(fakes.near_copy(module, noise=0.1))
    return Family(LanguageModel(module), logits_of(module), {"draft": draft}, PROMPT)


def mtp_family() -> Family:
    """A GLM with two MTP layers."""
    module = fakes.tiny_glm(vocab=8, layers=2, num_mtp=2, std=0.25, dtype=torch.float32)
    layers = fakes.mtp_layers(module, 2, std=0.25)
    return Family(LanguageModel(module), logits_of(module), {"drafter_model": layers}, PROMPT)


def gemma_family() -> Family:
    """A Gemma 4 and its drafter."""
    module = fakes.tiny_gemma(vocab=8, layers=2, std=0.25, dtype=torch.float32)
    drafter = fakes.gemma_assistant(module, std=0.25, dtype=torch.float32)
    return Family(LanguageModel(module), logits_of(module), {"drafter_model": drafter}, PROMPT)


def block_family() -> Family:
    """A Llama and a block drafter."""
    module = _llama(0.2, 14)
    drafter = block_drafter(module, block=3, std=0.25, dtype=torch.float32)
    return Family(LanguageModel(module), logits_of(module), {"drafter_model": drafter}, PROMPT)


def universal_family() -> Family:
    """A table and an assistant with another tokenizer, which is right where the table is sure."""
    table = small_table()
    parts = {"draft": Echo(), "vocabulary": SMALL}
    return Family(fakes.TableModel(table), lambda ids: table[ids[-1]].log(), parts, [5, 9])


FAMILIES: dict[str, Callable[[], Family]] = {
    "speculative": speculative_family,
    "prompt_lookup": speculative_family,
    "early_exit": speculative_family,
    "mtp_layers": mtp_family,
    "mtp_drafter": gemma_family,
    "dflash": block_family,
    "universal": universal_family,
}
family_of = functools.cache(lambda make: make())


def counted(
    method: str, family: Family, settings: dict, draws: int, depth: int
) -> collections.Counter:
    """Continuations of ``depth`` tokens over many runs of a method."""
    config = DecodeConfig(max_new_tokens=depth + 2, gamma=3, seed=3, exit_layer=None, **settings)
    parts = Parts(family.target, config, **family.parts)
    return first_tokens(method, parts, family.prompt, draws=draws, depth=depth)


@functools.cache
def law_and_plain(
    make: Callable[[], Family], setting: str, draws: int, depth: int
) -> tuple[Law, float]:
    """The exact law, and how far plain decoding on the same target is from it."""
    family, settings = family_of(make), SETTINGS[setting]
    law = enumerated(family.logits, family.prompt, settings, depth)
    return law, distance(counted("plain", family, settings, draws, depth), law, draws)


def assert_follows_the_law(method: str, setting: str, draws: int, depth: int) -> None:
    """Chi-square and total variation; prints the line of the table."""
    make = FAMILIES[method]
    law, plain = law_and_plain(make, setting, draws, depth)
    counts = counted(method, family_of(make), SETTINGS[setting], draws, depth)
    assert set(counts) <= set(law), "a continuation of probability 0 was produced"
    p, found = chi_square_p(counts, law, draws), distance(counts, law, draws)
    bound = max(noise(law, draws))
    print(
        f"\n{method}, {setting}: {draws} draws of {depth} tokens, {len(law)} continuations; total "
        f"variation {found:.4f}, plain {plain:.4f}, the law itself up to {bound:.4f}; p {p:.3f}"
    )
    assert p > 1e-4
    assert found < 1.2 * bound


def test_every_lossless_method_is_here() -> None:
    lossless = {name for name, entry in methods().items() if entry.card.lossless}
    assert lossless - {"plain"} == set(FAMILIES)


@pytest.mark.parametrize("method", FAMILIES)
def test_two_tokens_under_all_processors(method: str) -> None:
    assert_follows_the_law(method, "all four", 200, 2)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("method", FAMILIES)
def test_three_tokens_under_each_processor(method: str, setting: str) -> None:
    """Fixed seeds. SPECVIZ_DRAWS=20000: about a minute for each case."""
    assert_follows_the_law(method, setting, fakes.num_draws(), 3)
