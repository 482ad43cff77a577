"""Texts and bytes of tokens, and their attachment to events."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from specviz.attach import Attacher
from specviz.catalog.load import load_tokenizer
from specviz.catalog.locate import locate
from specviz.events import (
    Drafted,
    DraftToken,
    Fate,
    Finished,
    PiecesSource,
    Prefilled,
    TargetToken,
    TopToken,
    Verified,
)
from specviz.token_text import Reader, TokenTexts
from tests.checkpoints import byte_tokenizer

TEXTS = (
    "the cat",
    "  two  spaces",
    "line\n\nline",
    "naïve – “quoted”",
    "🙂🙃 \0 \u202e x",
    "日本語",
)


def sentence_piece_tokenizer() -> PreTrainedTokenizerFast:
    """Like Llama 2: a sign for blanks, and bytes for what the vocabulary lacks."""
    vocabulary = {"<unk>": 0, **{f"<0x{byte:02X}>": byte + 1 for byte in range(256)}}
    for sign in ("▁", "a", "b", "▁a"):
        vocabulary[sign] = len(vocabulary)
    inner = Tokenizer(models.BPE(vocabulary, [("▁", "a")], unk_token="<unk>", byte_fallback=True))
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return PreTrainedTokenizerFast(tokenizer_object=inner)


@pytest.fixture(scope="module")
def embedded() -> TokenTexts:
    return TokenTexts(load_tokenizer(locate("target-glm"), lambda text: None))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("model_id", ["target-glm", "assistant-other-tokenizer"])
def test_joined_texts_are_the_text_and_bytes_its_utf8(text: str, model_id: str) -> None:
    tokenizer = load_tokenizer(locate(model_id), lambda text: None)
    tokens = TokenTexts(tokenizer).prompt(tokenizer(text)["input_ids"])
    assert "".join(token.text for token in tokens) == text
    assert b"".join(token.data for token in tokens) == text.encode()


def test_every_id_of_the_embedded_tokenizer_reads_as_transformers_decodes_it() -> None:
    tokenizer = load_tokenizer(locate("target-glm"), lambda text: None)
    texts = TokenTexts(tokenizer)
    for token_id in range(len(tokenizer)):
        assert texts.data(token_id).decode("utf-8", "replace") == tokenizer.decode([token_id])


def test_a_split_character_has_its_text_in_its_last_token() -> None:
    tokenizer = byte_tokenizer()  # knows no merges for "é": bytes C3 A9
    tokens = TokenTexts(tokenizer).prompt(tokenizer("é")["input_ids"])
    assert [(token.text, token.data) for token in tokens] == [("", b"\xc3"), ("é", b"\xa9")]


def test_sentence_piece_bytes_and_blanks_are_read() -> None:
    tokenizer = sentence_piece_tokenizer()
    ids = tokenizer("a é")["input_ids"]
    tokens = TokenTexts(tokenizer).prompt(ids)
    assert "".join(token.text for token in tokens) == " a é"  # the blank that Metaspace adds
    assert [token.data for token in tokens][-2:] == [b"\xc3", b"\xa9"]


def test_ids_beyond_the_vocabulary_have_no_text(embedded: TokenTexts) -> None:
    assert embedded.data(2_000_000) == b"" and embedded.text([2_000_000]) == ""


def test_special_tokens_have_their_name(embedded: TokenTexts) -> None:
    assert embedded.text([0]) == "<|endoftext|>"


def test_part_of_a_character_is_labelled_by_its_bytes() -> None:
    tokenizer = byte_tokenizer()
    first, last = tokenizer("é")["input_ids"]
    texts = TokenTexts(tokenizer)
    assert (texts.label(first), texts.label(last)) == ("<0xC3>", "<0xA9>")
    assert texts.top([TopToken(first, 0.5)]) == (TopToken(first, 0.5, "<0xC3>"),)


def test_reader_resumes_within_a_character() -> None:
    text, reader = Reader().read(b"a\xe2\x82")
    assert (text, reader.pending) == ("a", b"\xe2\x82")
    assert reader.read(b"\xac!")[0] == "€!"
    assert reader.read(b"!")[0] == "\ufffd!"


def ids_of(text: str) -> list[int]:
    return list(byte_tokenizer()(text)["input_ids"])


def test_rejected_tokens_do_not_disturb_the_text_that_follows() -> None:
    first, last = ids_of("é")  # two bytes
    other = ids_of("x")[0]
    attacher = Attacher(TokenTexts(byte_tokenizer()))
    attacher.attach(Prefilled(1, 0.0))
    step = Verified(
        index=0,
        gamma=3,
        proposed=(
            DraftToken(first, fate=Fate.ACCEPTED),
            DraftToken(other, fate=Fate.REJECTED),
            DraftToken(last, fate=Fate.DISCARDED),
        ),
        target_token=TargetToken(last, Fate.RESIDUAL),
    )
    done = attacher.attach(step)
    assert isinstance(done, Verified) and done.target_token is not None
    # After the lone first byte an "x" reads as a replacement sign and x; the residual completes é.
    assert [token.text for token in done.proposed] == ["", "\ufffdx", "\ufffd"]
    assert (done.target_token.text, done.target_token.data) == ("é", b"\xa9")


def test_drafted_tokens_get_the_text_they_would_have() -> None:
    first, last = ids_of("é")
    attacher = Attacher(TokenTexts(byte_tokenizer()))
    drafted = Drafted(0, 2, (DraftToken(first), DraftToken(last)), 0.0, 2)
    done = attacher.attach(drafted)
    assert isinstance(done, Drafted)
    assert [token.text for token in done.proposed] == ["", "é"]


def test_pieces_of_the_draft_model_are_named_by_its_own_tokenizer() -> None:
    tokenizer = byte_tokenizer()
    piece = ids_of("é")[0]
    attacher = Attacher(TokenTexts(tokenizer), TokenTexts(tokenizer))
    token = DraftToken(5, source=PiecesSource(ids=(piece,)))
    done = attacher.attach(Drafted(0, 1, (token,), 0.0, 1))
    assert isinstance(done, Drafted)
    assert done.proposed[0].source == PiecesSource(ids=(piece,), texts=("<0xC3>",))


def test_finished_text_is_what_transformers_decodes() -> None:
    tokenizer = byte_tokenizer()
    ids = (*ids_of("the cat"), ids_of("é")[0])
    done = Attacher(TokenTexts(tokenizer)).attach(Finished(ids, "length", 0.0))
    assert isinstance(done, Finished)
    assert done.text == "the cat\ufffd" == tokenizer.decode(ids)
