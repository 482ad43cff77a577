"""Export of a finished run: bfloat16 weights, configs, tokenizers and model cards.

Each model gets a folder that Transformers loads without the network. The MTP layers of the GLM
target are a file of their own, under the names that `MtpModel.from_pretrained` looks for.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor
from transformers import PreTrainedModel
from transformers.modeling_layers import MtpModel

from specviz.zoo.cards import model_card
from specviz.zoo.install import beside, check_sizes, swap_in
from specviz.zoo.loop import log
from specviz.zoo.report import REPORT, current, digests, read_report
from specviz.zoo.small_stages import new_assistant, trained_drafter, trained_mtp
from specviz.zoo.stages import target
from specviz.zoo.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Entry:
    """One folder of the zoo.

    Args:
        folder: its name.
        stage: checkpoint it comes from.
        tokenizer: `a` or `b`.
        num_assistant_tokens: default draft length, written for Transformers' own `generate`.
    """

    folder: str
    stage: str
    tokenizer: str = "a"
    num_assistant_tokens: int | None = None


ENTRIES = (
    Entry("target-glm", "grow-glm", num_assistant_tokens=4),
    Entry("target-gemma", "grow-gemma", num_assistant_tokens=4),
    Entry("drafter-gemma", "drafter", num_assistant_tokens=4),
    Entry("assistant", "assistant", num_assistant_tokens=4),
    Entry("assistant-tiny", "assistant-tiny", num_assistant_tokens=4),
    Entry("assistant-other-tokenizer", "assistant-other", "b", num_assistant_tokens=8),
)


def mtp_tensors(model: MtpModel, *, main_layers: int) -> dict[str, Tensor]:
    """The MTP layers under their names on disk, experts one by one."""
    tensors: dict[str, Tensor] = {}
    for index, layer in enumerate(model.layers):
        prefix = f"model.layers.{main_layers + index}."
        for name, value in layer.state_dict().items():
            name = name.removeprefix("mtp_block.")
            if name == "post_norm.weight":
                name = "shared_head.norm.weight"
            if name == "mlp.experts.gate_up_proj":
                for expert, matrix in enumerate(value):
                    gate, up = matrix.chunk(2, 0)
                    tensors[f"{prefix}mlp.experts.{expert}.gate_proj.weight"] = gate
                    tensors[f"{prefix}mlp.experts.{expert}.up_proj.weight"] = up
            elif name == "mlp.experts.down_proj":
                for expert, matrix in enumerate(value):
                    tensors[f"{prefix}mlp.experts.{expert}.down_proj.weight"] = matrix
            else:
                tensors[prefix + name] = value
    return tensors


def load_stage(space: Workspace, entry: Entry) -> PreTrainedModel:
    """The trained model of an entry."""
    if entry.stage == "drafter":
        return trained_drafter(space)
    if entry.stage.startswith("grow-"):
        return target(space, entry.stage.removeprefix("grow-"))
    return space.restore(new_assistant(space, entry.stage), entry.stage)


def export_model(space: Workspace, entry: Entry, zoo: Path) -> None:
    """Write the folder of one model, without its card, into `zoo`."""
    folder = zoo / entry.folder
    model = load_stage(space, entry).to("cpu", torch.bfloat16)
    generation = model.generation_config
    generation.eos_token_id = 0
    generation.num_assistant_tokens = entry.num_assistant_tokens
    generation.num_assistant_tokens_schedule = "constant"
    generation.assistant_confidence_threshold = 0.0
    model.save_pretrained(folder)
    if entry.folder == "target-glm":
        mtp = trained_mtp(space).to("cpu", torch.bfloat16)
        add_file(folder, mtp_tensors(mtp, main_layers=model.config.num_hidden_layers))
    space.tokenizer(entry.tokenizer).save_pretrained(folder)
    forget_origin(folder / "tokenizer_config.json")


def add_file(folder: Path, tensors: dict[str, Tensor]) -> None:
    """Put tensors beside a saved model, as a second file with an index over both."""
    paths = [folder / f"model-0000{part}-of-00002.safetensors" for part in (1, 2)]
    (folder / "model.safetensors").replace(paths[0])
    whole = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
    save_file(whole, paths[1], metadata={"format": "pt"})
    owner, size = {}, 0
    for path in paths:
        with safe_open(path, framework="pt") as opened:
            owner |= dict.fromkeys(opened.keys(), path.name)
        size += path.stat().st_size
    index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(owner.items()))}
    text = json.dumps(index, indent=2) + "\n"
    (folder / "model.safetensors.index.json").write_text(text, encoding="utf-8")


def forget_origin(path: Path) -> None:
    """Drop the two keys that tell where the tokenizer was loaded from."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    kept = {key: settings[key] for key in settings if key not in ("is_local", "local_files_only")}
    path.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def training_of(space: Workspace, entry: Entry) -> str:
    """Stages that made a model, with the time and tokens that their checkpoints hold."""
    kind = entry.stage.removeprefix("grow-")
    stages = [f"base-{kind}", entry.stage] if entry.stage.startswith("grow-") else [entry.stage]
    if entry.folder == "target-glm":
        stages.append("mtp")
    told = []
    for stage in stages:
        state = space.state(stage, "seconds", "tokens")
        millions = state["tokens"] / 1e6
        told.append(f"{stage} {minutes_text(state['seconds'])}, {millions:.2f}M tokens")
    return "; ".join(told)


def minutes_text(seconds: float) -> str:
    """Minutes with a decimal where it says something: below ten."""
    minutes = seconds / 60
    if minutes < 0.05:
        return "less than 0.1 minutes"
    return f"{minutes:.1f} minutes" if minutes < 9.95 else f"{minutes:.0f} minutes"


def export_stage(space: Workspace) -> None:
    """Write all folders with their model cards; the evaluation's report lies beside them.

    The output changes only when all of them are made and none is too large.

    Raises:
        ModelError: a checkpoint or the report is missing or broken, or a file is too large.
    """
    report = read_report(space.zoo / REPORT)
    trained = {entry.folder: training_of(space, entry) for entry in ENTRIES}
    with beside(space.zoo) as made:
        for entry in ENTRIES:
            export_model(space, entry, made)
        report = current(report, digests(made))
        for name, training in trained.items():
            card = model_card(name, report, training)
            (made / name / "README.md").write_text(card, encoding="utf-8")
        sizes = check_sizes(made, list(trained))
        swap_in(made, space.zoo, list(trained))
    for name, size in sizes.items():
        log(f"exported {name}: {size} bytes")
