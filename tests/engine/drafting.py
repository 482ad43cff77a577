"""What the tests of the drafters that read the target share.

Recorded proposals of ``generate()`` as the oracle, a drafter that is watched while it works, and
many short runs for frequencies.
"""

from __future__ import annotations

import collections
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from specviz.config import DecodeConfig
from specviz.engine.context import Context
from specviz.engine.decode import Run
from specviz.engine.drafters import methods
from specviz.engine.drafters.base import Draft, Drafter, Parts
from specviz.engine.language_model import LanguageModel, Outputs
from specviz.engine.verifiers import GreedyMatch, rule_of
from specviz.events import Event
from tests import fakes

PROMPTS = {length: [(7 * i + 3) % 64 for i in range(length)] for length in (1, 2, 12, 30, 80)}
PROCESSED = {"temperature": 0.7, "top_k": 5, "top_p": 0.9, "repetition_penalty": 1.3}


def short(prompt: Sequence[int], vocab: int) -> list[int]:
    """The prompt with ids of a smaller vocabulary, so that random drafts are often right."""
    return [token % vocab for token in prompt]


def run(
    method: str, module: Any, drafter: nn.Module, prompt: list[int], **settings: Any
) -> list[Event]:
    """Events of a method that drafts with ``drafter``."""
    direct = settings.pop("direct", None)
    end_ids = settings.pop("end_ids", ())
    target = LanguageModel(module, end_ids, direct=direct)
    parts = Parts(target, DecodeConfig(**settings), drafter_model=drafter)
    return fakes.run_method(method, parts, prompt)


def proposals(prompt: Sequence[int], events: Sequence[Event]) -> dict[int, list[int]]:
    """Length of the text before each draft -> the drafted ids; steps without a draft left out."""
    found, length = {}, len(prompt)
    for step in fakes.steps(events):
        if step.proposed:
            found[length] = [token.id for token in step.proposed]
        length += len(step.committed_ids)
    return found


def record(monkeypatch: Any, generator: type) -> dict[int, list[int]]:
    """Makes a candidate generator of Transformers write its proposals into the dict returned."""
    found: dict[int, list[int]] = {}
    original = generator.get_candidates  # type: ignore[attr-defined]

    def recording(self: Any, input_ids: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        ids, logits = original(self, input_ids, *args, **kwargs)
        length = input_ids.shape[1]
        if ids.shape[1] > length:
            found[length] = ids[0, length:].tolist()
        return ids, logits

    monkeypatch.setattr(generator, "get_candidates", recording)
    return found


class Watched(Drafter):
    """Passes everything on; calls ``look(context, draft)`` after each draft."""

    def __init__(self, inner: Drafter, look: Callable[[Context, Draft], None]) -> None:
        self.inner, self.look, self.want = inner, look, inner.want
        self.outcomes: set[str] = set()
        self._drafted = 0

    def begin(self, context: Context, outputs: Outputs | None) -> None:
        """See ``Drafter``."""
        self.inner.begin(context, outputs)

    def propose(self, context: Context, gamma: int) -> Draft:
        """See ``Drafter``."""
        draft = self.inner.propose(context, gamma)
        self._drafted = len(draft.ids)
        if draft.ids:
            self.look(context, draft)
        return draft

    def commit(self, context: Context, outputs: Outputs, kept: int) -> None:
        """See ``Drafter``."""
        self.inner.commit(context, outputs, kept)
        if self._drafted:
            accepted = kept - 1
            full = "all" if accepted == self._drafted else "partial"
            self.outcomes.add(full if accepted else "none")


def watch(
    method: str, parts: Parts, prompt: list[int], look: Callable[[Context, Draft], None]
) -> Watched:
    """Run a method greedily and look at each of its drafts."""
    drafter = Watched(methods()[method].build(parts), look)
    fakes.run_with(drafter, GreedyMatch(), parts, prompt)
    return drafter


@torch.inference_mode()
def first_tokens(
    method: str, parts: Parts, prompt: list[int], *, draws: int, depth: int
) -> collections.Counter[tuple[int, ...]]:
    """How often each continuation of ``depth`` tokens came, over ``draws`` runs.

    The prompt is processed once and no events are made; each run starts drafter and loop anew
    behind the prompt, with the engine's own scoring and committing.
    """
    drafter = methods()[method].build(parts)
    rule = rule_of(methods()[method].card, parts.config)
    running = Run(prompt, drafter, rule, parts, fakes.text_of)
    context = running.context
    context.cache = parts.target.new_cache(context.capacity)
    prefilled = parts.target.prefill(prompt[:-1], context.cache, drafter.want)
    counts: collections.Counter[tuple[int, ...]] = collections.Counter()
    for _ in range(draws):
        del context.ids[len(prompt) :]
        context.cache.crop(min(context.cache.length, len(prompt) - 1))
        drafter.begin(context, prefilled)
        while len(context.new_ids) < depth:
            gamma = min(parts.config.gamma, context.remaining - 1)
            draft = drafter.propose(context, gamma) if gamma else Draft()
            outputs = running._score(draft)
            scores = context.processors.scores(outputs.logits, context.ids, draft.ids)
            running._commit(draft, running.verifier.judge(draft, scores, context.rng), outputs)
        counts[tuple(context.new_ids[:depth])] += 1
    return counts


def fingerprint(*modules: Any) -> str:
    """A digest of all weights, configs and generation configs."""
    digest = hashlib.sha256()
    for module in modules:
        for name, tensor in sorted(module.state_dict().items()):
            digest.update(name.encode() + tensor.numpy().tobytes())
        digest.update(module.config.to_json_string().encode())
        if getattr(module, "generation_config", None) is not None:
            digest.update(module.generation_config.to_json_string().encode())
    return digest.hexdigest()
