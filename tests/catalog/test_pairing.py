"""Which targets serve which methods, and which pairs fit (U18, U20, U23, U27, U28)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specviz.catalog.folders import ModelFacts
from specviz.catalog.pairing import (
    check_draft,
    check_exit_layer,
    check_target,
    check_vocabularies,
    first_difference,
    overlap,
    why_draft_unfit,
    why_target_unfit,
)
from specviz.config import MethodCard
from specviz.errors import MethodError, PairError
from tests.checkpoints import ENGLISH, OTHER, byte_tokenizer

LLAMA = ModelFacts("llama", num_layers=6, hidden_size=32, embedding_size=64, num_bytes=1)
GLM = replace(LLAMA, model_type="glm4_moe", num_mtp_layers=3, has_mtp_weights=True)
GEMMA = replace(LLAMA, model_type="gemma4_text")
DRAFTER = replace(LLAMA, model_type="gemma4_assistant", backbone_hidden_size=32)


def card(key: str, *needs: str) -> MethodCard:
    return MethodCard(key=key, title=key, summary="", paper="", needs=frozenset(needs))


PLAIN = card("plain")
SPECULATIVE = card("speculative", "draft_model")
EARLY_EXIT = card("early_exit", "exit_layer")
MTP_LAYERS = card("mtp_layers", "mtp_layers")
MTP_DRAFTER = card("mtp_drafter", "mtp_drafter")
DFLASH = card("dflash", "dflash_drafter")
BLOCK = replace(LLAMA, model_type="any_block_drafter", block_layers=(1, 5))
UNIVERSAL = card("universal", "foreign_draft_model")


@pytest.mark.parametrize(
    ("method", "facts", "words"),
    [
        (PLAIN, LLAMA, None),
        (SPECULATIVE, LLAMA, None),
        (EARLY_EXIT, LLAMA, None),
        (EARLY_EXIT, replace(LLAMA, num_layers=1), "two are needed"),
        (MTP_LAYERS, GLM, None),
        (MTP_LAYERS, LLAMA, "names no multi-token-prediction layers"),
        (MTP_LAYERS, replace(GLM, has_mtp_weights=False), "hold no weights for them"),
        (MTP_DRAFTER, GEMMA, None),
        (MTP_DRAFTER, LLAMA, "and it is Llama"),
        (PLAIN, DRAFTER, "only drafts for its own target"),
        (PLAIN, BLOCK, "only drafts for its own target"),
        (PLAIN, replace(LLAMA, is_encoder_decoder=True), "encoder-decoder"),
        (PLAIN, replace(LLAMA, layer_types=frozenset({"linear_attention"})), None),
        (
            SPECULATIVE,
            replace(LLAMA, layer_types=frozenset({"linear_attention"})),
            "cannot be rolled back",
        ),
        (SPECULATIVE, None, None),
    ],
)
def test_reason_why_a_target_does_not_serve(
    method: MethodCard, facts: ModelFacts | None, words: str | None
) -> None:
    reason = why_target_unfit(method, facts)
    assert (reason is None) if words is None else (reason is not None and words in reason)


def test_a_reason_names_architectures_as_people_do() -> None:
    families = why_target_unfit(MTP_DRAFTER, GLM)
    assert families == (
        "MTP drafters exist for Gemma 3n, Gemma 4, Gemma 4 Unified, and it is GLM-4 MoE"
    )
    other = why_target_unfit(MTP_DRAFTER, replace(LLAMA, model_type="brand_new"))
    assert other is not None and other.endswith("and it is brand_new")


def test_refused_target_names_method_and_model() -> None:
    with pytest.raises(MethodError, match="'mtp_layers' cannot run on 'my-model': its config"):
        check_target(MTP_LAYERS, "my-model", LLAMA)


@pytest.mark.parametrize("exit_layer", [0, 6, 7, -1])
def test_exit_outside_the_model_is_refused(exit_layer: int) -> None:
    with pytest.raises(MethodError, match=f"from 1 to 5 .* got {exit_layer}"):
        check_exit_layer(exit_layer, "t", 6)


@pytest.mark.parametrize("exit_layer", [1, 5, None])
def test_exit_inside_the_model_is_taken(exit_layer: int | None) -> None:
    check_exit_layer(exit_layer, "t", 6)


@pytest.mark.parametrize(
    ("method", "target", "draft", "words"),
    [
        (SPECULATIVE, LLAMA, replace(LLAMA, hidden_size=8), None),
        (SPECULATIVE, LLAMA, DRAFTER, "not a model that can draft alone"),
        (MTP_DRAFTER, GEMMA, DRAFTER, None),
        (MTP_DRAFTER, GEMMA, LLAMA, "not an MTP drafter"),
        (MTP_DRAFTER, LLAMA, DRAFTER, "the target is Llama"),
        (MTP_DRAFTER, replace(GEMMA, hidden_size=64), DRAFTER, "made for a hidden size of 32"),
        (MTP_DRAFTER, None, DRAFTER, None),
        (MTP_DRAFTER, GEMMA, BLOCK, "not an MTP drafter"),
        (DFLASH, LLAMA, BLOCK, None),
        (DFLASH, LLAMA, DRAFTER, "not a block drafter"),
        (DFLASH, LLAMA, LLAMA, "not a block drafter"),
        (DFLASH, replace(LLAMA, hidden_size=64), BLOCK, "made for a hidden size of 32"),
        (DFLASH, replace(LLAMA, num_layers=5), BLOCK, "it reads layer 5"),
        (SPECULATIVE, LLAMA, BLOCK, "not a model that can draft alone"),
    ],
)
def test_reason_why_a_draft_model_does_not_suit(
    method: MethodCard, target: ModelFacts | None, draft: ModelFacts, words: str | None
) -> None:
    reason = why_draft_unfit(method, target, draft)
    assert (reason is None) if words is None else (reason is not None and words in reason)


def test_refused_pair_names_both_models() -> None:
    with pytest.raises(PairError, match="'d' cannot draft for 't' in 'mtp_drafter'"):
        check_draft(MTP_DRAFTER, ("t", LLAMA), ("d", DRAFTER))


def test_same_tokens_fit_whatever_the_embeddings() -> None:
    tokens = {"a": 0, "b": 1, "c": 2}
    assert first_difference(tokens, dict(tokens)) is None
    assert first_difference(tokens, {**tokens, "<reserved>": 3}) is None


def test_many_tokens_of_one_side_alone_do_not_fit() -> None:
    tokens = {"a": 0}
    larger = {**tokens, **{f"x{index}": index for index in range(1, 130)}}
    difference = first_difference(tokens, larger)
    assert difference is not None and "129 ids" in difference


def test_equal_size_with_other_tokens_is_refused_and_universal_is_named() -> None:
    ours = byte_tokenizer(ENGLISH).get_vocab()
    theirs = byte_tokenizer(OTHER).get_vocab()
    assert len(ours) == len(theirs) and ours != theirs
    with pytest.raises(PairError, match="different tokenizers: id .* use the method 'universal'"):
        check_vocabularies(SPECULATIVE, ("t", ours), ("d", theirs))
    check_vocabularies(UNIVERSAL, ("t", ours), ("d", theirs))


def test_overlap_is_the_share_of_the_draft_models_words() -> None:
    # 3 of the draft model's 4 words are known to the target: 75 %
    assert (
        overlap({"a": 0, "b": 1, "c": 2, "z": 3, "y": 4}, {"a": 5, "b": 0, "c": 1, "w": 2}) == 0.75
    )
