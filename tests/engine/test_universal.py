"""Universal assisted decoding: two tokenizers built here, plain generate() as the oracle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from specviz.config import DecodeConfig
from specviz.engine.drafters import methods
from specviz.engine.drafters.base import Parts
from specviz.engine.drafters.universal import Universal, common_length
from specviz.engine.language_model import LanguageModel, Outputs, Want
from specviz.engine.verifiers import GreedyMatch, SampleMatch, rule_of
from specviz.engine.vocabulary import BROKEN, GrowingIds, TextSide, TextTail, VocabularyMap
from specviz.events import PiecesSource
from tests.engine.laws import processed
from tests.fakes import (
    TableModel,
    generated,
    new_ids,
    run_method,
    run_with,
    steps,
    tiny_gemma,
    tiny_llama,
)

PROMPTS = [
    "the cat",
    "  two  spaces",
    "line\n\nline",
    "naïve – “quoted”",
    "a 🙂 and 👩‍🚀 fly",
    "今天天气很好。我们去",
]
TARGET_TEXTS = ["the cat sat on the mat and the rat ran", "two lines of the same quoted spaces"] * 4
DRAFT_TEXTS = ["a small dog barks at the moon", "she sells shells, then the cat swims home"] * 4
SPECIAL = ["<pad>", "<eos>"]


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def byte_tokenizer(texts, size, *, alphabet=None, start=None) -> PreTrainedTokenizerFast:
    """A byte-level BPE with an end token, a pad token and perhaps a start token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[*SPECIAL, *([start] if start else [])],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if alphabet is None else alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", bos_token=start
    )


TARGET_TOKENS = byte_tokenizer(TARGET_TEXTS, 304)
DRAFT_TOKENS = byte_tokenizer(DRAFT_TEXTS, 280)
VOCABULARY = VocabularyMap.of(TARGET_TOKENS, DRAFT_TOKENS)
assert len(TARGET_TOKENS) > len(DRAFT_TOKENS) == 280


def target_model(**options):
    return tiny_llama(vocab=len(TARGET_TOKENS), **options)


def draft_model(**options):
    return tiny_llama(vocab=len(DRAFT_TOKENS), layers=1, seed=3, **options)


def parts_of(target, draft, vocabulary=VOCABULARY, **settings) -> Parts:
    settings.setdefault("max_new_tokens", 24)
    return Parts(
        target if isinstance(target, TableModel) else LanguageModel(target),
        DecodeConfig(**settings),
        draft=draft,
        vocabulary=vocabulary,
    )


