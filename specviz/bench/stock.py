"""The same decoding by ``transformers.generate()``: one call per method, with equal settings.

``generate()`` reads draft lengths from generation configs, moves some of them while it runs, edits
the model's config for early exit, and hangs hooks into modules. So it gets twins: modules and
configs of their own around the weights of the loaded models, which stay as they are.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from transformers.modeling_layers import MtpModel
from transformers.utils import logging as transformers_logging

from specviz.live import LiveRun

Generate = Callable[[], tuple[int, ...]]


def stock_call(run: LiveRun) -> Generate:
    """A function that decodes the prompt of a greedy run with ``generate()``, by the same method.

    Returns:
        A function without arguments that returns the new ids.

    Raises:
        ValueError: the run samples, or its method has no counterpart.
    """
    plan = run.plan
    config = plan.request.config
    if not config.greedy:
        raise ValueError("only greedy runs can be compared id by id")
    target = twin(run.target.module, config.gamma)
    inputs = torch.tensor([run.prompt_ids], device=target.device)
    options: dict[str, Any] = {
        "attention_mask": torch.ones_like(inputs),
        "max_new_tokens": config.max_new_tokens,
        "do_sample": False,
        "use_cache": True,
        **_method_options(run, plan.drafting.key),
    }
    if plan.drafting is not plan.card:
        options["assistant_ensemble_weight"] = config.ensemble_weight
    layers = run.target.mtp_layers if options.get("use_mtp") else None

    def call() -> tuple[int, ...]:
        with _quiet(), _mtp_layers_at_hand(layers):
            found = target.generate(inputs, **options)
        return tuple(found[0, inputs.shape[1] :].tolist())

    return call


def twin(module: Any, gamma: int) -> Any:
    """A copy of a model that shares nothing with it but the weights, ready for ``generate()``.

    Args:
        module: a loaded model; not changed.
        gamma: draft length for ``generate()``, constant and without a confidence stop.
    """
    own = {id(weight): weight for weight in (*module.parameters(), *module.buffers())}
    other = copy.deepcopy(module, own)  # what stands in the memo is not copied
    generation = other.generation_config
    generation.num_assistant_tokens = gamma
    generation.num_assistant_tokens_schedule = "constant"
    generation.assistant_confidence_threshold = 0.0
    return other


def _method_options(run: LiveRun, method: str) -> dict[str, Any]:
    """What ``generate()`` wants to hear for a method."""
    config = run.plan.request.config
    draft = None if run.draft is None else twin(run.draft.module, config.gamma)
    match method:
        case "plain":
            return {}
        case "prompt_lookup":
            return {
                "prompt_lookup_num_tokens": config.gamma,
                "max_matching_ngram_size": config.ngram,
            }
        case "early_exit":
            return {"assistant_early_exit": config.exit_layer}
        case "mtp_layers":
            return {"use_mtp": True}
        case "speculative" | "mtp_drafter":
            return {"assistant_model": draft}
        case "universal":
            assert run.draft is not None
            tokenizers = (run.target.tokenizer, run.draft.tokenizer)
            names = ("tokenizer", "assistant_tokenizer")
            return {"assistant_model": draft, **dict(zip(names, tokenizers, strict=True))}
    raise ValueError(f"generate() has no counterpart of {method!r} here")


@contextmanager
def _mtp_layers_at_hand(layers: Any | None) -> Iterator[None]:
    """Within, ``generate()`` takes the loaded MTP layers; else it reads its files on every call."""
    if layers is None:
        yield
        return
    with patch.object(MtpModel, "from_pretrained", lambda *args, **options: layers):
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep advice on options that ``generate()`` passes to itself off the terminal."""
    verbosity = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers_logging.set_verbosity(verbosity)
