"""Every sentence with which the program refuses something is told in the visitor's language."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

from specviz.ui.i18n import SAID, said, texts
from tests.ui.refusals import PLACE, Reader, Refusal, reasons, refusals
from tests.ui.told import NESTED, inner, is_mark, needs_node, told

pytestmark = needs_node

SWALLOWED = {  # values that the source spells out
    *("huggingface_hub", "pip install -r requirements.txt", "'Qwen/Qwen2.5-0.5B-Instruct'"),
}
ELSEWHERE = (  # keys of words that are no refusals; test_i18n.py knows who writes them
    *("method_", "example_", "run_", "model_", "foreign_", "baseline", "no_drafter"),
)
OF_PARTS = {
    "{}: {}": "a place in the trace and one of the faults of trace/schema.py, all checked here",
    "the trace: {}": "the same for a fault of the whole",
}
NOT_SHOWN = {  # path, or path and the beginning of a sentence -> why no page shows it
    ("cli.py", ""): "of the command line",
    ("cli_bench.py", ""): "of the command line",
    ("cli_compare.py", ""): "of the command line",
    ("cli_export.py", ""): "of the command line",
    ("cli_run.py", ""): "of the command line",
    ("bench/measure.py", ""): "of the command line: benchmarks have no page",
    ("ui/api.py", ""): "of the endpoints for programs, which have no language",
    ("catalog/devices.py", ""): "device and dtype are not on the page, and no link holds them",
    ("comparison/lanes.py", ""): "the page makes a race of one form, with one method at least",
    ("comparison/race.py", "methods must be a list"): "the page hands a list over",
    ("config.py", "there is no setting"): "form and link know the names of the settings",
    ("config.py", "bad_words_ids"): "not on the page, and no link holds it",
    ("plans.py", "bad_words_ids"): "not on the page, and no link holds it",
    ("plans.py", "a run needs a RunRequest"): "of Python callers",
    ("plans.py", "one prompt at a time"): "a text field gives one text",
    ("plans.py", "the prompt must be text"): "a text field gives one text",
    (
        "engine/language_model.py",
        "the direct forward",
    ): "only tests and benchmarks insist on the direct pass",
    ("engine/drafters/early_exit.py", ""): "plans.recheck refuses it before",
    ("engine/drafters/ensemble.py", ""): "plans refuses such a drafter before",
    ("trace/store.py", "a trace can only hold"): "of writing; what a page reads was JSON",
    ("trace/store.py", "a trace cannot hold"): "of writing; what a page reads was JSON",
    ("trace/store.py", "names in a trace"): "of writing; what a page reads was JSON",
    ("trace/store.py", "cannot write"): "the page writes no trace into a file",
    ("ui/shelf.py", "the run has not begun"): "the viewer says instead that the run is gone",
}


UNFIT = ("why_target_unfit", "_needs_depth", "_needs_mtp", "_needs_drafter_family")


@cache
def sentences() -> tuple[Refusal, ...]:
    """All sentences and all reasons that stand in them."""
    rules = ("_type_rule", "_choice_rule", "_pattern_rule", "_range_rule", "_required_rule")
    return (
        *refusals(),
        *reasons("catalog/pairing.py", *UNFIT, "why_draft_unfit", "first_difference"),
        *reasons("engine/language_model.py", "why_not_croppable"),
        *reasons("trace/schema.py", *rules, "shown"),
        *reasons("trace/store.py"),
    )


def shown_ones() -> list[Refusal]:
    """Those that a page may have to show."""
    return [one for one in sentences() if excuse(one) is None]


def excuse(one: Refusal) -> tuple[str, str] | None:
    """The row of ``NOT_SHOWN`` that a sentence falls under."""
    rows = (key for key in NOT_SHOWN if key[0] == one.path and one.text.startswith(key[1]))
    return next(rows, None)


def filled(text: str) -> str:
    """A sentence with a word of its own in each place."""
    parts = text.split(PLACE)
    marks = [f"qz{chr(ord('a') + at)}" for at in range(len(parts) - 1)]
    return parts[0] + "".join(mark + part for mark, part in zip(marks, parts[1:], strict=True))


def unknown(found: dict[str, Any]) -> list[str]:
    """Words of the program that stand where values should; the text itself where nothing fits."""
    if not found["key"]:
        return ["no key"]
    if len(found["sizes"]) > 1 and found["sizes"][0] == found["sizes"][1]:
        return ["two keys fit as well"]
    loose = [(name, value) for name, value in found["values"].items() if not is_mark(value)]
    wrong = [value for one in told(inner(found)) for value in unknown(one)]
    rest = [(n, v) for n, v in loose if n not in (*NESTED, "setting", "flag")]
    return wrong + [value for _, value in rest if value not in SWALLOWED]


def untold(ones: list[Refusal]) -> Iterator[tuple[str, list[str]]]:
    """The sentences that are not told, with what is wrong."""
    for one, found in zip(ones, told([filled(one.text) for one in ones]), strict=True):
        wrong = unknown(found)
        if wrong and one.text.replace(PLACE, "{}") not in OF_PARTS:
            yield f"{one.path}:{one.line} {filled(one.text)}", wrong


def test_every_sentence_that_a_page_shows_is_told() -> None:
    """By one key, whose places hold values only."""
    assert len(shown_ones()) > 120
    assert list(untold(shown_ones())) == []


def test_every_excuse_is_in_use() -> None:
    assert {excuse(one) for one in sentences()} - {None} == set(NOT_SHOWN)
    said = {one.text.replace(PLACE, "{}") for one in sentences()}
    assert set(OF_PARTS) <= said


def test_every_key_of_a_refusal_is_in_use() -> None:
    keys = {key for key in texts()["en"] if key.startswith(SAID) and not key.endswith("_short")}
    keys = {key for key in keys if not key.removeprefix(SAID).startswith(ELSEWHERE)}
    assert len(keys) > 120
    assert keys - used(told([filled(one.text) for one in shown_ones()])) == FRAMES


def test_every_reason_against_a_target_can_stand_at_a_box_of_the_race() -> None:
    """Gradio writes it there, which can fill no places: so a short form is needed."""
    lines = [filled(one.text) for one in reasons("catalog/pairing.py", *UNFIT)]
    assert len(lines) >= 7
    assert [line for line in lines if isinstance(said(line, short=True), str)] == []


FRAMES = {f"{SAID}error_{name}" for name in ("trace_at", "trace_within", "trace_whole", "runs_on")}


def used(found: list[dict[str, Any]]) -> set[str]:
    """The keys of texts and of the texts in them."""
    texts_in = [text for one in found for text in inner(one)]
    return {one["key"] for one in found} | (used(told(texts_in)) if texts_in else set())


PLANTED = """
class Odd:
    def check(self, name, colour):
        allowed = "red" if colour else f"blue {name}"
        raise SettingError(self.words(name) + f"colour must be {allowed}, got {colour!r}")
def _paint(name, *, hint=""):
    raise errors.TraceError(_text(name, "dry") + (f"; {hint}" if hint else ""))
def _text(name, state):
    return f"{name} is not {state}"
_paint("wall", hint="wait")
"""


def test_a_planted_sentence_is_found_in_all_its_forms_and_is_not_told() -> None:
    lines = sorted(Reader(ast.parse(PLANTED)).raised())
    found = [Refusal("ui/planted.py", line, text) for line, text in lines]
    assert [one.text.replace(PLACE, "{}") for one in found] == [
        "{}colour must be blue {}, got {}",
        "{}colour must be red, got {}",
        "{} is not dry",
        "{} is not dry; wait",
    ]
    assert [wrong for _, wrong in untold(found)] == [["no key"]] * 4


def test_words_of_the_program_in_the_place_of_a_value_are_found() -> None:
    """The most specific key wins; one that takes words of the program for a value fails."""
    late = Refusal(
        "x.py", 1, f"the prompt {PLACE} is far too late and has no tokens; type more of it"
    )
    assert [wrong for _, wrong in untold([late])] == [["qza is far too late and"]]
