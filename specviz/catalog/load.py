"""The only place where weights are loaded; one locked cache for the whole process.

A loaded model is shared by every session and never changed afterwards. Loading is never part of a
run's timing; the seconds it took are kept beside it. Embedded models and wheels load without the
network.
"""

from __future__ import annotations

import io
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from specviz.catalog.devices import DTYPES, memory_bytes, pick_device, pick_dtype
from specviz.catalog.digests import sha256_of
from specviz.catalog.folders import ModelFacts, tokenizer_files, weight_files
from specviz.catalog.locate import Place, Status, fetch_description, fetch_weights
from specviz.catalog.mtp import load_mtp_layers
from specviz.catalog.threads import ThreadChoice, choose_threads, few_threads
from specviz.engine.language_model import LanguageModel
from specviz.errors import ModelError

MAX_LOADED = 12  # beyond it the model used longest ago is dropped from the cache


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory; everything in it is shared and read-only.

    Attributes:
        place: where it came from.
        facts: what its files say.
        module: the Transformers module.
        language_model: the engine's view of it, None for a drafter.
        tokenizer: its own tokenizer, None for a drafter without one.
        mtp_layers: its multi-token-prediction layers, None if it has none.
        device, dtype: where and how it was loaded, ``"auto"`` resolved.
        weights_sha256, tokenizer_sha256: of the files.
        num_parameters, num_bytes: of the weight files.
        memory_bytes: of the weights in memory, MTP layers included; tied ones count once.
        load_s: seconds it took, hashing and measurement included.
        threads: how the number of threads was chosen, None off the CPU and for a drafter.
    """

    place: Place
    facts: ModelFacts
    module: Any
    language_model: LanguageModel | None
    tokenizer: Any
    mtp_layers: Any | None
    device: str
    dtype: str
    weights_sha256: str
    tokenizer_sha256: str
    num_parameters: int
    num_bytes: int
    memory_bytes: int
    load_s: float
    threads: ThreadChoice | None

    @property
    def key(self) -> tuple[str, str, str]:
        """Its key in the cache: id, device, dtype."""
        return (self.place.id, self.device, self.dtype)


_cache: OrderedDict[tuple[str, str, str], LoadedModel] = OrderedDict()
_tokenizers: dict[tuple[str, str | None], Any] = {}
_lock = threading.Lock()  # guards the cache, never held for long
_loading = threading.RLock()  # one load at a time; what is loaded is handed out meanwhile


def load(place: Place, *, device: str = "auto", dtype: str = "auto", status: Status) -> LoadedModel:
    """The model at ``place``, from the cache or from disk.

    Args:
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        dtype: ``auto`` (bfloat16 on a GPU, float32 on a CPU) or a name of torch.
        status: is told in words what takes time.

    Raises:
        SettingError: device or dtype do not exist here.
        ModelError: the files cannot be loaded, or weights are missing from them.
    """
    where = pick_device(device)
    kind = pick_dtype(dtype, where)
    key = (place.id, where, kind)
    found = _cached(key)
    if found is not None:
        return found
    with _loading:
        found = _cached(key)  # another thread may have loaded it meanwhile
        if found is None:
            found = _load(place, where, kind, status)
            with _lock:
                _cache[key] = found
                while len(_cache) > MAX_LOADED:
                    _cache.popitem(last=False)
        return found


def load_tokenizer(place: Place, status: Status) -> Any:
    """The tokenizer at ``place`` alone, so that prompts and pairs are checked before weights load.

    Raises:
        ModelError: it cannot be read.
    """
    place = fetch_description(place, status)
    key = (str(place.folder), place.gguf_file)
    found = _tokenizers.get(key)
    if found is not None:
        return found
    with _loading:
        if key not in _tokenizers:
            status(f"Reading the tokenizer of {place.id}")
            with _quiet(), _as_model_error(place):
                _tokenizers[key] = AutoTokenizer.from_pretrained(
                    place.folder,
                    local_files_only=True,
                    clean_up_tokenization_spaces=False,
                    **_gguf(place),
                )
        return _tokenizers[key]


def has_tokenizer(place: Place) -> bool:
    """False only for a drafter that comes without one: it speaks its target's ids."""
    facts = place.facts
    is_drafter = facts is not None and facts.is_drafter
    return not is_drafter or bool(tokenizer_files(_folder(place)))


def forget_models() -> None:
    """Drop every loaded model and tokenizer; runs in progress keep theirs until they end."""
    with _lock:
        _cache.clear()
        _tokenizers.clear()


