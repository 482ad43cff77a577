"""Loading of exported folders for the evaluation, in float32."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerBase
from transformers.modeling_layers import MtpModel
from transformers.models.gemma4_assistant import Gemma4AssistantForCausalLM
from transformers.utils import logging

from specviz.errors import ModelError
from specviz.zoo.tokenizer import load_tokenizer

CAUSAL = ("target-glm", "target-gemma", "assistant", "assistant-tiny", "assistant-other-tokenizer")
DRAFTER = "drafter-gemma"
ADVICE = "run the recipe with --stage export, or name another zoo (--models)"


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
    """Load the whole zoo.

    Raises:
        ModelError: a folder is missing or broken.
    """
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    models = {name: _loaded(folder / name, load_causal) for name in CAUSAL}
    models[DRAFTER] = _loaded(folder / DRAFTER, load_drafter)
    glm = models["target-glm"]
    mtp = _loaded(folder / "target-glm", lambda _: MtpModel.from_pretrained(glm))
    other = folder / "assistant-other-tokenizer"
    tokenizers = [load_tokenizer(path, advice=ADVICE) for path in (folder / "target-glm", other)]
    return Exported(models, mtp.eval(), *tokenizers)


def load_drafter(folder: Path) -> Any:
    """Load the drafter in float32."""
    return Gemma4AssistantForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


def _loaded(folder: Path, load: Callable[[Path], Any]) -> Any:
    # Asked first: Transformers would look for a folder that is not there on the hub.
    if not (folder / "config.json").is_file():
        raise ModelError(f"there is no exported model in {folder}; {ADVICE}")
    try:
        return load(folder)
    except PermissionError:
        raise
    except Exception as error:
        raise ModelError(f"the model in {folder} is broken or cut short; {ADVICE}") from error
