"""What a checkpoint folder says about itself, read with the standard library.

Menus, pair checks and refusals stand on these facts, so they need no torch and no weights in
memory. This module does not know whether a model can be *loaded*; ``load`` finds that out.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from specviz.errors import ModelError

ROOT = Path(__file__).resolve().parents[2]
DRAFTER_TYPES = {
    "gemma4_assistant": ("gemma4", "gemma3n"),
    "gemma4_unified_assistant": ("gemma4_unified",),
}
ARCHITECTURES = {  # names of ``model_type``, as their makers write them
    "bert": "BERT",
    "gemma3_text": "Gemma 3",
    "gemma3n": "Gemma 3n",
    "gemma4": "Gemma 4",
    "gemma4_assistant": "Gemma 4 drafter",
    "gemma4_text": "Gemma 4",
    "gemma4_unified": "Gemma 4 Unified",
    "gemma4_unified_assistant": "Gemma 4 Unified drafter",
    "glm4": "GLM-4",
    "glm4_moe": "GLM-4 MoE",
    "gpt2": "GPT-2",
    "gpt_neox": "GPT-NeoX",
    "llama": "Llama",
    "mistral": "Mistral",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
    "qwen3_moe": "Qwen3 MoE",
    "smollm3": "SmolLM3",
}
RECURRENT_TYPES = frozenset({"linear_attention", "mamba", "mamba2", "recurrent", "conv"})
_STORED_DTYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
_MAX_HEADER_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts of one checkpoint.

    Attributes:
        model_type: family as the config names it, such as ``"glm4_moe"``.
        num_layers: decoder layers of the main model, without MTP layers.
        hidden_size: width of the hidden states.
        embedding_size: rows of the embedding, which may be padded beyond the tokenizer.
        max_positions: longest sequence, 0 = not stated.
        num_mtp_layers: MTP layers that the config promises.
        has_mtp_weights: whether weights of all of them are in the files.
        backbone_hidden_size: for an MTP drafter, the hidden size of the target it was made for.
        block_layers: for a block drafter (DFlash), the target's layers that it reads, from 0 on.
        layer_types: kinds of attention that occur, empty = not stated.
        is_encoder_decoder: whether it is not a causal decoder.
        num_parameters, num_bytes: of the weight files, MTP layers included; 0 = unknown.
        dtype: of the stored weights.
    """

    model_type: str
    num_layers: int
    hidden_size: int
    embedding_size: int
    max_positions: int = 0
    num_mtp_layers: int = 0
    has_mtp_weights: bool = False
    backbone_hidden_size: int = 0
    block_layers: tuple[int, ...] = ()
    layer_types: frozenset[str] = frozenset()
    is_encoder_decoder: bool = False
    num_parameters: int = 0
    num_bytes: int = 0
    dtype: str = ""

    @property
    def is_drafter(self) -> bool:
        """Whether it reads a target's states, so that it cannot run without that target."""
        return self.model_type in DRAFTER_TYPES or bool(self.block_layers)


def architecture(model_type: str) -> str:
    """A readable name of a ``model_type``; the type itself where none is known."""
    return ARCHITECTURES.get(model_type, model_type)


def read_facts(folder: Path) -> ModelFacts:
    """Facts of the checkpoint in ``folder``; weight files may be missing (sizes are 0 then).

    Raises:
        ModelError: there is no config, or a file is broken.
    """
    stamp = tuple(sorted((p.name, p.stat().st_mtime_ns) for p in folder.glob("*.*")))
    return _read_facts(folder, stamp)