class GuessCache:
    """The cache of a ``Guesser``: the ids themselves."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.num_bytes = 0

    @property
    def length(self) -> int:
        return len(self.ids)

    def crop(self, length: int) -> None:
        assert 0 <= length <= len(self.ids)
        del self.ids[length:]


class Guesser:
    """A draft model that says what ``continuation(text so far)`` says, in its own tokens."""

    def __init__(self, side: TextSide, size: int, continuation: Callable[[str], str]) -> None:
        self.side, self.size, self.continuation = side, size, continuation
        self.max_positions = 0
        self.num_ids_fed = 0
        self.start: tuple[int, ...] = ()

    def new_cache(self, capacity: int = 64) -> GuessCache:
        return GuessCache()

    def forward(
        self, ids: Sequence[int], cache: GuessCache, *, keep: int = 1, want: Want | None = None
    ) -> Outputs:
        cache.ids.extend(ids)
        self.num_ids_fed += len(ids)
        logits = torch.zeros(1, self.size)
        logits[0, self.next_id(cache.ids)] = 9.0
        return Outputs(logits)

    def next_id(self, ids: list[int]) -> int:
        whole = next(n for n in range(len(ids), -1, -1) if not self.text(ids[:n]).endswith(BROKEN))
        rest = self.side.encode(self.continuation(self.text(ids[:whole])))
        return [*rest, 1, 1, 1, 1][len(ids) - whole]

    def text(self, ids: list[int]) -> str:
        return self.side.decode(ids)

    prefill = forward


def knowing(text: str) -> Guesser:
    """A draft model that knows the whole text."""
    return Guesser(VOCABULARY.draft, len(DRAFT_TOKENS), lambda sofar: text[len(sofar) :])


def assert_no_special(events) -> None:
    refused = set(TARGET_TOKENS.all_special_ids)
    for step in steps(events):
        assert not refused & {token.id for token in step.proposed}


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_equals_plain_generate(prompt):
    """U16: random models, so that most of the text is bytes of no character."""
    model, draft = target_model(), LanguageModel(draft_model())
    ids = TARGET_TOKENS(prompt)["input_ids"]
    assert TARGET_TOKENS.decode(ids) == prompt
    expected = generated(model, ids, 24)
    parts = parts_of(model, draft)
    first, second = run_method("universal", parts, ids), run_method("universal", parts, ids)
    assert new_ids(first) == new_ids(second) == expected
    assert [s.proposed for s in steps(first)] == [s.proposed for s in steps(second)]
    assert_no_special(first)


class Reciter(TableModel):
    """A target that recites ids: its argmax is the next one of a list."""

    def __init__(self, ids: Sequence[int], size: int) -> None:
        super().__init__(torch.ones(size, size) / size)
        self.known = list(ids)

    def forward(self, ids, cache, *, keep=1, want=None) -> Outputs:
        cache.length += len(ids)
        self.num_forwards += 1
        logits = torch.zeros(keep, self.vocab_size)
        for row, position in enumerate(range(cache.length - keep, cache.length)):
            if position + 1 < len(self.known):
                logits[row, self.known[position + 1]] = 9.0
        return Outputs(logits)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_good_draft_is_accepted_whatever_the_text(prompt):
    """A draft model that knows the text: only tokens cut by the draft's end may be refused."""
    text = prompt + " sat on the mat – “ranté” 🙂 and\n\n  the 天气 rat ran  home."
    ids, start = TARGET_TOKENS(text)["input_ids"], TARGET_TOKENS(prompt)["input_ids"]
    assert ids[: len(start)] == start
    target = Reciter(ids, len(TARGET_TOKENS))
    events = run_method(
        "universal",
        parts_of(target, knowing(text), gamma=6, max_new_tokens=len(ids) - len(start)),
        start,
    )
    assert new_ids(events) == ids[len(start) :]
    accepted = sum(len(step.accepted) for step in steps(events))
    assert accepted > 0.5 * (len(ids) - len(start))
    for step in steps(events):
        assert all(t.fate == "accepted" for t in step.proposed[:-3])
    assert_no_special(events)


def test_text_without_blanks_is_drafted_to_its_end():
    text = PROMPTS[-1] * 9
    ids = TARGET_TOKENS(text)["input_ids"]
    parts = parts_of(
        Reciter(ids, len(TARGET_TOKENS)), knowing(text), gamma=6, max_new_tokens=len(ids) - 30
    )
    found = steps(run_method("universal", parts, ids[:30]))
    assert [i for step in found for i in step.committed_ids] == ids[30:]
    assert sum(len(step.accepted) for step in found[-20:]) > 25


def test_no_more_tokens_than_gamma_are_sent_and_the_rest_is_counted():
    """The draft model says long words in one token each; the target needs many."""
    words = byte_tokenizer(["catalogue moonlight"] * 40, 310)
    letters = byte_tokenizer(["a"], 258)
    vocabulary = VocabularyMap.of(letters, words)
    text = "catalogue moonlight catalogue moonlight"
    draft = Guesser(vocabulary.draft, len(words), lambda sofar: text[len(sofar) :])
    ids = letters(text)["input_ids"]
    parts = parts_of(
        Reciter(ids, len(letters)), draft, vocabulary, gamma=3, max_new_tokens=len(text) - 4
    )
    events = run_method("universal", parts, ids[:4])
    assert new_ids(events) == ids[4:]
    assert all(len(step.proposed) <= 3 for step in steps(events))
    assert any(step.num_unsent > 0 for step in steps(events))
    assert all(step.num_draft_forwards <= step.gamma for step in steps(events))


