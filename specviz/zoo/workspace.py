"""The folder of a run: where each stage finds what it needs and leaves what it makes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from specviz.zoo.data import TokenStream, Windows
from specviz.zoo.model import FULL, ZooSize
from specviz.zoo.stored import fitting, maker, read_state
from specviz.zoo.tokenizer import load_tokenizer


@dataclass(frozen=True, slots=True)
class Workspace:
    """Settings of a run and the paths that follow from them.

    Args:
        folder: checkpoints, token streams and tokenizers.
        size: the size dial.
        prose: plain text file of public-domain prose, or None.
        device: `cpu` or `cuda`.
        seed: seed of all draws.
        compiled: use compiled layers.
        output: folder of the exported zoo; None: `zoo` in the folder of the run.
    """

    folder: Path
    size: ZooSize = FULL
    prose: Path | None = None
    device: str = "cpu"
    seed: int = 0
    compiled: bool = True
    output: Path | None = None

    @property
    def zoo(self) -> Path:
        """Folder of the exported zoo."""
        return self.folder / "zoo" if self.output is None else self.output

    def tokenizer_folder(self, name: str) -> Path:
        """Folder of tokenizer `a` or `b`."""
        return self.folder / f"tokenizer-{name}"

    def tokenizer(self, name: str) -> PreTrainedTokenizerBase:
        """Load tokenizer `a` or `b`."""
        advice = "run the recipe with --stage corpus"
        return load_tokenizer(self.tokenizer_folder(name), advice=advice)

    def stream_path(self, part: str, tokenizer: str) -> Path:
        """File of the token stream of `train` or `held-out`."""
        return self.folder / f"{part}-{tokenizer}.tokens"

    def windows(self, part: str, tokenizer: str, *, seed: int) -> Windows:
        """Windows over the stream of `train` or `held-out`."""
        stream = TokenStream.load(self.stream_path(part, tokenizer))
        wanted = self.size.length_b if tokenizer == "b" else self.size.length
        length = min(wanted, len(stream.ids) // 2)
        return Windows(stream, length=length, seed=self.seed + seed, device=self.device)

    def checkpoint(self, stage: str) -> Path:
        """Checkpoint file of a stage."""
        return self.folder / f"{stage}.pt"

    def drop_stale(self, stage: str, inputs: tuple[str, ...]) -> str | None:
        """Set the checkpoint of a stage aside if one of its inputs was written after it.

        It stays in the folder as `.stale`: a copied folder may have new times for old work.

        Returns:
            The newer input, or None where the checkpoint may stay.
        """
        made = self.checkpoint(stage)
        if not made.exists():
            return None
        for name in inputs:
            path = self.checkpoint(name)
            if path.exists() and path.stat().st_mtime_ns > made.stat().st_mtime_ns:
                made.replace(made.with_suffix(".stale"))
                return name
        return None

    def state(self, checkpoint: str, *keys: str) -> dict[str, Any]:
        """What a stage saved; refused where it lacks a key.

        Raises:
            ModelError: the checkpoint is missing or broken.
        """
        path, stage = self.checkpoint(checkpoint), maker(checkpoint)
        return read_state(path, "module", *keys, stage=stage, device=self.device)

    def restore(self, model: PreTrainedModel, stage: str) -> PreTrainedModel:
        """Load what a stage trained into `model`, frozen for use by a later one."""
        state = self.state(stage)
        with fitting(self.checkpoint(stage)):
            model.load_state_dict(state["module"])
        return model.to(self.device)
