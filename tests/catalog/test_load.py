"""Loading: cache, offline, refusals, hashes, threads, MTP layers (U25, U27, U50)."""

from __future__ import annotations

import hashlib
import threading
import time
import warnings
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from specviz import runs
from specviz.catalog import load as module
from specviz.catalog.devices import pick_device, pick_dtype
from specviz.catalog.folders import ROOT
from specviz.catalog.load import forget_models, load, load_tokenizer
from specviz.catalog.locate import locate
from specviz.catalog.threads import choose_threads
from specviz.config import RunRequest
from specviz.engine.language_model import LanguageModel
from specviz.errors import ModelError, SettingError
from tests.checkpoints import edit_config, save_checkpoint
from tests.fakes import tiny_llama

EMBEDDED = ("target-glm", "target-gemma", "assistant", "assistant-other-tokenizer")


def silent(text: str) -> None:
    pass


@pytest.mark.parametrize("model_id", EMBEDDED)
def test_embedded_model_loads_without_warnings(
    model_id: str, capfd: pytest.CaptureFixture[str]
) -> None:
    forget_models()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = load(locate(model_id), status=silent)
    assert capfd.readouterr() == ("", "")
    assert loaded.language_model is not None
    assert loaded.key == (model_id, "cpu", "float32")
    assert loaded.load_s > 0 and not loaded.module.training
    assert not any(weight.requires_grad for weight in loaded.module.parameters())


