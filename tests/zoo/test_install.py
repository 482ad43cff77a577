"""An export changes the output as a whole or not at all, and leaves alone what is not its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from specviz.errors import ModelError
from specviz.zoo import install
from specviz.zoo.export import ENTRIES, export_stage, minutes_text
from specviz.zoo.install import check_sizes, swap_in
from specviz.zoo.report import digests, merge
from specviz.zoo.stored import save_state
from specviz.zoo.workspace import Workspace


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def train_on(space):
    """Give every checkpoint other weights."""
    for path in space.folder.glob("*.pt"):
        state = torch.load(path)
        module = {name: tensor + 1 for name, tensor in state["module"].items()}
        save_state(state | {"module": module}, path)


@pytest.fixture
def installed(space, zoo):
    """The run with the zoo that was exported of it, beside a report and a README."""
    (zoo / "README.md").write_text("of the zoo", encoding="utf-8")
    (zoo / "evaluation.json").write_text("{}", encoding="utf-8")
    (zoo / "assistant" / "NOTES.md").write_text("mine", encoding="utf-8")
    (zoo / "assistant" / "plots").mkdir()
    (zoo / "assistant" / "plots" / "loss.txt").write_text("mine", encoding="utf-8")
    return replace(space, output=zoo)


def test_an_export_puts_in_all_folders_and_keeps_what_is_not_its_own(installed):
    zoo = installed.zoo
    stale = zoo / "target-glm" / "model.safetensors"
    stale.write_bytes(b"of an older export, in one file")
    before = contents(zoo)
    train_on(installed)
    export_stage(installed)
    after = contents(zoo)
    changed = {path.parent.name for path in after if after[path] != before.get(path)}
    assert changed == {entry.folder for entry in ENTRIES}
    assert set(before) - set(after) == {stale}
    assert (zoo / "assistant" / "plots" / "loss.txt").read_text() == "mine"
    assert [path.name for path in zoo.parent.iterdir() if "part" in path.name] == []


def test_the_same_run_gives_the_same_bytes(installed):
    before = contents(installed.zoo)
    export_stage(installed)
    assert contents(installed.zoo) == before


def test_cards_leave_out_figures_of_other_weights(installed):
    speed = {"target-glm": {"speculative": {"rate": 0.9, "tau": 4.0}}}
    merge(installed.zoo / "evaluation.json", {"speed": speed}, digests(installed.zoo))
    told = []
    for _ in range(2):
        export_stage(installed)
        card = (installed.zoo / "target-glm" / "README.md").read_text(encoding="utf-8")
        told.append(("| tokens per pass, speculative | 4.0 |" in card, "were not measured" in card))
        train_on(installed)
    assert told == [(True, False), (False, True)]


@pytest.mark.parametrize("lost", ["assistant-other.pt", "mtp.pt", "drafter.pt", "base-gemma.pt"])
def test_an_export_without_an_input_changes_nothing(installed, lost):
    before = contents(installed.zoo)
    train_on(installed)
    (installed.folder / lost).unlink()
    with pytest.raises(ModelError, match=lost):
        export_stage(installed)
    assert contents(installed.zoo) == before
    assert {path.name for path in installed.zoo.parent.iterdir()} == {"run", "zoo"}


@pytest.mark.parametrize("limit", ["MAX_FILE_BYTES", "MAX_ZOO_BYTES"])
def test_a_zoo_that_is_too_large_changes_nothing(installed, monkeypatch, limit):
    before = contents(installed.zoo)
    train_on(installed)
    monkeypatch.setattr(install, limit, 100_000)
    with pytest.raises(ModelError, match="at most 100000 are allowed; shrink the size dial"):
        export_stage(installed)
    assert contents(installed.zoo) == before
    assert {path.name for path in installed.zoo.parent.iterdir()} == {"run", "zoo"}


def test_a_rename_that_fails_is_taken_back(tmp_path, monkeypatch):
    names = ("one", "two", "new")
    for place, word in (("made", "made"), ("zoo", "old")):
        for name in names[: 3 if place == "made" else 2]:
            (tmp_path / place / name).mkdir(parents=True)
            (tmp_path / place / name / "model.json").write_text(word, encoding="utf-8")
    before, rename = contents(tmp_path), Path.rename
    for steps in range(5):
        left = iter([*[True] * steps, False])  # the renames that succeed, and one that does not

        def failing(source, goal, left=left):
            if not next(left, True):
                raise OSError(28, "No space left on device", str(goal))
            return rename(source, goal)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", failing)
            with pytest.raises(OSError, match="No space left"):
                swap_in(tmp_path / "made", tmp_path / "zoo", names)
        assert contents(tmp_path) == before
        (tmp_path / "made" / "replaced").rmdir()
    swap_in(tmp_path / "made", tmp_path / "zoo", names)
    assert {path.read_text() for path in (tmp_path / "zoo").glob("*/*")} == {"made"}


def test_sizes_name_the_file(tmp_path):
    (tmp_path / "assistant").mkdir()
    with (tmp_path / "assistant" / "model.safetensors").open("wb") as file:
        file.truncate(9_000_001)
    with pytest.raises(ModelError, match=r"assistant/model\.safetensors has 9000001 bytes"):
        check_sizes(tmp_path, ["assistant"])


def test_the_zoo_of_a_run_lies_in_the_run_unless_told_otherwise(tmp_path):
    assert Workspace(tmp_path).zoo == tmp_path / "zoo"
    assert Workspace(tmp_path, output=tmp_path / "other").zoo == tmp_path / "other"


def test_cards_tell_the_minutes_as_they_were(zoo):
    card = (zoo / "assistant-tiny" / "README.md").read_text(encoding="utf-8")
    assert "This one: assistant-tiny 1.5 minutes, 2.00M tokens." in card
    told = [minutes_text(seconds) for seconds in (2, 6, 90, 594, 596, 600, 750, 7200)]
    assert told == [
        "less than 0.1 minutes",
        "0.1 minutes",
        "1.5 minutes",
        "9.9 minutes",
        "9.9 minutes",
        "10 minutes",
        "12 minutes",
        "120 minutes",
    ]
