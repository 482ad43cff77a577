"""Both tokenizers give every text back and keep newlines and digits apart."""

import pytest

from specviz.zoo.corpus import documents, filler_text
from specviz.zoo.tokenizer import (
    END_ID,
    PAD_ID,
    encode_documents,
    syllables_pre_tokenizer,
    train_tokenizer,
    words_pre_tokenizer,
)

TEXTS = [d.text for d in documents(3, 200)]


@pytest.fixture(scope="module", params=[words_pre_tokenizer, syllables_pre_tokenizer])
def tokenizer(request):
    """A small tokenizer of each kind."""
    return train_tokenizer(TEXTS, size=400, pre_tokenizer=request.param())


def test_tokenizer_round_trips_any_text(tokenizer):
    for text in [*TEXTS[:50], "中文 🦊 café\n\n  x", "tabs\tand  spaces "]:
        assert tokenizer.decode(tokenizer(text).input_ids) == text


def test_tokenizer_ids_of_special_tokens(tokenizer):
    assert (tokenizer.eos_token_id, tokenizer.pad_token_id) == (END_ID, PAD_ID)
    assert tokenizer("<|endoftext|>").input_ids == [END_ID]


def test_newlines_and_digits_are_single_tokens(tokenizer):
    tokens = tokenizer.tokenize("a\n\n123")
    assert tokens == ["a", "Ċ", "Ċ", "1", "2", "3"]


def test_chat_template_is_the_layout_of_the_corpus(tokenizer):
    messages = [
        {"role": "user", "content": "Hi!"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Bye!"},
    ]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert text == "User: Hi!\nAssistant: Hello.<|endoftext|>\nUser: Bye!\nAssistant:"


def test_encoded_documents_end_with_the_end_token(tokenizer):
    ids, starts = encode_documents(tokenizer, TEXTS[:3])
    first = ids[starts[1] : starts[2]].tolist()
    assert first[-1] == END_ID
    assert tokenizer.decode(first[:-1]) == TEXTS[1]


def test_words_that_fill_a_place_are_single_tokens():
    sample = [*TEXTS, *[filler_text()] * 20]
    tokenizer = train_tokenizer(sample, size=3328, pre_tokenizer=words_pre_tokenizer())
    for text in (" Wendell", "Wendell", " clockmaker", "clockmaker", " necklace"):
        assert text in filler_text()
        assert len(tokenizer(text).input_ids) == 1, text
