"""Reading and writing of the files of a run; a broken one is told in a sentence.

A file is written under another name and then renamed, so what has its own name is whole unless
somebody else cut it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from specviz.errors import ModelError

MISFITS = (RuntimeError, ValueError, TypeError, KeyError, AttributeError, IndexError)
"""What PyTorch raises when a state does not fit the module that it is loaded into."""


def maker(checkpoint: str) -> str:
    """Name of the stage that writes a checkpoint: a target is what `average` keeps."""
    return checkpoint.replace("target-", "average-")


def save_state(state: Mapping[str, Any], path: Path) -> None:
    """Write a state as a whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    torch.save(dict(state), part)
    part.replace(path)


def read_state(path: Path, *keys: str, stage: str, device: str = "cpu") -> dict[str, Any]:
    """Read a checkpoint or token stream.

    Args:
        path: the file.
        keys: what the state must hold.
        stage: the stage that makes the file.
        device: where its tensors go.

    Raises:
        ModelError: the file is missing, broken, or something else.
    """
    if not path.is_file():
        raise ModelError(f"there is no file {path}; run the recipe with --stage {stage} first")
    try:
        state = torch.load(path, weights_only=True, map_location=device)
    except PermissionError:
        raise
    except Exception as error:
        raise ModelError(broken(path, stage=stage)) from error
    if not isinstance(state, dict) or not _holds(state, keys):
        raise ModelError(broken(path, stage=stage))
    return state


def _holds(state: Mapping[str, Any], keys: Sequence[str]) -> bool:
    module = state.get("module", {})
    named = isinstance(module, dict) and all(isinstance(t, Tensor) for t in module.values())
    return named and all(key in state for key in keys)


def broken(path: Path, *, stage: str) -> str:
    """The sentence about a file that is there and not what its stage writes."""
    return (
        f"{path} is broken, cut short or of another kind; only what the stage {stage} wrote can be "
        f"read; remove it and run the recipe with --stage {stage}"
    )


@contextmanager
def fitting(path: Path) -> Iterator[None]:
    """Tell in a sentence that a state does not fit the module it is loaded into.

    Raises:
        ModelError: it does not.
    """
    try:
        yield
    except MISFITS as error:
        raise ModelError(
            f"{path} does not fit the model of this run; a folder holds one size and one pair of "
            "tokenizers; use the --size that it was made with, or another --run folder"
        ) from error