def test_draft_pieces_of_each_token_are_in_the_trace():
    """Joined and without repeats, the pieces are the draft model's tokens of the draft's text."""
    text = "the cat sat on the mat and the rat ran"
    ids = TARGET_TOKENS(text)["input_ids"]
    parts = parts_of(Reciter(ids, len(TARGET_TOKENS)), knowing(text), gamma=6, max_new_tokens=12)
    seen = 0
    for step in steps(run_method("universal", parts, ids[:2])):
        for token in step.proposed:
            assert isinstance(token.source, PiecesSource)
            own = TARGET_TOKENS.decode([token.id])
            pieces = DRAFT_TOKENS.decode(token.source.ids)
            assert own in pieces
            seen += 1
    assert seen > 5


def test_nothing_is_drafted_inside_a_character():
    text = "🙂🙂"
    ids = TARGET_TOKENS(text)["input_ids"]
    assert len(ids) == 8
    parts = parts_of(Reciter(ids, len(TARGET_TOKENS)), knowing(text), max_new_tokens=2)
    first = steps(run_method("universal", parts, ids[:3]))[0]
    assert first.proposed == () and first.num_draft_forwards == 0


def test_special_tokens_are_never_drafted():
    """Neither the draft model's end token nor text that spells one of the target's."""
    ids = TARGET_TOKENS("the cat<eos> sat")["input_ids"]
    for text in ("the cat", "the cat<eos> sat on", "the cat<pad><eos>"):
        parts = parts_of(Reciter(ids, len(TARGET_TOKENS)), knowing(text), max_new_tokens=2)
        events = run_method("universal", parts, ids[:2])
        assert_no_special(events)
        assert new_ids(events) == ids[2:]


def test_special_tokens_in_the_prompt_do_not_stop_drafting():
    text = "the cat sat on the mat"
    tail = TARGET_TOKENS(text)["input_ids"]
    ids = [*TARGET_TOKENS("you<eos>the")["input_ids"], *tail]
    whole = TARGET_TOKENS.decode(ids, skip_special_tokens=True)
    parts = parts_of(Reciter(ids, len(TARGET_TOKENS)), knowing(whole), max_new_tokens=6)
    events = run_method("universal", parts, ids[:-6])
    assert new_ids(events) == ids[-6:]
    assert any(step.accepted for step in steps(events))


def test_start_token_stands_once_and_only_before_the_text():
    """U16: a start token that the draft tokenizer wants is fed first, and never again."""
    tokens = byte_tokenizer(DRAFT_TEXTS, 301, start="<s>")
    side = TextSide.of(tokens)
    assert side.start_ids == ()  # this tokenizer adds none by itself
    side = TextSide(side.encode, side.decode, side.words, side.special_ids, (2,))
    draft = knowing("the cat sat on the mat")
    seen: list[list[int]] = []
    original = draft.next_id
    draft.next_id = lambda ids: seen.append(list(ids)) or original(ids)
    target = Reciter(TARGET_TOKENS("the cat sat on the mat")["input_ids"], len(TARGET_TOKENS))
    parts = parts_of(target, draft, VocabularyMap(VOCABULARY.target, side), max_new_tokens=4)
    run_method("universal", parts, target.known[:2])
    assert seen and all(ids[0] == 2 and 2 not in ids[1:] for ids in seen)


def test_a_tokenizer_that_adds_a_start_token_adds_it_once():
    """U16: texts that are encoded anew hold no start token."""
    tokens = byte_tokenizer(DRAFT_TEXTS, 301, start="<s>")
    tokens.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 2)]
    )
    side = TextSide.of(tokens)
    assert side.start_ids == (2,)
    assert side.encode("the cat") == tokens("the cat")["input_ids"][1:]
    growing = GrowingIds(side)
    for text in ("the", "the cat", "the cat swims"):
        assert growing.follow(text) == tokens(text)["input_ids"]


