"""Devices and number formats by name, ``auto`` resolved; what this machine lacks is refused."""

from __future__ import annotations

from typing import Any

import torch

from specviz.errors import SettingError

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
}


def pick_device(device: str) -> str:
    """``auto`` resolved to cuda, mps or cpu.

    Raises:
        SettingError: the device does not exist here.
    """
    has_cuda, has_mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if device == "auto":
        return "cuda" if has_cuda else "mps" if has_mps else "cpu"
    there = {"cpu"} | ({"mps"} if has_mps else set())
    if has_cuda:
        there |= {"cuda", *(f"cuda:{index}" for index in range(torch.cuda.device_count()))}
    if device not in there:
        allowed = ", ".join(["auto", *sorted(there)])
        raise SettingError(f"device must be one of {allowed} on this machine, got {device!r}")
    return device


def pick_dtype(dtype: str, device: str) -> str:
    """``auto`` resolved: bfloat16 on a GPU, float32 elsewhere.

    Raises:
        SettingError: there is no such dtype.
    """
    if dtype == "auto":
        return "bfloat16" if device.startswith("cuda") else "float32"
    if dtype not in DTYPES:
        raise SettingError(f"dtype must be one of auto, {', '.join(DTYPES)}, got {dtype!r}")
    return dtype


def memory_bytes(*modules: Any) -> int:
    """Bytes of all parameters and buffers; storages that several of them share count once."""
    tensors = [
        tensor
        for module in modules
        if module is not None
        for tensor in (*module.parameters(), *module.buffers())
    ]
    storages = {tensor.untyped_storage().data_ptr(): tensor for tensor in tensors}
    return sum(tensor.untyped_storage().nbytes() for tensor in storages.values())
