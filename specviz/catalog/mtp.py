"""Multi-token-prediction layers that a checkpoint carries behind its last decoder layer.

Transformers looks for them under fixed layer numbers of the published sizes, so a checkpoint of
another depth needs the pattern of its own numbers. It is set on this one instance while it is
being loaded; classes stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

from transformers.modeling_layers import MtpModel


def load_mtp_layers(module: Any, num_layers: int, num_mtp_layers: int) -> Any:
    """The MTP layers of a freshly loaded model, in evaluation mode, on its device.

    Args:
        module: the main model, whose config still names its folder.
        num_layers: decoder layers of the main model.
        num_mtp_layers: MTP layers promised by the config.
    """
    known = set(module._keys_to_ignore_on_load_unexpected or ())
    numbered = {pattern for pattern in known if re.search(r"layers\\\.\d+", pattern)}
    own = {rf"model\.layers\.{num_layers + k}\..*" for k in range(num_mtp_layers)}
    if not any(_fits(pattern, num_layers) for pattern in known - numbered):
        module._keys_to_ignore_on_load_unexpected = (known - numbered) | own
    try:
        layers = MtpModel.from_pretrained(module)
    finally:
        module._keys_to_ignore_on_load_unexpected = known
    return layers.eval().requires_grad_(False).to(module.device)


def _fits(pattern: str, num_layers: int) -> bool:
    return "mtp" in pattern
