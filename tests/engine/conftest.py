"""Models that several engine tests read; none of them changes one."""

from __future__ import annotations

import pytest
import torch

from specviz.engine.language_model import LanguageModel
from tests import fakes


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tiny matrices are fastest on one thread, by far so on a busy machine."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def target_module():
    """A random Llama in float64, for ``generate()``."""
    return fakes.tiny_llama()


@pytest.fixture(scope="session")
def target(target_module):
    """The same, for our engine."""
    return LanguageModel(target_module)


@pytest.fixture(scope="session")
def draft_module(target_module):
    """A noisy copy of the target: some of its drafts match."""
    return fakes.near_copy(target_module)


@pytest.fixture(scope="session")
def draft(draft_module):
    """The same, for our engine."""
    return LanguageModel(draft_module)
