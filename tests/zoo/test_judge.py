"""Answers are judged by what was asked of them."""

from specviz.zoo.corpus import Check, Document, documents
from specviz.zoo.judge import is_right, names_hold, right_fields


def test_whole_answer_must_be_equal_up_to_outer_space():
    document = Document("fact", "Q", " Paris.", Check.WHOLE)
    assert is_right(document, "\nParis.\n")
    assert not is_right(document, "Paris")


def test_last_line_decides_a_sum():
    document = Document("addition", "Add 1 and 2.", "\n\n1 + 2 = 3\n1 + 2 = 3", Check.LAST_LINE)
    assert is_right(document, "1 + 2 = 3")
    assert not is_right(document, "1 + 2 = 3\n1 + 2 = 4")


def test_first_line_decides_a_reading_question():
    document = Document("reading", "A:", " Mia.\nQ: x\nA: y", Check.FIRST_LINE)
    assert is_right(document, " Mia.\nQ: other")


def test_free_text_is_not_judged():
    assert is_right(Document("recipe", "Cook.", " soup"), "anything") is None


def test_names_drift_is_found():
    document = Document("story", "Tell me a story about Mia the fox.", "", Check.NAMES, ("Mia",))
    assert names_hold(document, "Mia met Tom. Tom smiled.")
    assert not names_hold(document, "Mia met Tom. Then Ben smiled.")
    assert not names_hold(document, "Tom smiled.")


def test_fields_are_counted_one_by_one():
    document = Document("csv", "CSV:", "\nname,age\nMia,30", Check.WHOLE)
    assert right_fields(document, "name,age\nMia,31") == (3, 4)
    record = Document("json", "JSON:", '\n{\n  "name": "Mia",\n  "age": 30\n}', Check.WHOLE)
    assert right_fields(record, '{\n  "name": "Mia",\n  "age": 31\n}') == (3, 4)
    text = Document("rewrite", "New text:", " Mia had a coin.", Check.WHOLE)
    assert right_fields(text, " Mia had a red coin.") == (3, 4)


def test_a_fact_is_judged_by_its_own_line():
    document = next(documents(5, 1, genre="fact"))
    assert is_right(document, document.answer + "\nQ: What is the capital of Peru?\nA: Lima.")
    assert not is_right(document, " Something else.")
