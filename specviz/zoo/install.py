"""Putting a finished zoo in place: checked first, then swapped in folder by folder, all or none.

Each model's folder belongs to the export; what else lies in the output is left alone, and so is a
file in a model's folder that the export never writes.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from specviz.errors import ModelError

MAX_FILE_BYTES = 9_000_000
MAX_ZOO_BYTES = 40_000_000
WRITTEN = ("*.safetensors", "*.json", "*.jinja", "README.md")
"""Names that the export gives to files."""


@contextmanager
def beside(output: Path) -> Iterator[Path]:
    """A temporary folder next to `output`, so that a rename brings its folders there."""
    place = output.resolve().parent
    place.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f"{output.name}-", suffix=".part", dir=place) as folder:
        yield Path(folder)


def check_sizes(zoo: Path, names: Sequence[str]) -> dict[str, int]:
    """Bytes of each folder.

    Raises:
        ModelError: a file or the whole zoo is larger than the repository allows.
    """
    sizes: dict[str, int] = {}
    for name in names:
        files = {path.name: path.stat().st_size for path in (zoo / name).iterdir()}
        largest = max(files, key=lambda file: files[file])
        if files[largest] > MAX_FILE_BYTES:
            raise ModelError(
                f"{name}/{largest} has {files[largest]} bytes; at most {MAX_FILE_BYTES} are "
                "allowed; shrink the size dial"
            )
        sizes[name] = sum(files.values())
    if sum(sizes.values()) > MAX_ZOO_BYTES:
        raise ModelError(
            f"the zoo has {sum(sizes.values())} bytes; at most {MAX_ZOO_BYTES} are allowed; "
            "shrink the size dial"
        )
    return sizes


def swap_in(made: Path, output: Path, names: Sequence[str]) -> None:
    """Put folders in place of those in the output, all of them or, when one fails, none.

    Args:
        made: holds the new folders, on the same file system.
        output: folder of the zoo.
        names: the folders.
    """
    aside = made / "replaced"
    aside.mkdir()
    output.mkdir(parents=True, exist_ok=True)
    for name in names:
        _keep_others(output / name, made / name)
    moved: list[tuple[Path, Path]] = []
    try:
        for name in names:
            steps = [(made / name, output / name)]
            if (output / name).exists():
                steps.insert(0, (output / name, aside / name))
            for source, goal in steps:
                source.rename(goal)
                moved.append((source, goal))
    except BaseException:
        for source, goal in reversed(moved):
            goal.rename(source)
        raise


def _keep_others(old: Path, new: Path) -> None:
    """Copy what somebody else put into a model's folder."""
    if not old.is_dir():
        return
    for path in old.iterdir():
        if path.is_dir():
            shutil.copytree(path, new / path.name)
        elif not any(path.match(pattern) for pattern in WRITTEN):
            shutil.copy2(path, new / path.name)
