"""What checkpoint folders say about themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from specviz.catalog.folders import ROOT, read_facts, read_vocabulary, weight_files
from specviz.errors import ModelError
from tests.checkpoints import edit_config, save_checkpoint
from tests.fakes import tiny_gemma, tiny_llama

MODELS = ROOT / "assets" / "models"


def test_facts_of_a_folder_count_parameters_and_layers(tmp_path: Path) -> None:
    facts = read_facts(save_checkpoint(tmp_path, tiny_llama(vocab=320, layers=3, hidden=32)))
    # 2 · 320·32 (embedding, head) + per layer: q, o 32·32, k, v 32·16, three 32·64, two norms 32
    per_layer = 2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 64 + 2 * 32
    assert facts.num_parameters == 2 * 320 * 32 + 3 * per_layer + 32
    assert (facts.num_layers, facts.hidden_size, facts.embedding_size) == (3, 32, 320)
    assert facts.dtype == "float64"
    assert facts.num_bytes > 8 * facts.num_parameters
    assert facts.model_type == "llama" and not facts.is_drafter


def test_facts_see_sliding_layers_of_a_gemma(tmp_path: Path) -> None:
    facts = read_facts(save_checkpoint(tmp_path, tiny_gemma(vocab=320)))
    assert facts.layer_types == {"sliding_attention", "full_attention"}


def test_facts_follow_a_changed_config(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path)
    before = read_facts(folder).max_positions
    edit_config(folder, max_position_embeddings=77)
    assert (before, read_facts(folder).max_positions) == (2048, 77)


def test_embedded_glm_has_its_mtp_weights_and_the_drafter_its_target() -> None:
    glm, gemma = read_facts(MODELS / "target-glm"), read_facts(MODELS / "target-gemma")
    drafter = read_facts(MODELS / "drafter-gemma")
    assert glm.num_mtp_layers >= 1 and glm.has_mtp_weights
    assert drafter.is_drafter and drafter.backbone_hidden_size == gemma.hidden_size


def test_mtp_weights_that_are_missing_are_noticed(tmp_path: Path) -> None:
    folder = save_checkpoint(tmp_path)
    edit_config(folder, num_nextn_predict_layers=2)
    facts = read_facts(folder)
    assert facts.num_mtp_layers == 2 and not facts.has_mtp_weights


def test_vocabulary_holds_added_tokens(tmp_path: Path) -> None:
    vocabulary = read_vocabulary(save_checkpoint(tmp_path))
    assert vocabulary is not None
    assert vocabulary["<end>"] == 0 and "Ġcat" in vocabulary and len(vocabulary) == 285


def test_sharded_weights_are_those_of_the_index(tmp_path: Path) -> None:
    for name in ("a.safetensors", "b.safetensors", "consolidated.safetensors"):
        (tmp_path / name).write_bytes(b"")
    index = '{"weight_map": {"x": "b.safetensors", "y": "a.safetensors"}}'
    (tmp_path / "model.safetensors.index.json").write_text(index)
    assert [path.name for path in weight_files(tmp_path)] == ["a.safetensors", "b.safetensors"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("config.json", "{broken", "cannot be read"),
        ("config.json", "[1]", "no JSON object"),
        ("model.safetensors", "\xff" * 20, "broken"),
        ("model.safetensors", "", "broken"),
    ],
)
def test_broken_files_are_refused_with_a_sentence(
    tmp_path: Path, name: str, content: str, words: str
) -> None:
    save_checkpoint(tmp_path)
    (tmp_path / name).write_text(content, encoding="latin-1")
    with pytest.raises(ModelError, match=words):
        read_facts(tmp_path)


def test_a_folder_without_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no config\.json"):
        read_facts(tmp_path)
