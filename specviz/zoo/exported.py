"""Loading of exported folders for the evaluation, in float32."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerBase
from transformers.modeling_layers import MtpModel
from transformers.models.gemma4_assistant import Gemma4AssistantForCausalLM
from transformers.utils import logging

from specviz.zoo.tokenizer import load_tokenizer

CAUSAL = ("target-glm", "target-gemma", "assistant", "assistant-tiny", "assistant-other-tokenizer")


@dataclass(frozen=True, slots=True)
class Exported:
    """All models of a zoo folder.

    Args:
        models: folder name to model.
        mtp: the MTP layers of `target-glm`.
        tokenizer: tokenizer A.
        other_tokenizer: tokenizer B.
    """

    models: dict[str, Any]
    mtp: MtpModel
    tokenizer: PreTrainedTokenizerBase
    other_tokenizer: PreTrainedTokenizerBase


def load_causal(folder: Path) -> Any:
    """Load one causal language model in float32, ready for `generate(use_mtp=True)`."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    extra = getattr(model.config, "num_mtp_layers", None) or 0
    if extra:
        first = model.config.num_hidden_layers
        # The class knows only the layer numbers of the large public checkpoints.
        model._keys_to_ignore_on_load_unexpected = [
            rf"model\.layers\.{first + index}\..*" for index in range(extra)
        ]
    return model


def load_exported(folder: Path) -> Exported:
    """Load the whole zoo."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    models = {name: load_causal(folder / name) for name in CAUSAL if (folder / name).exists()}
    drafter = Gemma4AssistantForCausalLM.from_pretrained(
        folder / "drafter-gemma", dtype=torch.float32
    )
    models["drafter-gemma"] = drafter.eval()
    return Exported(
        models,
        MtpModel.from_pretrained(models["target-glm"]).eval(),
        load_tokenizer(folder / "target-glm"),
        load_tokenizer(folder / "assistant-other-tokenizer"),
    )
