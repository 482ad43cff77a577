"""Averaging of the grown target with its base: the better of both, or a point between them.

A short run at a high rate leaves weights that are noisier than those it began with. The straight
line between the grown base and the trained model often has a point better than either end; it
costs a few held-out passes to find.
"""

import torch
from torch import Tensor
from transformers import PreTrainedModel

from specviz.zoo.loop import log
from specviz.zoo.pretrain import held_out_loss

WEIGHTS = (0.0, 0.35, 0.6, 1.0)


def between(start: dict[str, Tensor], end: dict[str, Tensor], weight: float) -> dict[str, Tensor]:
    """The point at `weight` on the line from start to end."""
    return {name: torch.lerp(start[name].float(), end[name].float(), weight) for name in start}


def best_average(
    model: PreTrainedModel,
    start: dict[str, Tensor],
    end: dict[str, Tensor],
    held_out: list[tuple[Tensor, Tensor]],
    *,
    compiled: bool = True,
) -> tuple[float, float]:
    """Load the best point on the line into the model.

    Returns:
        Its weight and its held-out loss.
    """
    losses: dict[float, float] = {}
    for weight in WEIGHTS:
        model.load_state_dict(between(start, end, weight))
        losses[weight] = held_out_loss(model, held_out, compiled=compiled)
        log(f"average {weight}: {losses[weight]:.4f} nats/token held out")
    best = min(losses, key=lambda weight: losses[weight])
    model.load_state_dict(between(start, end, best))
    return best, losses[best]
