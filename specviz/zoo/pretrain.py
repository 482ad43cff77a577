"""Training of the targets: a shallow base first, then the grown model with early exits."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedModel

from specviz.zoo.blocks import (
    compiled_cross_entropy,
    cross_entropy,
    norm_epsilon,
    trunk,
)
from specviz.zoo.data import Windows
from specviz.zoo.loop import Step, TrainingLoop, TrainPlan

MAIN_EXIT_WEIGHT = 0.5
OTHER_EXIT_WEIGHT = 0.2
NUM_HELD_OUT_BATCHES = 6


@dataclass(frozen=True, slots=True)
class ExitLoss:
    """Layers that learn to speak for the whole model.

    Args:
        main: the exit trained at each step, or None.
        others: one of them, drawn at each step, is trained with a small weight.
        main_weight: weight of the loss at `main`, beside 1 for that of the last layer.
    """

    main: int | None = None
    others: tuple[int, ...] = ()
    main_weight: float = MAIN_EXIT_WEIGHT

    def draw(self, rng: random.Random) -> dict[int, float]:
        """Exits of one step and their weights."""
        drawn = {rng.choice(self.others): OTHER_EXIT_WEIGHT} if self.others else {}
        return drawn if self.main is None else {self.main: self.main_weight} | drawn


def read_out(model: PreTrainedModel, hidden: Tensor, targets: Tensor, *, compiled: bool) -> Tensor:
    """Next-token loss of a hidden state through the model's final norm and head."""
    function = compiled_cross_entropy if compiled else cross_entropy
    norm, embedding = model.model.norm.weight, model.model.embed_tokens.weight
    return function(hidden, norm, embedding, targets, norm_epsilon(model))


def held_out_batches(windows: Windows, batch: int) -> list[tuple[Tensor, Tensor]]:
    """The batches that a stage measures its held-out loss on."""
    return [windows.draw(batch, step=number) for number in range(NUM_HELD_OUT_BATCHES)]


@torch.no_grad()
def held_out_loss(
    model: PreTrainedModel, batches: list[tuple[Tensor, Tensor]], *, compiled: bool = True
) -> float:
    """Mean next-token loss on held-out batches, in nats per token."""
    losses = []
    for ids, targets in batches:
        passed = trunk(model, ids, compiled=compiled)
        losses.append(read_out(model, passed.hidden, targets, compiled=compiled).item())
    return sum(losses) / len(losses)


def pretrain(
    model: PreTrainedModel,
    windows: Windows,
    plan: TrainPlan,
    *,
    batch: int,
    exits: ExitLoss | None = None,
    held_out: Windows | None = None,
    compiled: bool = True,
    seed: int = 0,
    after_step: Callable[[], None] | None = None,
) -> None:
    """Train a target on next tokens, with a loss at early exits if given.

    Args:
        model: GLM or Gemma 4; changed in place.
        windows: training windows.
        plan: time, place and rate.
        batch: windows in a step.
        exits: early exits to train besides the last layer.
        held_out: windows for the figure at each checkpoint.
        compiled: use the compiled functions (off in tests).
        seed: of the draw of exits.
        after_step: called after each step of the optimizers, to keep weights in a shape.
    """
    # Drawn once: figures of one run compare.
    batches = held_out_batches(held_out, batch) if held_out else []

    def take_step(step: int) -> Step:
        ids, targets = windows.draw(batch, step=step)
        chosen = exits.draw(random.Random(f"{seed} {step}")) if exits else {}
        passed = trunk(model, ids, collect=chosen, compiled=compiled)
        main = read_out(model, passed.hidden, targets, compiled=compiled)
        loss, figures = main, {"final": main.detach()}
        for layer, weight in chosen.items():
            at_exit = read_out(model, passed.exits[layer], targets, compiled=compiled)
            loss = loss + weight * at_exit
            figures[f"exit{layer}"] = at_exit.detach()
        return Step(loss, ids.numel(), figures)

    def validate() -> str:
        loss = held_out_loss(model, batches, compiled=compiled)
        return f"{loss:.4f} nats/token"

    check = validate if held_out else None
    TrainingLoop(model, take_step, plan, validate=check, after_step=after_step).run()
