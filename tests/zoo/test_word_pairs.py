"""The two forms of a word, with a blank and without, stay one word while a base trains."""

import re

import pytest
import torch

from specviz.zoo import stages
from specviz.zoo.corpus import filler_text
from specviz.zoo.loop import Step, TrainingLoop, TrainPlan
from specviz.zoo.model import TOY, new_glm
from specviz.zoo.tokenizer import train_tokenizer, words_pre_tokenizer
from specviz.zoo.word_pairs import tie_words, word_pairs
from specviz.zoo.workspace import Workspace

IN_QUOTES = set(re.findall(r'"(\w+)"', filler_text()))


@pytest.fixture(scope="module")
def tokenizer():
    """Tokenizer A as the recipe makes it, from its fillers alone."""
    return train_tokenizer([filler_text()] * 2, size=3000, pre_tokenizer=words_pre_tokenizer())


def test_every_word_of_records_is_a_pair_of_its_two_forms(tokenizer):
    bare, blank = (tokenizer.batch_decode(side.unsqueeze(1)) for side in word_pairs(tokenizer))
    assert all(" " + word == form for word, form in zip(bare, blank, strict=True))
    assert set(bare) >= IN_QUOTES


def test_function_words_and_letters_are_not_tied():
    tokenizer = train_tokenizer(
        ["The the. Q: a, A: of the and Q"] * 9, size=300, pre_tokenizer=words_pre_tokenizer()
    )
    assert word_pairs(tokenizer).shape == (2, 0)
    model = new_glm(TOY, vocab=len(tokenizer), layers=1)
    before = model.get_input_embeddings().weight.detach().clone()
    tie_words(model, word_pairs(tokenizer))
    assert torch.equal(model.get_input_embeddings().weight, before)


def test_tied_words_differ_by_one_direction_and_keep_their_middle(tokenizer):
    torch.manual_seed(0)
    model = new_glm(TOY, vocab=len(tokenizer), layers=1)
    before = model.get_input_embeddings().weight.detach().clone()
    pairs = word_pairs(tokenizer)
    tie_words(model, pairs)
    after = model.get_input_embeddings().weight.detach()
    steps = after[pairs[0]] - after[pairs[1]]
    mean_step = (before[pairs[0]] - before[pairs[1]]).mean(0)
    assert torch.allclose(steps, mean_step.expand_as(steps), atol=1e-6)
    assert torch.allclose(after[pairs].mean(0), before[pairs].mean(0), atol=1e-6)
    untied = torch.ones(len(before), dtype=torch.bool)
    untied[pairs.flatten()] = False
    assert untied.any()
    assert torch.equal(after[untied], before[untied])


def test_the_loop_calls_back_after_each_step(tmp_path):
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4))

    def take_step(_: int) -> Step:
        return Step(module(torch.ones(1, 4)).square().mean(), 4, {})

    @torch.no_grad()
    def flatten() -> None:
        module[0].weight.copy_(module[0].weight.mean().expand(4, 4))

    plan = TrainPlan("tie", 1.0, tmp_path, max_steps=2)
    TrainingLoop(module, take_step, plan, after_step=flatten).run()
    assert module[0].weight.std() == 0


def test_a_base_of_the_recipe_ends_tied(tmp_path):
    space = Workspace(
        tmp_path, size=TOY, prose=None, device="cpu", seed=0, compiled=False, output=tmp_path
    )
    made = train_tokenizer(
        ['"Otto" Otto "Lima" Lima'] * 9, size=400, pre_tokenizer=words_pre_tokenizer()
    )
    made.save_pretrained(space.tokenizer_folder("a"))
    stages.corpus_stage(space)
    stages.base_stage(space, "glm", minutes=0.02)
    base = space.restore(stages.new_base(space, "glm"), "base-glm")
    pairs = word_pairs(space.tokenizer("a"))
    assert pairs.shape[1] >= 2
    steps = (
        base.get_input_embeddings().weight[pairs[0]] - base.get_input_embeddings().weight[pairs[1]]
    )
    assert torch.allclose(steps, steps[:1].expand_as(steps), atol=1e-6)
