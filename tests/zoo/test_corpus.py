"""The grammar tells the truth: sums add up, records parse, rewrites change one word."""

import json
import random
import re
from itertools import islice

import pytest

from specviz.zoo.corpus import GENRES, HELD_OUT_SEED, TRAIN_SEED, Check, Document, documents
from specviz.zoo.corpus.chat import ALL_FACTS, CHAT_TEMPLATE, END_OF_TEXT
from specviz.zoo.corpus.facts import CAPITALS, OPPOSITES
from specviz.zoo.corpus.numbers import addition_steps
from specviz.zoo.corpus.prose import read_chunks, split_chunks
from specviz.zoo.corpus.words import FEMALE_NAMES, MALE_NAMES, OBJECTS, pick, with_article

NUM_SAMPLES = 60


def sample(genre: str) -> list[Document]:
    """Some documents of one genre."""
    return list(documents(17, NUM_SAMPLES, genre=genre))


def test_word_lists_are_wide_and_without_repeats():
    names = FEMALE_NAMES + MALE_NAMES
    assert len(names) >= 300
    assert len(set(names)) == len(names)
    assert len(set(OBJECTS)) == len(OBJECTS) >= 100
    assert len(ALL_FACTS) >= 300


def test_facts_have_one_answer_each():
    questions = [question for question, _ in ALL_FACTS]
    assert len(set(questions)) == len(questions)
    assert CAPITALS["France"] == "Paris"
    assert OPPOSITES["hot"] == "cold"
    assert ("How many days are in April?", "There are 30 days in April.") in ALL_FACTS


def test_same_seed_gives_same_documents():
    assert list(documents(5, 50)) == list(documents(5, 50))
    assert list(documents(5, 50)) != list(documents(6, 50))


def test_training_and_held_out_documents_differ():
    assert TRAIN_SEED != HELD_OUT_SEED
    train = {d.text for d in documents(TRAIN_SEED, 2000) if d.genre == "story"}
    held_out = {d.text for d in documents(HELD_OUT_SEED, 2000) if d.genre == "story"}
    assert not train & held_out


@pytest.mark.parametrize("genre", list(GENRES))
def test_documents_are_well_formed(genre):
    for document in sample(genre):
        assert document.genre == genre
        assert document.prompt == document.prompt.strip()
        assert document.answer.startswith((" ", "\n"))
        assert document.text.count("  ") == 0 or genre in {"json", "csv", "code"}
        assert len(document.text) < 1300


def test_addition_steps_by_hand():
    assert addition_steps(47, 85) == ["7 + 5 = 12", "4 + 8 + 1 = 13", "47 + 85 = 132"]
    assert addition_steps(199, 2)[-1] == "199 + 2 = 201"


@pytest.mark.parametrize("genre", ["addition", "sums", "problem"])
def test_written_equations_are_true(genre):
    for document in sample(genre):
        for left, right in re.findall(r"([\d+\-x ]+) = (\d+)", document.answer):
            assert eval(left.replace("x", "*")) == int(right), document.text


def test_json_answers_hold_the_facts_of_the_text():
    for document in sample("json"):
        data = json.loads(document.answer)
        for record in data if isinstance(data, list) else [data]:
            text = document.prompt
            assert record["name"] in text and str(record["age"]) in text
            assert record["job"] in text and record["city"] in text
            assert record["pet"] is None or record["pet"] in text


def test_csv_rows_have_five_cells():
    for document in sample("csv"):
        if document.prompt.endswith("CSV:"):
            assert {row.count(",") for row in document.answer.strip().split("\n")} == {4}
        else:
            assert json.loads(document.answer)["name"] in document.prompt


@pytest.mark.parametrize("genre", ["rewrite", "names"])
def test_rewrites_change_every_mention_and_nothing_else(genre):
    for document in sample(genre):
        old, new = re.match(r"Rewrite the text. Change (.+) to (.+)\.", document.prompt).groups()
        text = document.prompt.split("Text: ")[1].split("\n\nNew text:")[0]
        assert not re.search(rf"\b{old}\b", document.answer)
        assert re.sub(rf"\b{new}\b", old, document.answer.strip()) == text


def test_lists_of_names_repeat_none_and_change_one():
    for document in sample("names"):
        old, new = re.match(r"Rewrite the text. Change (\w+) to (\w+)\.", document.prompt).groups()
        listed = document.prompt.split("Text: ")[1].split(".")[0].split(", ")
        assert 2 <= len(set(listed)) == len(listed) <= 7
        assert set(listed) <= {*FEMALE_NAMES, *MALE_NAMES} - {new}
        assert old in listed


def test_sorted_numbers_are_sorted():
    for document in sample("sorting"):
        given = [int(n) for n in re.findall(r"\d+", document.prompt)]
        answered = [int(n) for n in re.findall(r"\d+", document.answer)]
        assert answered == sorted(given, reverse="largest to" in document.prompt)


def test_counts_are_right():
    for document in sample("counting"):
        items = re.search(r"List: (.+)", document.prompt).group(1).split(", ")
        for kind, count in re.findall(r"(\w+): (\d+)", document.answer):
            assert items.count(kind) == int(count)


def test_holder_follows_the_last_gift():
    for document in sample("holder"):
        thing = re.match(r"Who has the (\w+) now\?", document.prompt).group(1)
        holder = re.search(rf"(\w+) has the {thing}\.", document.prompt).group(1)
        for giver, taker in re.findall(rf"(\w+) gives the {thing} to (\w+)\.", document.prompt):
            assert giver == holder
            holder = taker
        assert document.answer == f" {holder} has the {thing}."


def test_python_examples_print_what_they_say():
    for document in sample("code"):
        code, example = document.answer.rsplit("\n\n", 1)
        call, value = re.fullmatch(r"print\((.+)\)  # (.+)", example).groups()
        scope: dict[str, object] = {}
        exec(code, scope)
        assert str(eval(call, scope)) == value


def test_chat_documents_end_turns_but_the_last_and_transcripts_none():
    transcripts = chats = 0
    for document in sample("chat"):
        assert document.prompt.endswith("Assistant:")
        turns, ends = document.text.count("Assistant:"), document.text.count(END_OF_TEXT)
        assert ends in (turns - 1, 0)
        transcripts += turns > 1 and ends == 0
        chats += ends > 0
    assert 0 < transcripts < chats
    assert "add_generation_prompt" in CHAT_TEMPLATE


def test_story_names_are_known_and_checked():
    checked = [d for d in sample("story") if d.check is Check.NAMES]
    assert checked
    assert all(d.names[0] in d.answer and d.names[1] in d.answer for d in checked)


def test_prose_is_cut_at_sentences_and_split_once(tmp_path):
    path = tmp_path / "novel.txt"
    path.write_text("One sentence here.\nAnother one there! " * 200, encoding="utf-8")
    chunks = read_chunks(path, characters=100)
    assert all(chunk[-1] in ".!" for chunk in chunks)
    train, held_out = split_chunks([f"chunk {i}" for i in range(20)], seed=1, held_out=5)
    assert len(held_out) == 5 and not set(train) & set(held_out)
    mixed = {d.genre for d in islice(documents(1, 200, prose=chunks), 200)}
    assert "prose" in mixed


def test_pick_prefers_the_first_words():
    rng = random.Random(0)
    drawn = [pick(rng, OBJECTS) for _ in range(2000)]
    assert 0.5 < sum(word in OBJECTS[:16] for word in drawn) / 2000 < 0.65
    assert with_article("owl") == "an owl" and with_article("fox") == "a fox"
