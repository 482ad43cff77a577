"""The recipe goes from nothing to folders that Transformers loads, at toy size."""

import json
import os

import pytest
import torch

from specviz.zoo.export import ENTRIES
from specviz.zoo.exported import load_exported
from specviz.zoo.recipe import STAGES, main
from specviz.zoo.workspace import Workspace


@pytest.mark.slow
def test_recipe_makes_a_whole_zoo(tmp_path):
    run, output = tmp_path / "run", tmp_path / "models"
    options = ["--size", "toy", "--no-compile", "--minutes", "0.15"]
    main([*options, "--run", str(run), "--output", str(output)])
    for entry in ENTRIES:
        folder = output / entry.folder
        assert (folder / "README.md").exists()
        config = json.loads((folder / "config.json").read_text())
        assert config["dtype"] == "bfloat16"
    zoo = load_exported(output)
    glm = zoo.models["target-glm"]
    ids = zoo.tokenizer("Write a story", return_tensors="pt").input_ids
    plain = glm.generate(ids, do_sample=False, max_new_tokens=8)
    drafted = glm.generate(ids, do_sample=False, max_new_tokens=8, use_mtp=True)
    assert torch.equal(plain, drafted)
    report = json.loads((output / "evaluation.json").read_text())
    assert set(report["rates"]) == {"target-glm", "target-gemma"}


def write(space, stage, second):
    space.checkpoint(stage).write_bytes(b"x")
    os.utime(space.checkpoint(stage), (second, second))


def test_a_stage_starts_anew_when_its_input_was_trained_on(tmp_path):
    space = Workspace(tmp_path)
    write(space, "base-glm", 10)
    write(space, "grow-glm", 20)
    assert space.drop_stale("grow-glm", STAGES["grow-glm"].inputs) is None
    assert space.checkpoint("grow-glm").exists()
    write(space, "base-glm", 30)
    assert space.drop_stale("grow-glm", STAGES["grow-glm"].inputs) == "base-glm"
    assert not space.checkpoint("grow-glm").exists()
    assert (tmp_path / "grow-glm.stale").read_bytes() == b"x"
    assert space.drop_stale("grow-glm", STAGES["grow-glm"].inputs) is None


@pytest.mark.slow
def test_more_minutes_reach_the_target(tmp_path):
    stages = ["base-glm", "grow-glm", "average-glm"]
    options = ["--size", "toy", "--no-compile", "--run", str(tmp_path)]
    main([*options, "--minutes", "0.02", "--stage", "corpus", *stages])
    first = torch.load(tmp_path / "target-glm.pt")["module"]
    main([*options, "--minutes", "0.06", "--stage", *stages])
    base = torch.load(tmp_path / "base-glm.pt")["module"]
    second = torch.load(tmp_path / "target-glm.pt")["module"]
    name = "model.layers.0.mlp.up_proj.weight"
    assert not torch.equal(first[name], second[name])
    assert torch.equal(base[name], second[name])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--minutes", "0"], "--minutes must be above 0"),
        (["--minutes", "nan"], "--minutes must be above 0"),
        (["--threads", "0"], "--threads: must be a whole number of at least 1, got '0'"),
        (["--prose", "nowhere.txt"], "there is no file nowhere.txt"),
    ],
)
def test_wrong_options_are_told_before_anything_is_written(tmp_path, capsys, options, sentence):
    with pytest.raises(SystemExit):
        main(["--run", str(tmp_path / "run"), *options])
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_stages_have_shares_that_add_up():
    assert sum(stage.share for stage in STAGES.values()) == pytest.approx(1.0)
