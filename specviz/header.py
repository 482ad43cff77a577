"""What is known of a run before its first forward pass: the header of its trace.

Everything comes from what was really loaded and chosen, not from what was asked.
"""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import torch
import transformers

from specviz.catalog.load import LoadedModel
from specviz.engine.drafters import methods
from specviz.engine.verifiers import rule_of
from specviz.events import PromptToken, RunHeader
from specviz.plans import effective_settings
from specviz.version import __version__

if TYPE_CHECKING:
    from specviz.live import LiveRun


def header_of(run: LiveRun) -> RunHeader:
    """Provenance, settings in force, method, models and prompt of a run that is about to start."""
    plan = run.plan
    config = plan.request.config
    card = methods()[plan.card.key].card
    rule = rule_of(card, config)
    target = run.target.language_model
    assert target is not None
    tokens: tuple[PromptToken, ...] = run.texts.prompt(run.prompt_ids)
    return RunHeader(
        provenance={
            "kind": "measured",
            "specviz": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "device": _device_name(run.target.device),
            "dtype": run.target.dtype,
            "threads": target.num_threads,
            "threads_why": run.target.threads.sentence if run.target.threads else None,
            "forward": target.path_note,
        },
        request=effective_settings(plan),
        method={
            "key": card.key,
            "title": card.title,
            "drafter": plan.drafting.key,
            "rule": rule.key,
            "lossless": card.lossless and rule.lossless,
        },
        models={
            "target": _model_record(run.target),
            "draft": _model_record(run.draft) if run.draft is not None else None,
        },
        prompt_text=plan.request.prompt,
        prompt_tokens=tokens,
        load_s=run.load_s,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _model_record(loaded: LoadedModel) -> dict[str, Any]:
    return {
        "id": loaded.place.id,
        "source": loaded.place.source,
        "sha256": loaded.weights_sha256,
        "parameters": loaded.num_parameters,
        "bytes": loaded.num_bytes,
        "memory_bytes": loaded.memory_bytes,
        "tokenizer_sha256": loaded.tokenizer_sha256,
        "device": loaded.device,
        "dtype": loaded.dtype,
    }


def _device_name(device: str) -> str:
    if device.startswith("cuda"):
        return f"{device} ({torch.cuda.get_device_name(torch.device(device))})"
    return f"{device} ({platform.processor() or platform.machine()})"
