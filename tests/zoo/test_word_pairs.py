"""Words with and without a blank before them start as neighbours."""

import torch

from specviz.zoo.corpus import filler_text
from specviz.zoo.model import TOY, new_glm
from specviz.zoo.tokenizer import train_tokenizer, words_pre_tokenizer
from specviz.zoo.word_pairs import pair_words, word_pairs

TEXTS = ['"Lucy" and "Vienna"\nSay Lucy to Vienna and Lucy\n'] * 5


def made_tokenizer():
    return train_tokenizer(TEXTS, size=400, pre_tokenizer=words_pre_tokenizer())


def test_pairs_are_the_two_forms_of_one_word():
    tokenizer = made_tokenizer()
    forms = {
        (tokenizer.decode([bare]), tokenizer.decode([blank]))
        for bare, blank in word_pairs(tokenizer)
    }
    assert {("Lucy", " Lucy"), ("Vienna", " Vienna")} <= forms
    assert all(" " + bare == blank for bare, blank in forms)


def test_paired_words_start_as_neighbours_and_others_do_not():
    tokenizer = made_tokenizer()
    torch.manual_seed(0)
    model = new_glm(TOY, vocab=len(tokenizer), layers=1)
    before = model.model.embed_tokens.weight.detach().clone()
    pair_words(model, tokenizer)
    after = model.model.embed_tokens.weight.detach()
    pairs = word_pairs(tokenizer)
    bare, blank = (torch.tensor(side) for side in zip(*pairs, strict=True))
    assert torch.cosine_similarity(after[bare], after[blank]).mean() > 0.7
    assert torch.cosine_similarity(before[bare], before[blank]).mean() < 0.5
    # The step from one form to the other is one direction for all words, up to their own length.
    step = after[bare] - 0.9 * after[blank]
    assert torch.allclose(step, step[:1].expand_as(step), atol=1e-6)
    others = torch.tensor([i for i in range(len(tokenizer)) if i not in set(bare.tolist())])
    assert torch.equal(after[others], before[others])


def test_tokenizer_a_pairs_every_name_of_the_corpus():
    tokenizer = train_tokenizer([filler_text()] * 2, size=3000, pre_tokenizer=words_pre_tokenizer())
    words = {tokenizer.decode([bare]) for bare, _ in word_pairs(tokenizer)}
    assert {"Lucy", "Tara", "Wilma", "Theo"} <= words
