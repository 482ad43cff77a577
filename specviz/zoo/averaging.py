"""Averaging of the grown target with its base: the grown one, or a better point on the way to it.

A short run at a high rate leaves weights that are noisier than those it began with. The straight
line between the grown base and the trained model often has a point better than either end; it
costs a few held-out passes to find. A point whose greedy choices come near a tie is passed over.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from transformers import PreTrainedModel

from specviz.zoo.loop import log
from specviz.zoo.near_ties import SAFE_GAP
from specviz.zoo.pretrain import held_out_loss

WEIGHTS = (0.35, 0.6, 1.0)  # at 0 the appended layers would do nothing


def between(start: dict[str, Tensor], end: dict[str, Tensor], weight: float) -> dict[str, Tensor]:
    """The point at `weight` on the line from start to end."""
    return {name: torch.lerp(start[name].float(), end[name].float(), weight) for name in start}


def rounded(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights as they are exported: rounded to bfloat16, in float32 again."""
    return {name: tensor.bfloat16().float() for name, tensor in weights.items()}


def best_average(
    model: PreTrainedModel,
    start: dict[str, Tensor],
    end: dict[str, Tensor],
    held_out: list[tuple[Tensor, Tensor]],
    *,
    gap: Callable[[PreTrainedModel], float],
    compiled: bool = True,
) -> tuple[float, float]:
    """Load the best point on the line into the model.

    Args:
        model: takes the weights of each point in turn.
        start: weights at 0.
        end: weights at 1.
        held_out: batches that the loss is measured on.
        gap: distance, in nats, of the model's greedy choices from a tie; below `SAFE_GAP` the next
            point is taken, and the widest gap where all are below.
        compiled: use compiled layers.

    Returns:
        Its weight and its held-out loss.
    """
    losses: dict[float, float] = {}
    for weight in WEIGHTS:
        model.load_state_dict(between(start, end, weight))
        losses[weight] = held_out_loss(model, held_out, compiled=compiled)
        log(f"average {weight}: {losses[weight]:.4f} nats/token held out")
    best = _clear_of_ties(model, start, end, sorted(losses, key=losses.__getitem__), gap)
    model.load_state_dict(between(start, end, best))
    return best, losses[best]


def _clear_of_ties(
    model: PreTrainedModel,
    start: dict[str, Tensor],
    end: dict[str, Tensor],
    weights: list[float],
    gap: Callable[[PreTrainedModel], float],
) -> float:
    """The first of the points that stays clear of ties, else the one that does best."""
    gaps: dict[float, float] = {}
    for weight in weights:
        model.load_state_dict(rounded(between(start, end, weight)))
        gaps[weight] = gap(model)
        log(f"average {weight}: nearest tie {gaps[weight]:.1e} nats away")
        if gaps[weight] >= SAFE_GAP:
            return weight
    return max(gaps, key=gaps.__getitem__)