def test_the_same_model_is_loaded_once_even_by_many_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = locate(str(save_checkpoint(tmp_path)))
    calls, real = [], module._load_module
    monkeypatch.setattr(module, "_load_module", lambda *a: calls.append(a) or real(*a))
    found: list[object] = []
    workers = [
        threading.Thread(target=lambda: found.append(load(place, status=silent))) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(calls) == 1 and len({id(model) for model in found}) == 1


def test_a_loaded_model_is_not_kept_waiting_by_another_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assistant = load(locate("assistant"), status=silent)
    slow = locate(str(save_checkpoint(tmp_path)))
    started, go_on, real = threading.Event(), threading.Event(), module._load_module

    def wait(*arguments: object) -> object:
        started.set()
        assert go_on.wait(10)
        return real(*arguments)

    monkeypatch.setattr(module, "_load_module", wait)
    worker = threading.Thread(target=lambda: load(slow, status=silent))
    worker.start()
    try:
        assert started.wait(10)
        assert load(locate("assistant"), status=silent) is assistant
    finally:
        go_on.set()
        worker.join()


def test_dtype_is_part_of_the_key(tmp_path: Path) -> None:
    place = locate(str(save_checkpoint(tmp_path)))
    single = load(place, status=silent)
    double = load(place, dtype="float64", status=silent)
    assert single is not double
    assert double.language_model is not None and double.language_model.dtype == torch.float64


def test_hashes_are_those_of_the_files() -> None:
    folder = ROOT / "assets" / "models" / "assistant"
    loaded = load(locate("assistant"), status=silent)
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert loaded.weights_sha256 == digest
    tokens = hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
    assert loaded.tokenizer_sha256 == tokens


def test_embedded_mtp_layers_are_the_files_tensors_and_change_no_class() -> None:
    loaded = load(locate("target-glm"), status=silent)
    facts, layers = loaded.facts, loaded.mtp_layers
    assert layers is not None and len(layers.layers) == facts.num_mtp_layers
    folder = ROOT / "assets" / "models" / "target-glm"
    stored = {k: v for path in folder.glob("*.safetensors") for k, v in load_file(path).items()}
    for depth, layer in enumerate(layers.layers):
        name = f"model.layers.{facts.num_layers + depth}.eh_proj.weight"
        assert torch.equal(layer.eh_proj.weight, stored[name].float())
    own = set(loaded.module._keys_to_ignore_on_load_unexpected)
    assert own == set(type(loaded.module)._keys_to_ignore_on_load_unexpected)


def test_lacking_weights_are_refused(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path)
    weights = load_file(folder / "model.safetensors")
    weights.pop("model.layers.1.mlp.up_proj.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lack 1 weights, the first is 'model\.layers\.1\.mlp"):
        load(locate(str(folder)), status=silent)


def test_an_unknown_architecture_is_refused_with_a_sentence(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path)
    edit_config(folder, model_type="nobody_knows_this")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load(locate(str(folder)), status=silent)


def test_a_folder_without_tokenizer_is_refused(tmp_path: Path) -> None:
    tiny_llama(vocab=64).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_tokenizer(locate(str(tmp_path)), silent)


def test_old_configs_without_cache_load(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path)
    edit_config(folder, use_cache=False)
    assert load(locate(str(folder)), status=silent).language_model is not None


def test_status_names_what_takes_time(tmp_path: Path) -> None:
    told: list[str] = []
    load(locate(str(save_checkpoint(tmp_path))), status=told.append)
    assert [line.split()[0] for line in told] == ["Reading", "Loading", "Measuring"]


def test_device_and_dtype_that_do_not_exist_are_refused() -> None:
    with pytest.raises(SettingError, match="device must be one of auto, .* got 'tpu'"):
        pick_device("tpu")
    with pytest.raises(SettingError, match="dtype must be one of auto, .* got 'int4'"):
        pick_dtype("int4", "cpu")


def test_auto_dtype_is_half_on_a_gpu_and_single_elsewhere() -> None:
    assert pick_dtype("auto", "cuda:1") == "bfloat16"
    assert pick_dtype("auto", "cpu") == pick_dtype("auto", "mps") == "float32"


def test_thread_choice_is_measured_and_leaves_the_process_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    used: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", used.append)
    model = LanguageModel(tiny_llama())
    choice = choose_threads(model, all_threads=4)
    assert choice is not None and set(choice.seconds) == {1, 4}
    assert choice.num_threads == model.num_threads in choice.seconds
    assert set(used[:-1]) == {1, 4} and used[-1] == 2


class Machine:
    """Stands in for a model and its clock: a step takes what its threads take, ten times that
    while the machine is busy."""

    device = torch.device("cpu")
    vocab_size = 64

    def __init__(self, seconds: dict[int, float], busy_s: float) -> None:
        self.seconds, self.busy_s = seconds, busy_s
        self.now, self.num_threads = 0.0, 1

    def new_cache(self, capacity: int = 64) -> None:
        return None

    def forward(self, ids: list[int], cache: None, *, keep: int = 1) -> None:
        slower = 10 if self.now < self.busy_s else 1
        self.now += slower * self.seconds[self.num_threads] / 2

    def measure(self, monkeypatch: pytest.MonkeyPatch) -> int:
        monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
        monkeypatch.setattr(torch, "set_num_threads", lambda n: setattr(self, "num_threads", n))
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)
        choice = choose_threads(self, all_threads=2)  # type: ignore[arg-type]
        assert choice is not None
        return choice.num_threads


@pytest.mark.parametrize("busy_s", [0.0, 0.02, 0.06, 0.1, 0.15, 0.2, 10.0])
def test_a_busy_moment_does_not_decide_the_number_of_threads(
    busy_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tiny model: two threads take 2.5 times as long; the page opens while it is measured."""
    assert Machine({1: 0.004, 2: 0.010}, busy_s).measure(monkeypatch) == 1
    assert Machine({1: 0.040, 2: 0.025}, busy_s).measure(monkeypatch) == 2


def test_more_threads_are_taken_only_for_a_clear_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads 1.1 times as fast on a quiet machine, a third as fast once a browser draws."""
    assert Machine({1: 0.0044, 2: 0.0040}, 0.0).measure(monkeypatch) == 1
    assert Machine({1: 0.0051, 2: 0.0040}, 0.0).measure(monkeypatch) == 2


def test_mixtures_of_experts_in_mtp_layers_run_in_float64() -> None:
    request = RunRequest.of("mtp_layers", "Once", max_new_tokens=4, dtype="float64")
    assert len(runs.run(request).output_ids) == 4  # the grouped kernel of torch knows no float64
