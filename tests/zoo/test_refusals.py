"""Broken, cut or missing files of a run end a command with one sentence and status 2."""

from __future__ import annotations

import os
import random
from itertools import product

import pytest
import torch

from specviz.errors import ModelError
from specviz.zoo import evaluate, recipe, speed
from specviz.zoo.command import INTERRUPTED, refusals
from specviz.zoo.data import TokenStream
from specviz.zoo.model import TOY, new_glm
from specviz.zoo.recipe import CHECKPOINTS, STAGES
from specviz.zoo.stored import maker, read_state, save_state


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": cut,
    "noise": lambda path: path.write_bytes(random.Random(0).randbytes(5000)),
    "text": lambda path: path.write_text("not a checkpoint", encoding="utf-8"),
    "a list": lambda path: torch.save([1, 2], path),
    "no module": lambda path: torch.save({"step": 3}, path),
    "a module that is none": lambda path: torch.save({"module": 7, "ids": 7, "starts": 7}, path),
    "gone": lambda path: path.unlink(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


def toy(space):
    """Options of a recipe that continues a toy run."""
    return ["--size", "toy", "--no-compile", "--run", space.folder]


READ = [  # file, a stage that reads it, the stage that writes it
    ("base-glm.pt", "grow-glm", "base-glm"),
    ("grow-gemma.pt", "average-gemma", "grow-gemma"),
    ("target-glm.pt", "mtp", "average-glm"),
    ("target-gemma.pt", "assistant", "average-gemma"),
    ("drafter.pt", "export", "drafter"),
    ("mtp.pt", "cards", "mtp"),
    ("train-a.tokens", "base-glm", "corpus"),
    ("held-out-b.tokens", "assistant-other", "corpus"),
]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("file", "stage", "writer"), READ)
def test_a_damaged_file_is_told(space, refused, damage, file, stage, writer):
    DAMAGES[damage](space.folder / file)
    if stage == "base-glm":
        space.checkpoint("base-glm").unlink()
    told = refused(recipe.main, *toy(space), "--stage", stage)
    assert told.startswith("specviz.zoo.recipe: ") and len(told.splitlines()) == 1
    assert file in told
    assert f"--stage {writer}" in told
    assert not space.zoo.exists()


@pytest.mark.parametrize("damage", ["empty", "cut", "noise", "no module"])
@pytest.mark.parametrize("stage", ["base-gemma", "average-glm", "drafter"])
def test_the_damaged_checkpoint_of_a_stage_itself_is_told(space, refused, damage, stage):
    path = space.checkpoint(STAGES[stage].output or stage)
    DAMAGES[damage](path)
    later = path.stat().st_mtime + 60
    os.utime(path, (later, later))
    before = path.read_bytes()
    told = refused(recipe.main, *toy(space), "--stage", stage)
    assert path.name in told and f"--stage {stage}" in told
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *product(("tokenizer.json", "tokenizer_config.json"), ("empty", "cut", "noise", "gone")),
        *product(("chat_template.jinja",), ("empty", "gone")),
    ],
)
def test_a_damaged_tokenizer_is_told(space, refused, name, damage):
    DAMAGES[damage](space.tokenizer_folder("b") / name)
    told = refused(recipe.main, *toy(space), "--stage", "assistant-other")
    assert "tokenizer-b" in told and "--stage corpus" in told


def test_a_stage_without_a_run_is_told_and_leaves_none(tmp_path, refused):
    for stage in ("base-glm", "grow-gemma", "mtp", "export", "cards", "evaluate"):
        told = refused(recipe.main, "--run", tmp_path / "none", "--stage", stage)
        assert "there is no" in told and "--stage " in told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("checkpoint", "stage"), [("target-glm", "export"), ("grow-glm", "average-glm")]
)
def test_a_checkpoint_of_another_size_is_told(space, refused, checkpoint, stage):
    other = new_glm(TOY, vocab=64, layers=3)
    space.checkpoint("target-glm").unlink()
    save_state({"module": other.state_dict()}, space.checkpoint(checkpoint))
    told = refused(recipe.main, *toy(space), "--stage", stage)
    assert f"{checkpoint}.pt does not fit" in told and "--size" in told


def test_no_cut_and_no_flipped_head_of_a_checkpoint_is_a_fault(tmp_path):
    path = tmp_path / "x.pt"
    save_state({"module": {"a": torch.ones(50)}, "step": 1}, path)
    whole, rng = path.read_bytes(), random.Random(1)
    for end in range(0, len(whole) - 1, 23):
        path.write_bytes(whole[:end])
        with pytest.raises(ModelError, match=r"broken.*--stage x"):
            read_state(path, "module", stage="x")
    for _ in range(200):
        flipped = bytearray(whole)
        for _ in range(6):
            flipped[rng.randrange(len(whole))] = rng.randrange(256)
        path.write_bytes(flipped)
        try:
            read_state(path, "module", stage="x")
        except ModelError as error:
            assert "--stage x" in str(error)  # noqa: PT017 (most flips are harmless)


