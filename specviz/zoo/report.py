"""The report of an evaluation: figures by part and model, and which weights each was measured on.

`weights` in the file maps "part model" to a digest of the weights. Figures of other weights are
dropped; those without a digest are from before there was one, and stay.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specviz.errors import ModelError, SettingError
from specviz.zoo.loop import log

REPORT = "evaluation.json"
INSTALLED = Path(__file__).resolve().parents[2] / "assets" / "models"
WEIGHTS = "weights"
ALONE, BESIDE_DRAFTS = ("loss", "exact", "fields"), ("rates", "speed")
"""Parts measured on a model alone, and on a target with the models that draft for it."""
DRAFTS = ("assistant", "assistant-tiny", "assistant-other-tokenizer")
DRAFTERS = {"target-gemma": ("drafter-gemma",)}


def check_place(path: Path) -> None:
    """Refuse a path that no report can be written to, before anything is measured.

    Raises:
        SettingError: it is a folder, or lies in none.
        ModelError: what is there is no report.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise SettingError(
            f"the report cannot be written to {path}; it must be a file in a folder that exists; "
            "choose another one (--report)"
        )
    read_report(path)


def read_report(path: Path) -> dict[str, Any]:
    """Read a report; empty where there is none.

    Raises:
        ModelError: the file is no report.
    """
    if not path.exists():
        return {}
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        report = None
    if not isinstance(report, dict) or not all(isinstance(part, dict) for part in report.values()):
        raise ModelError(
            f"{path} is no report of the zoo's evaluation, or cut short; a report is a JSON object "
            "of objects; remove the file or restore it"
        )
    return report


def write_report(path: Path, report: Mapping[str, Any]) -> None:
    """Write a report as a whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(report, indent=1), encoding="utf-8")
    part.replace(path)


def digests(zoo: Path) -> dict[str, str]:
    """SHA-256 of the weights in each folder of an exported zoo."""
    found: dict[str, str] = {}
    for folder in sorted(path for path in zoo.iterdir() if path.is_dir()):
        weights = sorted(folder.glob("*.safetensors"))
        if weights:
            found[folder.name] = _sha256(*(path.read_bytes() for path in weights))
    return found


def _sha256(*parts: bytes) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.hexdigest()


def fingerprint(part: str, model: str, of: Mapping[str, str]) -> str:
    """Digest of all weights that the figures of a model in a part of the report depend on."""
    folders = [model]
    if part in BESIDE_DRAFTS:
        folders += [*DRAFTS, *DRAFTERS.get(model, ())]
    return _sha256(*(f"{name} {of.get(name)}\n".encode() for name in folders))


def current(report: Mapping[str, Any], of: Mapping[str, str]) -> dict[str, Any]:
    """The report without figures that are known to be of other weights.

    Args:
        report: what was read.
        of: folder to digest of the weights that are there now.
    """
    known, kept = dict(report.get(WEIGHTS, {})), dict(report)
    for part in (*ALONE, *BESIDE_DRAFTS):
        models = dict(report.get(part, {}))
        for model in report.get(part, {}):
            key = f"{part} {model}"
            if key in known and known[key] != fingerprint(part, model, of):
                del models[model], known[key]
                log(f"report: {part} of {model} is of other weights, dropped")
        if part in report:
            kept[part] = models
    if WEIGHTS in report:
        kept[WEIGHTS] = known
    return kept


def merge(path: Path, report: Mapping[str, Any], of: Mapping[str, str]) -> None:
    """Write new figures, keeping what the file says of other models with the weights of now.

    Args:
        path: the report's file.
        report: the new figures.
        of: folder to digest of the weights they were measured on.
    """
    measured = {
        f"{part} {model}": fingerprint(part, model, of)
        for part, models in report.items()
        for model in models
    }
    old = current(read_report(path), of)
    new = {**report, WEIGHTS: measured}
    merged = {part: old.get(part, {}) | figures for part, figures in new.items()}
    write_report(path, old | merged)