@pytest.mark.parametrize(
    "rules",
    [
        {"repetition_penalty": 1.5},
        {"no_repeat_ngram_size": 2},
        {"bad_words_ids": ((40,), (75, 80))},
    ],
)
def test_greedy_equals_plain_generate_under_rules(rules):
    """U15, and the assistant's own settings stay as they were."""
    model, draft = target_model(), draft_model()
    before = fingerprint(draft, DRAFT_TOKENS)
    ids = TARGET_TOKENS("the cat")["input_ids"]
    options = {k: [list(w) for w in v] if k == "bad_words_ids" else v for k, v in rules.items()}
    parts = parts_of(model, LanguageModel(draft), **rules)
    assert new_ids(run_method("universal", parts, ids)) == generated(model, ids, 24, **options)
    assert fingerprint(draft, DRAFT_TOKENS) == before


def test_forbidden_tokens_are_not_proposed():
    text = "the cat sat on the mat"
    ids = TARGET_TOKENS(text)["input_ids"]
    banned = ids[3]
    parts = parts_of(
        Reciter(ids, len(TARGET_TOKENS)), knowing(text), bad_words_ids=((banned,),), gamma=8
    )
    for step in steps(run_method("universal", parts, ids[:2])):
        assert banned not in [token.id for token in step.proposed]


def test_same_size_vocabularies_with_other_tokens_work():
    """U18: equal sizes, different tokens."""
    draft_tokens = byte_tokenizer(DRAFT_TEXTS, 304)
    vocabulary = VocabularyMap.of(TARGET_TOKENS, draft_tokens)
    model = target_model()
    draft = LanguageModel(tiny_llama(vocab=304, layers=1, seed=4))
    ids = TARGET_TOKENS("the cat")["input_ids"]
    found = new_ids(run_method("universal", parts_of(model, draft, vocabulary), ids))
    assert found == generated(model, ids, 24)


def test_sliding_window_of_the_draft_model_is_passed():
    model = target_model()
    draft = LanguageModel(tiny_gemma(vocab=len(DRAFT_TOKENS), window=8))
    ids = TARGET_TOKENS("the cat sat on the mat and the rat ran")["input_ids"]
    found = new_ids(run_method("universal", parts_of(model, draft), ids))
    assert found == generated(model, ids, 24)


def test_draft_model_without_room_drafts_nothing():
    text = "the cat sat on the mat and the rat ran home again"
    ids = TARGET_TOKENS(text)["input_ids"]
    draft = knowing(text)
    draft.max_positions = 12
    parts = parts_of(Reciter(ids, len(TARGET_TOKENS)), draft, gamma=4, max_new_tokens=18)
    found = steps(run_method("universal", parts, ids[:2]))
    assert found[0].proposed and not found[-2].proposed


def test_confidence_ends_a_draft():
    text = "the cat sat on the mat"
    ids = TARGET_TOKENS(text)["input_ids"]
    parts = parts_of(Reciter(ids, len(TARGET_TOKENS)), knowing(text), confidence=1.0)
    for step in steps(run_method("universal", parts, ids[:2])):
        assert step.num_draft_forwards <= 1


def test_overlap_is_the_share_of_the_draft_models_words():
    """U20, computed here from the tokenizer files."""
    ours = set(json.loads(TARGET_TOKENS.backend_tokenizer.to_str())["model"]["vocab"])
    theirs = set(json.loads(DRAFT_TOKENS.backend_tokenizer.to_str())["model"]["vocab"])
    assert VOCABULARY.overlap == pytest.approx(len(ours & theirs) / len(theirs))
    assert 0.5 < VOCABULARY.overlap < 1
    pairs = VOCABULARY.shared_ids
    assert len(pairs) == len(ours & theirs) - len(SPECIAL)
    for draft_id, target_id in pairs[::17]:
        words = DRAFT_TOKENS.convert_ids_to_tokens(draft_id)
        assert words == TARGET_TOKENS.convert_ids_to_tokens(target_id)