@pytest.mark.parametrize(
    "parts",
    [
        {"ids": torch.ones(0, dtype=torch.int16), "starts": torch.zeros(1, dtype=torch.int64)},
        {"ids": torch.ones(5, dtype=torch.int16), "starts": torch.zeros(0, dtype=torch.int64)},
        {"ids": torch.ones(5, dtype=torch.int16), "starts": torch.tensor([0, 5])},
        {"ids": torch.ones(5, dtype=torch.int16), "starts": torch.tensor([-1])},
        {"ids": torch.ones(5), "starts": torch.zeros(1, dtype=torch.int64)},
        {"ids": [1, 2], "starts": [0]},
    ],
)
def test_a_stream_of_other_things_is_told(tmp_path, parts):
    torch.save(parts, tmp_path / "train-a.tokens")
    with pytest.raises(ModelError, match="--stage corpus"):
        TokenStream.load(tmp_path / "train-a.tokens")


def test_every_checkpoint_names_the_stage_that_writes_it():
    for name, stage in STAGES.items():
        assert maker(stage.output or name) == name
    assert set(STAGES["export"].inputs) == set(CHECKPOINTS) and len(CHECKPOINTS) == 11


@pytest.mark.parametrize("damage", ["empty", "cut", "noise", "gone"])
@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_exported_model_is_told(zoo, refused, tmp_path, damage, file):
    folder = zoo / "assistant-other-tokenizer"
    DAMAGES[damage](folder / file)
    report = tmp_path / "report.json"
    told = refused(evaluate.main, "--models", zoo, "--report", report)
    assert folder.name in told and "--stage export" in told
    assert not report.exists()


def test_a_zoo_that_is_not_there_is_told(tmp_path, refused):
    told = refused(evaluate.main, "--models", tmp_path, "--report", tmp_path / "report.json")
    assert "there is no exported model" in told


@pytest.mark.parametrize("main", [evaluate.main, speed.main])
def test_a_report_that_is_none_is_told_before_the_work(tmp_path, refused, main):
    for content in ("", "{", "[]", '{"speed": 3}', "\x00"):
        (tmp_path / "report.json").write_text(content, encoding="utf-8")
        assert "is no report" in refused(main, "--report", tmp_path / "report.json")
    assert "--report" in refused(main, "--report", tmp_path)
    assert "--report" in refused(main, "--report", tmp_path / "nowhere" / "report.json")


@pytest.mark.parametrize("count", ["0", "-1", "1.5", "many", ""])
@pytest.mark.parametrize(
    ("main", "option"),
    [
        (evaluate.main, "--loss-documents"),
        (evaluate.main, "--exact-documents"),
        (evaluate.main, "--rate-documents"),
        (evaluate.main, "--threads"),
        (speed.main, "--prompts"),
        (speed.main, "--new-tokens"),
        (recipe.main, "--threads"),
    ],
)
def test_counts_start_at_one(refused, main, option, count):
    told = refused(main, f"{option}={count}")
    assert f"{option}: must be a whole number of at least 1, got {count!r}" in told


def test_lists_of_names_are_not_empty(refused):
    assert "at least one argument" in refused(evaluate.main, "--names")
    assert "at least one argument" in refused(recipe.main, "--stage")


PROSE = {
    "empty": (b"", "has 0 characters"),
    "blank": (b" \n\n ", "has 0 characters"),
    "short": (b"One sentence. And one more.", "has 27 characters"),
    "not UTF-8": ("Voilà. ".encode("utf-16") * 9000, "is not text in UTF-8"),
}


@pytest.mark.parametrize("kind", PROSE)
@pytest.mark.parametrize("command", ["recipe", "evaluate"])
def test_prose_that_is_none_is_told_before_anything_is_written(tmp_path, refused, kind, command):
    content, sentence = PROSE[kind]
    prose, made = tmp_path / "prose.txt", tmp_path / "made"
    prose.write_bytes(content)
    main, place = (recipe.main, "--run") if command == "recipe" else (evaluate.main, "--models")
    for path, told in ((prose, sentence), (tmp_path, "there is no file"), (made, "there is no")):
        assert told in refused(main, place, made, "--prose", path)
    assert not made.exists()


def test_prose_that_is_all_held_out_is_told(tmp_path, refused):
    prose = tmp_path / "prose.txt"
    prose.write_text("A sentence of the book. " * 30 * 100, encoding="utf-8")
    told = refused(recipe.main, "--run", tmp_path / "run", "--prose", prose)
    assert "held out" in told and not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", ["--run", "--output"])
def test_a_file_for_a_folder_is_told(tmp_path, refused, option):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert "must be a folder" in refused(recipe.main, option, tmp_path / "file")


def test_a_file_that_the_system_does_not_give_is_told(refused):
    def work(_):
        with refusals("zoo"):
            raise PermissionError(13, "Permission denied", "some.pt")

    assert refused(work) == (
        "zoo: some.pt: Permission denied; give a place that can be read and written"
    )


def test_faults_keep_their_traceback_and_interrupts_their_status():
    for fault in (OSError("without a file"), ValueError("ours")):
        with pytest.raises(type(fault)), refusals("zoo"):
            raise fault
    with pytest.raises(SystemExit) as ended, refusals("zoo"):
        raise KeyboardInterrupt
    assert ended.value.code == INTERRUPTED
