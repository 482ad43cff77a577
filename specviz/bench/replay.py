"""The forward passes of a run, recorded and called again with nothing between them.

What is recorded are the calls that do arithmetic of a model, at the lowest level where each is one
call: layers, norm and head of the direct pass, or a module's ``forward``, MTP layers and drafters
likewise. Called again with the same inputs they cost what the run cannot do without; sampling,
judging, committing and events are left out. Classes are patched while a run is recorded, and put
back whatever happens.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any
from unittest.mock import patch

import torch

from specviz.engine.assistant import DirectAssistant, ModuleAssistant
from specviz.engine.cache import ModuleCache
from specviz.engine.direct import DirectDecoder, DirectLayers
from specviz.engine.language_model import LanguageModel
from specviz.engine.mtp import DirectMtp, ModuleMtp

FORWARDS: tuple[tuple[type, str], ...] = (
    (DirectLayers, "run"),
    (DirectDecoder, "embed"),
    (DirectDecoder, "norm"),
    (DirectDecoder, "head"),
    (DirectMtp, "run"),
    (DirectMtp, "logits"),
    (DirectAssistant, "step"),
    (LanguageModel, "_forward_module"),
    (ModuleMtp, "run"),
    (ModuleMtp, "logits"),
    (ModuleAssistant, "step"),
    (ModuleCache, "extend"),  # a module's cache is part of its forward: it grows and is cropped
    (ModuleCache, "crop"),
)


@dataclass(slots=True)
class Recording:
    """The forward passes of one run, in order.

    Attributes:
        calls: what to call again, inputs included.
        caches: the caches of modules with a copy of each from before its first use. Caches of the
            direct pass are written by position, so they need no reset.
    """

    calls: list[Callable[[], Any]] = field(default_factory=list)
    caches: list[tuple[ModuleCache, Any]] = field(default_factory=list)
    depth: int = 0

    def reset(self) -> None:
        """Empty the caches; to be called before each ``replay``, outside its timing."""
        for cache, empty in self.caches:
            cache.inner = copy.deepcopy(empty)
            cache._length = 0

    @torch.inference_mode()
    def replay(self) -> None:
        """Call every forward pass again."""
        for call in self.calls:
            call()


@contextmanager
def recorded() -> Iterator[Recording]:
    """Record the forward passes of all runs inside the block."""
    recording = Recording()
    with ExitStack() as stack:
        for owner, name in FORWARDS:
            real = owner.__dict__[name]
            stack.enter_context(patch.object(owner, name, _watched(recording, real)))
        begin = ModuleCache.__init__

        def noted(self: ModuleCache, *args: Any, **options: Any) -> None:
            begin(self, *args, **options)
            recording.caches.append((self, copy.deepcopy(self.inner)))

        stack.enter_context(patch.object(ModuleCache, "__init__", noted))
        yield recording


def _watched(recording: Recording, real: Callable[..., Any]) -> Callable[..., Any]:
    """``real``, which also notes its calls unless it is called by another noted one."""

    @wraps(real)
    def call(*args: Any, **options: Any) -> Any:
        if recording.depth:
            return real(*args, **options)
        kept = tuple(list(arg) if isinstance(arg, list) else arg for arg in args)
        recording.calls.append(partial(real, *kept, **options))
        recording.depth += 1
        try:
            return real(*args, **options)
        finally:
            recording.depth -= 1

    return call