def test_only_the_end_of_the_text_is_fed_and_encoded_anew():
    text = " ".join(["the cat sat on the mat and"] * 12)
    ids = TARGET_TOKENS(text)["input_ids"]
    draft = knowing(text)
    encoded: list[int] = []
    side = VOCABULARY.draft
    watched = TextSide(
        lambda t: encoded.append(len(t)) or side.encode(t),
        side.decode,
        side.words,
        side.special_ids,
    )
    parts = parts_of(
        Reciter(ids, len(TARGET_TOKENS)),
        draft,
        VocabularyMap(VOCABULARY.target, watched),
        max_new_tokens=len(ids) - 4,
    )
    found = steps(run_method("universal", parts, ids[:4]))
    num_draft_ids = len(side.encode(text))
    assert draft.num_ids_fed < 2.5 * num_draft_ids
    assert max(encoded) < len(text) / 2 and len(encoded) < 3 * len(found)


@pytest.mark.parametrize(
    "text",
    ["the cat sat on the mat, then the rat – ranté 🙂 –\n\n  swims home. " * 6, PROMPTS[-1] * 9],
)
def test_growing_ids_equal_the_encoding_of_the_whole(text):
    growing = GrowingIds(VOCABULARY.draft)
    for end in range(1, len(text), 7):
        assert growing.follow(text[:end]) == VOCABULARY.draft.encode(text[:end])
    assert growing._num_chars > 0


def test_text_tail_waits_for_whole_characters():
    ids = TARGET_TOKENS("a🙂b")["input_ids"]
    tail = TextTail(VOCABULARY.target)
    told = [tail.extend(ids[: end + 1]) for end in range(len(ids))]
    assert told == [True, False, False, False, True, True]
    assert tail.text == "a🙂b"


def fingerprint(model, tokenizer) -> str:
    """A hash of everything in a model and a tokenizer that a run could change."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    digest.update(json.dumps(model.config.to_dict(), sort_keys=True, default=str).encode())
    digest.update(json.dumps(model.generation_config.to_dict(), default=str).encode())
    digest.update(tokenizer.backend_tokenizer.to_str().encode())
    digest.update(type(model.get_input_embeddings()).__name__.encode())
    digest.update(type(model.get_output_embeddings()).__name__.encode())
    return digest.hexdigest()


def test_run_changes_nothing_in_the_draft_model_also_when_it_fails():
    model, draft = target_model(), draft_model()
    before = fingerprint(draft, DRAFT_TOKENS), fingerprint(model, TARGET_TOKENS)
    wrapped = LanguageModel(draft)
    after_wrapping = fingerprint(draft, DRAFT_TOKENS)
    ids = TARGET_TOKENS("the cat")["input_ids"]
    for temperature in (0.0, 0.8):
        run_method("universal", parts_of(model, wrapped, temperature=temperature), ids)
    drafter = Universal(wrapped, VOCABULARY, len(TARGET_TOKENS))
    drafter._usable = lambda *args: 1 / 0
    with pytest.raises(ZeroDivisionError):
        run_with(drafter, GreedyMatch(), parts_of(model, wrapped), ids)
    assert before[0] == after_wrapping == fingerprint(draft, DRAFT_TOKENS)
    assert before[1] == fingerprint(model, TARGET_TOKENS)


def test_common_length():
    assert common_length([], [1]) == 0
    assert common_length([1, 2, 3], [1, 2]) == 2
    assert common_length([1, 2, 3, 4, 5], [1, 2, 9, 4, 5]) == 2
    assert common_length([9], [1, 9]) == 0


def test_card_and_rule():
    card = methods()["universal"].card
    assert card.lossless and not card.provides_probs
    assert card.needs == {"foreign_draft_model"}
    assert isinstance(rule_of(card, DecodeConfig()), GreedyMatch)
    assert isinstance(rule_of(card, DecodeConfig(temperature=1.0)), SampleMatch)


# Sampling: small vocabularies, laws known exactly.

LETTERS = ["a", "b", "c", "d", "Ġ"]
SMALL_TARGET = byte_tokenizer(["abc abd bad cab dab acbd bacd"] * 6, 20, alphabet=LETTERS)
SMALL_DRAFT = byte_tokenizer(["bca cab dcab bcad ac db"] * 6, 16, alphabet=LETTERS)
SMALL = VocabularyMap.of(SMALL_TARGET, SMALL_DRAFT)
LIKELY = max(i for word, i in SMALL_TARGET.get_vocab().items() if word.startswith("Ġ"))


def small_table() -> torch.Tensor:
    """Random transitions where one word is likely everywhere; special tokens never come."""
    size, rng = len(SMALL_TARGET), torch.Generator().manual_seed(7)
    table = torch.rand(size, size, generator=rng) ** 2
    table[:, : len(SPECIAL)] = 0
    table[:, LIKELY] += 8
    return table / table.sum(-1, keepdim=True)


class Echo(Guesser):
    """A draft model that always says the target's likely word."""

    def __init__(self) -> None:
        super().__init__(SMALL.draft, len(SMALL_DRAFT), lambda sofar: "")
        self.pieces = SMALL.draft.encode(SMALL.target.decode([LIKELY]))

    def next_id(self, ids: list[int]) -> int:
        said = range(len(self.pieces) - 1, 0, -1)
        return self.pieces[next((n for n in said if ids[-n:] == self.pieces[:n]), 0)]


