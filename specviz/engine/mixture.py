"""A mixture of experts for a few tokens: each token's experts, one after the other.

The modules of Transformers sort tokens by expert first, which pays off for many tokens and costs
more than the experts themselves for the few of a decoding step on a CPU.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

_MAX_PAIRS = 16  # tokens times experts per token; beyond it sorting is the faster way


def mixture(x: Tensor, module: Any) -> Tensor:
    """Output (n, d) of a mixture module on x (n, d), by the short way where there is one."""
    if x.device.type != "cpu" or not hasattr(module, "shared_experts"):
        return _by_module(x, module)
    if len(x) * module.gate.top_k > _MAX_PAIRS:
        return _by_module(x, module)
    _, weights, chosen = module.gate(x)
    rows = [
        _experts(x[i : i + 1], module.experts, chosen_here, weights[i])
        for i, chosen_here in enumerate(chosen.tolist())
    ]
    mixed: Tensor = torch.cat(rows).to(x.dtype) + module.shared_experts(x)
    return mixed


def _experts(row: Tensor, experts: Any, chosen: list[int], weights: Tensor) -> Tensor:
    """Weighted sum (1, d) of the chosen experts' outputs for one token."""
    outputs = []
    for place, expert in enumerate(chosen):
        gate, up = F.linear(row, experts.gate_up_proj[expert]).chunk(2, -1)
        output = F.linear(experts.act_fn(gate) * up, experts.down_proj[expert])
        outputs.append(output * weights[place])
    return sum(outputs[1:], outputs[0])


def _by_module(x: Tensor, module: Any) -> Tensor:
    mixed: Tensor = module(x[None])[0]
    return mixed
