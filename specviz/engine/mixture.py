"""A mixture of experts for a few tokens: each expert that is chosen, on all of them.

The modules of Transformers sort tokens by expert first, which pays off for many tokens and costs
more than the experts themselves for the few of a decoding step on a CPU. There, reading an expert's
weights is what takes time, so an expert runs on the other tokens as well, with weight 0.
"""

from __future__ import annotations

from typing import Any

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
    mixed = _experts(x, module.experts, weights, chosen).to(x.dtype)
    return mixed + module.shared_experts(x)


def _experts(x: Tensor, experts: Any, weights: Tensor, chosen: Tensor) -> Tensor:
    """Weighted sum (n, d) of the chosen experts' outputs; weights and choices are (n, top k)."""
    shares = weights.new_zeros(len(x), len(experts.down_proj)).scatter_(1, chosen, weights)
    outputs = []
    for expert in sorted({expert for row in chosen.tolist() for expert in row}):
        gate, up = F.linear(x, experts.gate_up_proj[expert]).chunk(2, -1)
        output = F.linear(experts.act_fn(gate) * up, experts.down_proj[expert])
        outputs.append(output * shares[:, expert, None])
    mixed: Tensor = sum(outputs[1:], outputs[0])
    return mixed


def _by_module(x: Tensor, module: Any) -> Tensor:
    mixed: Tensor = module(x[None])[0]
    return mixed
