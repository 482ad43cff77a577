"""The recipe goes from nothing to folders that Transformers loads, at toy size."""

import json

import pytest
import torch

from specviz.zoo.export import ENTRIES
from specviz.zoo.exported import load_exported
from specviz.zoo.recipe import STAGES, main


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


def test_stages_have_shares_that_add_up():
    assert sum(stage.share for stage in STAGES.values()) == pytest.approx(1.0)
