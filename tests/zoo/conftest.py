"""A whole run at toy size whose models were never trained: made once, copied for each test."""

from __future__ import annotations

import shutil

import pytest
import torch

from specviz.zoo.distill import new_mtp_layers
from specviz.zoo.export import export_stage
from specviz.zoo.model import TOY, grow, new_drafter
from specviz.zoo.small_stages import new_assistant
from specviz.zoo.stages import corpus_stage, depth, new_base
from specviz.zoo.stored import save_state
from specviz.zoo.workspace import Workspace


def fill(space: Workspace) -> None:
    """Corpus and a checkpoint of every stage, 90 seconds and 2 million tokens each."""
    corpus_stage(space)
    models = {}
    for kind in ("glm", "gemma"):
        models[f"base-{kind}"] = new_base(space, kind)
        grown = grow(models[f"base-{kind}"], layers=depth(space, kind))
        models[f"grow-{kind}"] = models[f"target-{kind}"] = grown
    for name in ("assistant", "assistant-tiny", "assistant-other"):
        models[name] = new_assistant(space, name)
    models["mtp"] = new_mtp_layers(models["target-glm"], TOY.mtp_layers).layers
    models["drafter"] = new_drafter(TOY, models["target-gemma"])
    for name, module in models.items():
        state = {"module": module.state_dict(), "optimizers": [], "step": 3, "done": True}
        save_state(state | {"seconds": 90.0, "tokens": 2_000_000}, space.checkpoint(name))


@pytest.fixture(scope="session")
def made_run(tmp_path_factory):
    torch.manual_seed(0)
    space = Workspace(tmp_path_factory.mktemp("made") / "run", size=TOY, compiled=False)
    fill(space)
    return space.folder


@pytest.fixture
def space(made_run, tmp_path):
    """The run as a workspace of its own."""
    return Workspace(shutil.copytree(made_run, tmp_path / "run"), size=TOY, compiled=False)


@pytest.fixture(scope="session")
def made_zoo(made_run, tmp_path_factory):
    output = tmp_path_factory.mktemp("made") / "zoo"
    export_stage(Workspace(made_run, size=TOY, compiled=False, output=output))
    return output


@pytest.fixture
def zoo(made_zoo, tmp_path):
    """The exported run in a folder of its own."""
    return shutil.copytree(made_zoo, tmp_path / "zoo")


@pytest.fixture
def refused(capsys):
    """Run a command that must be refused; gives its sentence."""

    def call(main, *options: object) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(option) for option in options])
        assert ended.value.code == 2
        error = capsys.readouterr().err.strip()
        assert "Traceback" not in error
        return error

    return call