ALL_RULES = {"temperature": 0.7, "top_k": 5, "top_p": 0.9, "repetition_penalty": 1.3}
RULES = [
    {"temperature": 1.0},
    {"temperature": 0.7, "top_k": 5, "top_p": 0.9},
    {"temperature": 1.0, "repetition_penalty": 1.3},
]


@pytest.mark.parametrize(
    "rules", [ALL_RULES, *(pytest.param(rules, marks=pytest.mark.slow) for rules in RULES)]
)
def test_every_token_of_sampled_runs_follows_the_targets_law(rules):
    """5,000 tokens: counts of (last, next) against the sum of the exact laws given the prefix."""
    table, size = small_table(), len(SMALL_TARGET)
    known: dict = {}
    counts, expected = torch.zeros(size, size), torch.zeros(size, size, dtype=torch.float64)
    laws, accepted, num_tokens = [], 0, 500
    for seed in range(10):
        parts = parts_of(
            TableModel(table),
            Echo(),
            SMALL,
            seed=seed,
            gamma=4,
            max_new_tokens=num_tokens,
            **rules,
        )
        events = run_method("universal", parts, [5, 9])
        accepted += sum(len(step.accepted) for step in steps(events))
        prefix = [5, 9]
        for token in new_ids(events):
            seen = prefix[-1], frozenset(prefix)
            if seen not in known:
                known[seen] = processed(table[prefix[-1]].log(), prefix, rules)
            row = known[seen]
            counts[prefix[-1], token] += 1
            expected[prefix[-1]] += row
            laws.append((prefix[-1], row))
            prefix.append(token)
    assert counts.sum() == 5_000 and accepted > 1_500
    assert not counts[expected == 0].any()
    noise = max(_distance(drawn, expected) for drawn in _drawn(laws, size, 30))
    assert _distance(counts, expected) < 1.15 * noise


def _drawn(laws, size: int, times: int) -> list[torch.Tensor]:
    """Counts of draws from the same laws: what noise alone gives."""
    rng = torch.Generator().manual_seed(0)
    drawn = torch.multinomial(torch.stack([row for _, row in laws]), times, True, generator=rng)
    cells = torch.tensor([row for row, _ in laws])[:, None] * size + drawn
    return [torch.bincount(c, minlength=size * size).view(size, size) for c in cells.T]


def _distance(counts: torch.Tensor, expected: torch.Tensor) -> float:
    return float((counts - expected).abs().sum() / expected.sum()) / 2
