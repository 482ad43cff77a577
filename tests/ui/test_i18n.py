"""Five languages: the same keys, and English words of other parts that are recognised."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from specviz import runs
from specviz.catalog.examples import EXAMPLES
from specviz.catalog.locate import locate
from specviz.catalog.pairing import why_target_unfit
from specviz.errors import SpecvizError
from specviz.export.words import texts as export_texts
from specviz.method_cards import find_card, read_cards
from specviz.plans import check_length, check_prompt
from specviz.render.figures import LABELS
from specviz.ui.i18n import SAID, language, said, t, texts, translated
from specviz.ui.plots import labels
from specviz.ui.race import race_requests
from specviz.ui.shelf import title
from specviz.ui.state import Form
from specviz.ui.status import LINES, worded

LANGUAGES = {"en", "zh-CN", "pt-BR", "ru", "ko"}
SOURCE = Path(__file__).parents[2] / "specviz"
NAMES = {
    *"specviz Gradio DFlash Perfetto chrome tracing PyTorch Python".split(),
    *"JSON PNG UTF MTP GLM Gemma requirements txt hub GPU config json format".split(),
    *"Hugging Face ZeroGPU torch transformers Transformers".split(),
}
FORMS = r"\{\w+\|([^{}]+)\}"
ALWAYS_MANY = {
    *[("tau", "tokens"), ("v", "tokens"), ("n", "nats"), ("gain", "times"), ("cost", "times")],
    *[("window", "steps"), ("draft", "shares")],  # of a plot, always 10; a verb
}
SYMBOLS = "Top min max arg logits gram".split()  # Top-k, n-gram, as the field writes them


def test_there_are_five_languages() -> None:
    assert set(texts()) == LANGUAGES


@pytest.mark.parametrize("tag", sorted(LANGUAGES - {"en"}))
def test_a_language_has_every_key_in_the_order_of_english(tag: str) -> None:
    assert list(texts()[tag]) == list(texts()["en"])


@pytest.mark.parametrize("tag", ["zh-CN", "ru", "ko"])
def test_nothing_is_left_in_english(tag: str) -> None:
    """Languages of another script have no Latin words but names and symbols."""
    bare = (re.sub(r"\{\w+", "", text) for text in texts()[tag].values())
    words = {word for text in bare for word in re.findall(r"[A-Za-z]{3,}", text)}
    assert words - {*NAMES, *SYMBOLS} == set()


@pytest.mark.parametrize(("tag", "size"), [("en", 2), ("pt-BR", 2), ("ru", 3)])
def test_words_behind_a_count_have_the_forms_of_their_language(tag: str, size: int) -> None:
    forms = [found for text in both()[tag].values() for found in re.findall(FORMS, text)]
    assert len(forms) > 10
    assert [found for found in forms if found.count("|") + 1 != size] == []


@pytest.mark.parametrize("tag", ["zh-CN", "ko"])
def test_languages_without_plurals_have_no_forms(tag: str) -> None:
    assert [text for text in both()[tag].values() if "|" in text] == []


def test_no_plural_stands_behind_a_count_that_may_be_one() -> None:
    """Rates and times with decimals, and numbers that are never 1, keep their plural."""
    found = {
        (place, noun)
        for key, text in both()["en"].items()
        if not key.startswith(SAID)
        for place, noun in re.findall(r"\{(\w+)\} (?:more |earlier |full )?(\w{3,}s)\b", text)
    }
    assert found - ALWAYS_MANY == set()


def both() -> dict[str, dict[str, str]]:
    """The tables of the page and of exported pages."""
    return export_texts()


@pytest.mark.parametrize(
    ("tag", "found"),
    [("pt-BR", "pt-BR"), ("pt-PT", "pt-BR"), ("zh", "zh-CN"), ("fr", "en"), ("", "en"), (3, "en")],
)
def test_a_tag_finds_its_language(tag: object, found: str) -> None:
    assert language(tag) == found


def test_a_missing_key_is_refused() -> None:
    with pytest.raises(KeyError):
        t("sv_no_such_text")


def test_titles_of_all_methods_are_known() -> None:
    english = texts()["en"]
    for card in read_cards():
        assert english[f"sv_say_method_{card.key}"] == card.title
    assert stale("sv_say_method_", {card.title for card in read_cards()}) == []


def test_names_of_examples_recorded_runs_and_embedded_targets_are_known() -> None:
    assert stale("sv_say_example_", {example.title for example in EXAMPLES}) == []
    assert stale("sv_say_run_", {title(path) for path in runs.recorded()}) == []
    targets = {info.title for info in runs.targets()}
    assert stale("sv_say_model_", targets) == []
    names = {e.title for e in EXAMPLES} | {title(path) for path in runs.recorded()}
    names |= {info.title for info in runs.targets() if "embedded" in info.title}
    assert [name for name in names if isinstance(said(name), str)] == []


def stale(prefix: str, used: set[str]) -> list[str]:
    """Keys whose English text nobody writes any more."""
    return [k for k, v in texts()["en"].items() if k.startswith(prefix) and v not in used]


def sentence(act: Callable[[], object]) -> str:
    """What an act is refused with, or the reason that it returns."""
    try:
        return str(act())
    except SpecvizError as error:
        return str(error)


def refusals() -> Iterator[tuple[str, Callable[[], object]]]:
    """Key of a sentence, and what makes the program say it."""
    gemma, glm = locate("target-gemma"), locate("target-glm")
    facts = glm.facts
    assert facts is not None and gemma.facts is not None
    early, mtp = find_card("early_exit"), find_card("mtp_layers")
    ticked = Form(prompt="x", target="big", method="plain")
    yield "no_drafter", lambda: runs.availability("target-gemma")["dflash"]
    yield "no_mtp", lambda: why_target_unfit(mtp, gemma.facts)
    yield "mtp_families", lambda: why_target_unfit(find_card("mtp_drafter"), facts)
    yield "is_drafter", lambda: why_target_unfit(early, locate("drafter-gemma").facts)
    yield "encoder", lambda: why_target_unfit(early, replace(facts, is_encoder_decoder=True))
    state = replace(facts, layer_types=frozenset({"mamba"}))
    yield "state", lambda: why_target_unfit(early, state)
    yield "depth", lambda: why_target_unfit(early, replace(facts, num_layers=1))
    yield "prompt_empty", lambda: check_prompt("  ")
    yield "prompt_long", lambda: check_prompt("x" * 10**7)
    yield "prompt_limit", lambda: check_length("big", 90, 20, 100)
    yield "race_few", lambda: race_requests(ticked, (), read_cards())
    yield "race_many", lambda: race_requests(ticked, ("a", "b", "c", "d"), read_cards())


@pytest.mark.parametrize(("key", "act"), list(refusals()), ids=lambda value: str(value)[:20])
def test_a_refusal_has_the_english_words_of_its_key(key: str, act: Callable[[], object]) -> None:
    parts = re.split(r"\{\w+\}", texts()["en"][SAID + key])
    assert re.fullmatch("(.+)".join(map(re.escape, parts)), sentence(act)), sentence(act)


def test_a_reason_with_values_has_a_short_form_for_gradio() -> None:
    reason = sentence(lambda: runs.availability("target-glm")["mtp_drafter"])
    assert said(reason) == reason
    assert getattr(said(reason, short=True), "key", "") == "sv_say_mtp_families_short"
    assert said("nobody knows this") == "nobody knows this"


def told() -> Iterator[str]:
    """Every line that the engine tells, with x for what it is about, and 2 for numbers."""
    for path in SOURCE.rglob("*.py"):
        elsewhere = {"ui", "zoo", "bench"} & set(path.relative_to(SOURCE).parts)
        if (elsewhere and path.stem != "zero_gpu") or path.stem.startswith("cli"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = getattr(getattr(node, "func", None), "id", "")
            if name in ("status", "tell") and isinstance(
                node.args[0], (ast.Constant, ast.JoinedStr)
            ):
                yield sample(node.args[0])


def sample(line: ast.expr) -> str:
    if isinstance(line, ast.Constant):
        return str(line.value)
    assert isinstance(line, ast.JoinedStr)
    parts = [v.value if isinstance(v, ast.Constant) else "2" for v in line.values]
    return "".join(map(str, parts)).replace("run2 ", "runs ")


def test_every_status_line_of_the_engine_is_known() -> None:
    lines = set(told())
    assert len(lines) == len(LINES)
    assert [line for line in lines if worded(line) == line] == []
    assert worded("Something new") == "Something new"
    assert worded(None) is None
    assert str(worded("Loading x on cpu, float32")).endswith(" x · cpu · float32")


def test_words_in_plots_are_those_of_the_figures() -> None:
    assert labels("en") == dict(LABELS)
    assert labels("ru")["seconds"] == "время (с)"
    assert translated("Early exit", "ko") == "조기 종료"
    assert translated("Late exit", "ko") == "Late exit"
