"""Exact memory: weights, both caches and logits by owner and step; the allocator's peak on CUDA."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from specviz import runs
from specviz.catalog.devices import memory_bytes
from specviz.config import DecodeConfig, RunRequest
from specviz.engine.clock import PeakMemory
from specviz.engine.drafters.base import Parts
from specviz.engine.language_model import LanguageModel
from specviz.events import Memory, Prefilled
from specviz.metrics import summarise
from tests.checkpoints import save_checkpoint
from tests.fakes import run_method, steps, tiny_glm, tiny_llama
from tests.trace.sample_runs import run, step

PROMPT = [3, 1, 4, 1, 5]


def test_caches_and_logits_are_counted_by_owner_in_every_step() -> None:
    # Both have 2 key/value heads of 8 numbers; the target 3 layers, the draft model 1; float64.
    target, draft = LanguageModel(tiny_llama()), LanguageModel(tiny_llama(layers=1))
    parts = Parts(target, DecodeConfig(gamma=3, max_new_tokens=12), draft=draft)
    events = run_method("speculative", parts, PROMPT)
    length = len(PROMPT)
    assert isinstance(events[0], Prefilled)
    assert events[0].memory.target_cache_bytes == 3 * 2 * 2 * 8 * 8 * (length - 1)
    assert events[0].memory.draft_cache_bytes == 1 * 2 * 2 * 8 * 8 * (length - 1)
    for found in steps(events):
        length += len(found.committed_ids)
        held = found.memory
        assert held.target_cache_bytes == 3 * 2 * 2 * 8 * 8 * (length - 1)
        # The draft model has not seen its last draft: it lags by one if that one is kept.
        rejected = len(found.accepted) < len(found.proposed)
        behind = (0,) if rejected else (1,) if found.proposed else (1, 2)
        assert length - 1 - held.draft_cache_bytes / (1 * 2 * 2 * 8 * 8) in behind
        assert held.logits_bytes == (len(found.proposed) + 1) * 64 * 4  # float32 rows
        assert held.allocated_bytes is None  # no allocator counts on a CPU


def test_allocated_bytes_are_null_on_a_cpu(tmp_path: Path) -> None:
    folder = str(save_checkpoint(tmp_path))
    request = RunRequest.of("plain", "the cat", target=folder, max_new_tokens=3, device="cpu")
    document = json.loads(runs.run(request).dumps())
    assert document["metrics"]["peak_allocated_bytes"] is None
    assert document["prefill"]["memory"]["allocated_bytes"] is None
    assert all(step["memory"]["allocated_bytes"] is None for step in document["steps"])
    assert PeakMemory(torch.device("cpu")).num_bytes is None


def test_the_peak_begins_anew_with_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", asked.append)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: 7 * len(asked))
    device = torch.device("cuda:0")
    assert PeakMemory(device).num_bytes == 7
    assert PeakMemory(device).num_bytes == 14 and asked == [device, device]


def test_peak_of_a_run_is_the_largest_and_no_part_of_the_total() -> None:
    held = [Memory(1, 2, 3, allocated_bytes=size) for size in (50, 90)]
    both = [step(i, "a", memory=memory) for i, memory in enumerate(held)]
    assert held[0].total_bytes == 6
    assert summarise(run(both))["peak_allocated_bytes"] == 90
    assert summarise(run([step(0, "a")]))["peak_allocated_bytes"] is None


def test_weights_are_those_in_memory(tmp_path: Path) -> None:
    # Embedding and head 2 · 320 · 32; per layer q and o 2 · 32 · 32, k and v 2 · 16 · 32, three
    # matrices of 32 · 64, two norms of 32; a last norm of 32. Then a few rotary frequencies.
    count = 2 * 320 * 32 + 3 * (2 * 1024 + 2 * 512 + 3 * 2048 + 64) + 32
    module = tiny_llama(vocab=320, dtype=torch.float16)
    LanguageModel(module)  # joins matrices, which must not be counted twice
    assert 0 <= memory_bytes(module) - 2 * count <= 64
    folder = str(save_checkpoint(tmp_path, module))
    request = RunRequest.of("plain", "the cat", target=folder, max_new_tokens=2, dtype="float32")
    trace = runs.run(request)
    in_files = trace.document["models"]["target"]["bytes"]
    assert 2 * count <= in_files <= 2 * count + 8000  # with the names of the weights
    assert 0 <= trace.metrics["target_weights_bytes"] - 4 * count <= 64


def test_tied_and_absent_weights_count_once_and_not_at_all() -> None:
    module = tiny_glm()
    assert memory_bytes(module, None) == memory_bytes(module, module) == memory_bytes(module)


@pytest.mark.gpu
def test_allocated_bytes_hold_at_least_the_weights_on_cuda(tmp_path: Path) -> None:
    folder = str(save_checkpoint(tmp_path))
    request = RunRequest.of("plain", "the cat", target=folder, max_new_tokens=3, device="cuda")
    metrics = runs.run(request).metrics
    assert metrics["peak_allocated_bytes"] >= metrics["target_weights_bytes"]