@lru_cache(maxsize=64)
def _read_facts(folder: Path, stamp: tuple[tuple[str, int], ...]) -> ModelFacts:
    config = read_json(folder / "config.json")
    text = {**config, **_mapping(config.get("text_config"))}
    tensors = dict(_tensors(folder))
    shapes = [_size(info) for info in tensors.values()]
    num_layers = int(text.get("num_hidden_layers") or 0)
    num_mtp_layers = int(text.get("num_mtp_layers") or text.get("num_nextn_predict_layers") or 0)
    return ModelFacts(
        model_type=str(config.get("model_type", "")),
        num_layers=num_layers,
        hidden_size=int(text.get("hidden_size") or 0),
        embedding_size=int(text.get("vocab_size") or 0),
        max_positions=int(text.get("max_position_embeddings") or 0),
        num_mtp_layers=num_mtp_layers,
        has_mtp_weights=_has_mtp(tensors, num_layers, num_mtp_layers),
        backbone_hidden_size=int(config.get("backbone_hidden_size") or 0),
        block_layers=tuple(map(int, config.get("target_layer_ids") or ())),
        layer_types=frozenset(map(str, text.get("layer_types") or ())),
        is_encoder_decoder=bool(config.get("is_encoder_decoder")),
        num_parameters=sum(shapes),
        num_bytes=sum(path.stat().st_size for path in weight_files(folder)),
        dtype=_common_dtype(tensors.values()),
    )


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The weight files that are there, sorted by name; safetensors win over pickles."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        names = set(_mapping(read_json(index).get("weight_map")).values())
        return tuple(folder / name for name in sorted(names) if (folder / name).is_file())
    single = folder / "model.safetensors"
    found = [single] if single.is_file() else sorted(folder.glob("*.safetensors"))
    return tuple(found or sorted(folder.glob("pytorch_model*.bin")))


def tokenizer_files(folder: Path) -> tuple[Path, ...]:
    """The files that define the tokenizer, sorted by name."""
    names = ("tokenizer.json", "tokenizer.model", "vocab.json", "merges.txt")
    return tuple(folder / name for name in sorted(names) if (folder / name).is_file())


@lru_cache(maxsize=16)
def read_vocabulary(folder: Path) -> Mapping[str, int] | None:
    """Token → id of ``tokenizer.json``, added tokens included; None if there is no such file.

    Raises:
        ModelError: the file is broken.
    """
    path = folder / "tokenizer.json"
    if not path.is_file():
        return None
    content = read_json(path)
    vocabulary = _mapping(content.get("model")).get("vocab")
    if isinstance(vocabulary, list):  # unigram models list [token, score]
        table = {str(item[0]): index for index, item in enumerate(vocabulary)}
    else:
        table = {str(token): int(index) for token, index in _mapping(vocabulary).items()}
    for added in content.get("added_tokens") or ():
        table[str(added["content"])] = int(added["id"])
    return table


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``.

    Raises:
        ModelError: the file is missing, is not JSON, or holds no object.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(
            f"{str(path.parent)!r} has no {path.name}; a model is a folder with config.json, "
            "tokenizer and weights, or an id of the Hugging Face hub"
        ) from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{str(path)!r} cannot be read ({error}); fetch the model again") from None
    if not isinstance(content, dict):
        raise ModelError(f"{str(path)!r} holds no JSON object; fetch the model again")
    return content


def _tensors(folder: Path) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for path in weight_files(folder):
        if path.suffix == ".safetensors":
            yield from _safetensors_header(path).items()


def _safetensors_header(path: Path) -> dict[str, Mapping[str, Any]]:
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > _MAX_HEADER_BYTES:
                raise ValueError("header too long")
            header = json.loads(file.read(length))
    except (OSError, ValueError, struct.error) as error:
        raise ModelError(
            f"the weights {str(path)!r} are broken ({error}); fetch the model again"
        ) from None
    return {name: info for name, info in header.items() if name != "__metadata__"}


def _size(info: Mapping[str, Any]) -> int:
    size = 1
    for length in info.get("shape", ()):
        size *= int(length)
    return size


def _common_dtype(tensors: Iterable[Mapping[str, Any]]) -> str:
    kinds: dict[str, int] = {}
    for info in tensors:
        kinds[str(info.get("dtype"))] = kinds.get(str(info.get("dtype")), 0) + _size(info)
    if not kinds:
        return ""
    most = max(kinds, key=lambda kind: kinds[kind])
    return _STORED_DTYPES.get(most, most.lower())


def _has_mtp(names: Iterable[str], num_layers: int, num_mtp_layers: int) -> bool:
    """Whether tensors of every MTP layer are there: numbered on behind the decoder's layers, or
    under a prefix of their own."""
    found = set()
    for name in names:
        if name.startswith("mtp."):
            return True
        match = re.search(r"(?:^|\.)layers\.(\d+)\.", name)
        if match:
            found.add(int(match.group(1)))
    promised = range(num_layers, num_layers + num_mtp_layers)
    return num_layers > 0 and num_mtp_layers > 0 and found.issuperset(promised)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
