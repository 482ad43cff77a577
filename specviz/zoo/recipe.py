"""The whole recipe from nothing to the exported zoo, or some of its stages.

`python -m specviz.zoo.recipe --minutes 120 --prose novels.txt` runs all stages in one process. Two
processes can share the work on two cores, each with its own `--stage` list and the same `--run`.
A stage that is done is skipped, an interrupted one goes on at its last checkpoint, and one whose
input was trained on since then starts anew.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from specviz.errors import SettingError
from specviz.zoo.command import positive, refusals
from specviz.zoo.corpus.prose import CHUNK_CHARACTERS
from specviz.zoo.evaluate import TARGETS, evaluate_stage
from specviz.zoo.export import export_stage
from specviz.zoo.loop import log
from specviz.zoo.model import SIZES
from specviz.zoo.small_stages import assistant_stage, drafter_stage, mtp_stage, other_stage
from specviz.zoo.stages import (
    NUM_HELD_OUT_PROSE,
    average_stage,
    base_stage,
    corpus_stage,
    grow_stage,
    prose_parts,
)
from specviz.zoo.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the recipe.

    Args:
        run: the function of the stage.
        share: of the minutes of a whole run (0: takes what it takes).
        inputs: checkpoints that it starts from.
        output: name of its own checkpoint, where that is not the stage's.
    """

    run: Callable[..., None]
    share: float
    inputs: tuple[str, ...] = ()
    output: str | None = None


def _grown(kind: str) -> dict[str, Stage]:
    """The stages of one target."""
    base, grow = f"base-{kind}", f"grow-{kind}"
    return {
        base: Stage(partial(base_stage, kind=kind), 0.36),
        grow: Stage(partial(grow_stage, kind=kind), 0.02, (base,)),
        f"average-{kind}": Stage(
            partial(average_stage, kind=kind), 0, (base, grow), f"target-{kind}"
        ),
    }


TRAINING: dict[str, Stage] = {
    "corpus": Stage(corpus_stage, 0),
    **_grown("glm"),
    **_grown("gemma"),
    "assistant": Stage(partial(assistant_stage, name="assistant"), 0.06, TARGETS),
    "assistant-tiny": Stage(partial(assistant_stage, name="assistant-tiny"), 0.02, TARGETS),
    "assistant-other": Stage(other_stage, 0.05),
    "mtp": Stage(mtp_stage, 0.06, TARGETS[:1]),
    "drafter": Stage(drafter_stage, 0.05, TARGETS[1:]),
}
CHECKPOINTS = tuple(stage.output or name for name, stage in TRAINING.items() if name != "corpus")
STAGES: dict[str, Stage] = {
    **TRAINING,
    "export": Stage(export_stage, 0, CHECKPOINTS),
    "evaluate": Stage(evaluate_stage, 0),
    "cards": Stage(export_stage, 0, CHECKPOINTS),
}


def run_stage(space: Workspace, name: str, *, minutes: float | None) -> None:
    """Run one stage; `minutes` is left out for stages without a budget."""
    stage = STAGES[name]
    made = stage.output or name
    for checkpoint in stage.inputs:
        space.state(checkpoint)
    torch.manual_seed(space.seed)
    newer = space.drop_stale(made, stage.inputs)
    if newer:
        log(f"stage {name} starts anew: {newer} is newer than its checkpoint, now .stale")
    if space.checkpoint(made).exists():
        space.state(made)
    log(f"stage {name}" + (f", {minutes:.1f} minutes" if stage.share and minutes else ""))
    if stage.share:
        stage.run(space, minutes=minutes)
    else:
        stage.run(space)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="specviz.zoo.recipe", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0, help="wall minutes of training")
    parser.add_argument("--stage", nargs="+", choices=list(STAGES), help="default: all")
    parser.add_argument("--run", type=Path, default=Path("zoo-run"), help="folder of the run")
    parser.add_argument("--prose", type=Path, help="plain text of public-domain prose")
    parser.add_argument("--size", choices=list(SIZES), default="full")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=positive, default=1)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--output", type=Path, help="of the export; default: zoo in the run")
    options = parser.parse_args(arguments)
    if not 0 < options.minutes < math.inf:
        parser.error("--minutes must be above 0")
    for name in ("run", "output"):
        folder = getattr(options, name)
        if folder and folder.exists() and not folder.is_dir():
            parser.error(f"--{name} must be a folder, and {folder} is a file; name another one")
    check_prose(options.prose)
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: this machine or this build of PyTorch has no CUDA; use cpu")
    return options


def check_prose(prose: Path | None) -> None:
    """Refuse prose of which nothing is left to train on.

    Raises:
        SettingError: the file is no text, or too short.
    """
    train, held_out = prose_parts(prose)
    if prose and not train:
        raise SettingError(
            f"{prose} makes {len(held_out)} chunks of {CHUNK_CHARACTERS} characters; "
            f"{NUM_HELD_OUT_PROSE} are held out, so more are needed; give a longer text (--prose)"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the stages asked for, in order.

    With `--stage` the minutes are split among the stages named, else among all of them.
    """
    with refusals("specviz.zoo.recipe"):
        run(parse(arguments))


def run(options: argparse.Namespace) -> None:
    """Run the stages that the options ask for."""
    torch.set_num_threads(options.threads)
    space = Workspace(
        folder=options.run,
        size=SIZES[options.size],
        prose=options.prose,
        device=options.device,
        seed=options.seed,
        compiled=not options.no_compile,
        output=options.output,
    )
    names = options.stage or list(STAGES)
    total = sum(STAGES[name].share for name in names) or 1.0
    for name in names:
        run_stage(space, name, minutes=options.minutes * STAGES[name].share / total)


if __name__ == "__main__":
    main()