def _cached(key: tuple[str, str, str]) -> LoadedModel | None:
    with _lock:
        found = _cache.get(key)
        if found is not None:
            _cache.move_to_end(key)
        return found


def _load(place: Place, device: str, dtype: str, status: Status) -> LoadedModel:
    start = time.perf_counter()
    place = fetch_weights(place, status)
    facts = place.facts
    assert facts is not None
    tokenizer = load_tokenizer(place, status) if has_tokenizer(place) else None
    status(f"Loading {place.id} on {device}, {dtype}")
    module = _load_module(place, facts, device, dtype)
    mtp_layers = None
    if facts.num_mtp_layers and facts.has_mtp_weights:
        with _quiet(), _as_model_error(place):
            mtp_layers = load_mtp_layers(module, facts.num_layers, facts.num_mtp_layers)
    language_model, threads = None, None
    if not facts.is_drafter:
        with _as_model_error(place), few_threads(module):
            language_model = LanguageModel(module, _end_ids(module, tokenizer))
        status(f"Measuring {place.id}")
        threads = choose_threads(language_model)
    files = _files(place)
    return LoadedModel(
        place=place,
        facts=facts,
        module=module,
        language_model=language_model,
        tokenizer=tokenizer,
        mtp_layers=mtp_layers,
        device=device,
        dtype=dtype,
        weights_sha256=sha256_of(files),
        tokenizer_sha256=sha256_of(tokenizer_files(_folder(place)) or files),
        num_parameters=facts.num_parameters or sum(p.numel() for p in module.parameters()),
        num_bytes=facts.num_bytes,
        memory_bytes=memory_bytes(module, mtp_layers),
        load_s=time.perf_counter() - start,
        threads=threads,
    )


def _load_module(place: Place, facts: ModelFacts, device: str, dtype: str) -> Any:
    options: dict[str, Any] = {"dtype": DTYPES[dtype], "local_files_only": True}
    if dtype == "float64":
        options["experts_implementation"] = "eager"  # the grouped kernel knows no float64
    if device.startswith("cuda") and _too_large(facts, device, dtype):
        forget_models()  # what no run holds any more makes room
        torch.cuda.empty_cache()
        if _too_large(facts, device, dtype):
            options["device_map"] = "auto"  # spread by accelerate over GPUs and memory
    loader = AutoModelForCausalLM
    if facts.is_drafter:
        loader = _drafter_class(place)
    with _quiet(), _as_model_error(place):
        module, info = loader.from_pretrained(
            place.folder, output_loading_info=True, **options, **_gguf(place)
        )
    lacking = sorted(info["missing_keys"]) + sorted(str(k) for k in info["mismatched_keys"])
    if lacking:
        raise ModelError(
            f"the files of {place.id!r} lack {len(lacking)} weights, the first is {lacking[0]!r}; "
            "choose a complete checkpoint"
        )
    module = module.eval().requires_grad_(False)
    return module if "device_map" in options else module.to(device)


def _drafter_class(place: Place) -> Any:
    config = transformers.AutoConfig.from_pretrained(place.folder, local_files_only=True)
    return getattr(transformers, config.architectures[0])


def _too_large(facts: ModelFacts, device: str, dtype: str) -> bool:
    """Whether weights (and a tenth for caches) exceed the free memory of one GPU."""
    need = facts.num_parameters * DTYPES[dtype].itemsize
    free, _total = torch.cuda.mem_get_info(torch.device(device))
    return need * 1.1 > free


def _end_ids(module: Any, tokenizer: Any) -> tuple[int, ...]:
    """End tokens as ``generate`` takes them: the generation config's, else the tokenizer's."""
    ends = module.generation_config.eos_token_id
    if ends is None:
        ends = tokenizer.eos_token_id
    if ends is None:
        return ()
    return tuple(ends) if isinstance(ends, (list, tuple)) else (int(ends),)


def _files(place: Place) -> tuple[Path, ...]:
    folder = _folder(place)
    return (folder / place.gguf_file,) if place.gguf_file else weight_files(folder)


def _folder(place: Place) -> Path:
    assert place.folder is not None
    return place.folder


def _gguf(place: Place) -> dict[str, str]:
    return {"gguf_file": place.gguf_file} if place.gguf_file else {}


@contextmanager
def _as_model_error(place: Place) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, TypeError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelError(
            f"{place.id!r} cannot be loaded ({lines[0][:200]}); choose a causal language model "
            "that this version of Transformers knows"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Transformers' progress bars and load reports off the terminal; we check the keys.

    Its bar for GGUF files obeys no setting, so the error stream is held back as well.
    """
    verbosity = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()
