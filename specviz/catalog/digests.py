"""SHA-256 of model files, so that a trace names the very weights that ran."""

from __future__ import annotations

import hashlib
from pathlib import Path


def sha256_of(files: tuple[Path, ...]) -> str:
    """SHA-256 of one file, or of the list of digests of several (name order)."""
    digests = [_sha256(path) for path in files]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _sha256(path: Path) -> str:
    blob = path.resolve().name  # the hub's cache names large files by their digest
    if path.is_symlink() and len(blob) == 64 and set(blob) <= set("0123456789abcdef"):
        return blob
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
