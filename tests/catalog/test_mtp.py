"""MTP layers on disk: found, loaded once without a warning, refused with a reason."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from specviz.catalog.folders import read_facts
from specviz.catalog.load import forget_models, load
from specviz.catalog.locate import locate
from specviz.catalog.pairing import check_target
from specviz.config import DecodeConfig
from specviz.engine import methods
from specviz.engine.drafters.base import Parts
from specviz.errors import MethodError
from tests.checkpoints import save_checkpoint
from tests.fakes import generated, mtp_layers, new_ids, run_method, tiny_glm

PROMPT = [5, 9, 3, 17, 40, 2, 8, 8, 21]


def on_disk(layers, first: int) -> dict[str, torch.Tensor]:
    """Tensors of MTP layers under the names of a checkpoint, expert by expert."""
    found = {}
    for name, tensor in layers.layers.state_dict().items():
        index, rest = name.split(".", 1)
        prefix = f"model.layers.{first + int(index)}."
        rest = rest.replace("post_norm.", "shared_head.norm.").removeprefix("mtp_block.")
        if rest == "mlp.experts.gate_up_proj":
            for expert, both in enumerate(tensor):
                for part, half in zip(("gate", "up"), both.chunk(2), strict=True):
                    found[f"{prefix}mlp.experts.{expert}.{part}_proj.weight"] = half.clone()
        elif rest == "mlp.experts.down_proj":
            for expert, matrix in enumerate(tensor):
                found[f"{prefix}mlp.experts.{expert}.down_proj.weight"] = matrix.clone()
        else:
            found[prefix + rest] = tensor.clone()
    return found


def save_glm(folder: Path, *, kept: int) -> Path:
    """A GLM of three layers that promises two MTP layers, with the tensors of ``kept`` of them."""
    module = tiny_glm(vocab=320, num_mtp=2, dtype=torch.float32)
    extra = on_disk(mtp_layers(module, 2), 3)
    save_checkpoint(folder, module)
    weights = load_file(folder / "model.safetensors")
    weights |= {k: v for k, v in extra.items() if int(k.split(".")[2]) < 3 + kept}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.fixture(autouse=True)
def nothing_is_kept():
    yield
    forget_models()


def test_layers_of_a_small_model_load_without_a_word_and_decode(tmp_path, capfd):
    """The published depths are not needed, and generate() from the same folder agrees."""
    place = locate(str(save_glm(tmp_path, kept=2)))
    capfd.readouterr()  # saving draws a bar
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = load(place, status=lambda text: None)
    assert capfd.readouterr() == ("", "")
    assert len(loaded.mtp_layers.layers) == 2
    parts = Parts(
        loaded.language_model,
        DecodeConfig(max_new_tokens=12),
        drafter_model=loaded.mtp_layers,
    )
    ids = new_ids(run_method("mtp_layers", parts, PROMPT))
    module = loaded.module
    assert ids == generated(module, PROMPT, 12)
    module._keys_to_ignore_on_load_unexpected = [r"model\.layers\.[34]\..*"]
    assert ids == generated(module, PROMPT, 12, use_mtp=True)


@pytest.mark.parametrize("kept", [0, 1])
def test_a_folder_that_lacks_layers_is_refused_for_mtp_and_serves_the_rest(tmp_path, kept):
    """U27: a sentence before the run, no traceback; plain decoding still works."""
    place = locate(str(save_glm(tmp_path, kept=kept)))
    facts = read_facts(tmp_path)
    assert facts.num_mtp_layers == 2 and not facts.has_mtp_weights
    with pytest.raises(MethodError, match="promises 2 multi-token-prediction layers, but the"):
        check_target(methods()["mtp_layers"].card, "my-glm", facts)
    loaded = load(place, status=lambda text: None)
    assert loaded.mtp_layers is None
    parts = Parts(loaded.language_model, DecodeConfig(max_new_tokens=3))
    assert len(new_ids(run_method("plain", parts, PROMPT))) == 3
