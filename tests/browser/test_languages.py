"""The page in each language: no English is left, whatever is opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from specviz.ui.i18n import texts
from tests.browser.menus import RealMenus
from tests.browser.pilot import Pilot
from tests.browser.visible import visible_texts

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]

LOCALES = {"zh-CN": "zh-CN", "pt-BR": "pt-BR", "ru": "ru-RU", "ko": "ko-KR"}
TABS = ("read", "figures", "theory", "sweep", "trace", "compare")
# Proper names, symbols of the field, and units: written alike in all languages.
NAMES = set(
    "specviz Gradio PyTorch Python JSON MTP GLM Gemma SmolLM2 Instruct hub GB Qwen2 Top min max "
    "logits gram ms kB MB assistant target glm gemma tiny embedded cpu fake float32 MoE arg "
    "Unified x86 PNG Perfetto chrome tracing".split()
)
PAPERS = re.compile(r"(arXiv|et al\.|DeepSeek-AI)")  # citations stay as they are printed


@pytest.fixture(scope="module")
def source() -> RealMenus:
    """Invented runs behind the real menus."""
    return RealMenus()


@pytest.fixture(scope="module")
def address(source: RealMenus) -> Iterator[str]:
    """An app of its own."""
    from specviz.ui.build import launch

    app = launch(port=None, source=source, prevent_thread_lock=True, quiet=True)
    yield app.local_url
    app.close()


def english(texts_seen: list[str], tag: str) -> list[str]:
    """The texts that are English: known ones, and in other scripts all that is Latin."""
    table, own = texts()["en"], texts()[tag]
    differ = [text for key, text in table.items() if own[key] != text and len(text) > 1]
    patterns = [pattern(text) for text in differ]
    mine = set(own.values())
    found = [s for s in texts_seen if s not in mine and any(p.fullmatch(s) for p in patterns)]
    if tag != "pt-BR":
        found += [s for s in texts_seen if not PAPERS.search(s) and set(latin(s)) - NAMES]
    return found


def pattern(text: str) -> re.Pattern[str]:
    """What a text looks like once its places are filled and its words have one of their forms."""
    parts = re.split(r"\{(\w+(?:\|[^{}]*)?)\}", text)
    for at in range(1, len(parts), 2):
        forms = parts[at].split("|")[1:]
        parts[at] = "(?:" + "|".join(map(re.escape, forms)) + ")" if forms else ".+"
    parts[::2] = map(re.escape, parts[::2])
    return re.compile("".join(parts))


def latin(text: str) -> list[str]:
    """Latin words of more than one letter."""
    return re.findall(r"[A-Za-z][A-Za-z0-9]+", text)


def views(pilot: Pilot, page: Any, tag: str) -> Iterator[str]:
    """Opens one part of the page after the other; yields its name once it can be read."""
    words = texts()[tag]
    yield "landing"
    pilot.show_all()
    page.click(".sv-help")
    yield "recorded run, keys"
    page.locator(".sv-text .sv-rejected").first.hover()
    yield "tooltip"
    pilot.run(prompt="Once upon a time")
    yield "own run"
    for name in TABS[:5]:
        pilot.tab(words[f"sv_tab_{name}"])
        if name == "figures":
            page.wait_for_selector("#sv-fig-tokens .main-svg", timeout=20_000)
        page.wait_for_timeout(500)
        yield name
    pilot.run(prompt="  ", wait=False)
    page.wait_for_selector(".sv-alert:visible")
    page.fill("#sv-prompt textarea", "A race")
    page.get_by_text(words["sv_race_mode_race"], exact=True).first.click()
    page.click("#sv-race-go:visible")
    page.wait_for_selector(".sv-result-table", timeout=30_000)
    pilot.show_all()
    pilot.tab(words["sv_tab_compare"])
    page.wait_for_selector("#sv-race-fig-tokens .main-svg", timeout=20_000)
    yield "race"


@pytest.mark.parametrize("tag", list(LOCALES))
def test_no_english_is_left(pilot: Pilot, tag: str) -> None:
    page = pilot.open(locale=LOCALES[tag])
    assert page.evaluate("() => document.documentElement.lang") in (tag, LOCALES[tag])
    left = {}
    for view in views(pilot, page, tag):
        found = english(visible_texts(page), tag)
        if found:
            left[view] = found
    assert left == {}


def test_refusals_are_in_the_language_of_the_page(pilot: Pilot) -> None:
    """Of a link, of a run and of a sweep; settings are named as the page names them."""
    page = pilot.open(locale="ko-KR", query="?gamma=99")
    note = page.locator("#sv-share-note .sv-alert")
    note.wait_for()
    assert note.inner_text() == (
        "링크를 따르지 않았습니다: “초안 길이 γ”: 1~16의 정수여야 하는데 받은 것은 99입니다. "
        "“초안 길이”를 바꾸세요"
    )
    pilot.run(prompt="x" * 100_001, wait=False)
    alert = page.locator(".sv .sv-alert")
    alert.wait_for()
    long = "프롬프트는 최대 100000자인데 100001자를 받았습니다. 줄여 주세요"
    assert alert.inner_text() == long
    page.fill("#sv-prompt textarea", "  ")
    pilot.tab(texts()["ko"]["sv_tab_sweep"])
    page.click("#sv-sweep-start")
    refused = page.locator("#sv-sweep .sv-alert")
    refused.wait_for()
    assert refused.inner_text().startswith("프롬프트에 공백 말고도 글자가 있어야")
    assert english(visible_texts(page), "ko") == []
    page.evaluate("() => { document.documentElement.lang = 'ru'; }")
    page.wait_for_function("() => document.querySelector('.sv .sv-alert').innerText[0] === 'В'")
    assert alert.inner_text().startswith("В промпте может быть не более 100000 знаков")


def test_the_check_finds_english(pilot: Pilot) -> None:
    """In an English page nearly every text is found, so the check can fail."""
    page = pilot.open()
    seen = visible_texts(page)
    for tag in LOCALES:
        assert len(english(seen, tag)) > 40, tag


def test_figures_follow_the_language_of_the_page(pilot: Pilot) -> None:
    page = pilot.open(locale="ko-KR")
    pilot.run(prompt="Draw me")
    pilot.tab(texts()["ko"]["sv_tab_figures"])
    page.wait_for_selector("#sv-fig-time .main-svg", timeout=20_000)
    words = " ".join(page.locator("#sv-fig-time text").all_text_contents())
    assert "시간 (ms)" in words


def test_no_language_is_wider_than_its_window(pilot: Pilot) -> None:
    """On a phone and on a desktop; a phone has a menu of tabs, which is not English either."""
    for tag, locale in LOCALES.items():
        for width in (390, 1280):
            page = pilot.open(locale=locale, viewport={"width": width, "height": 844})
            wide = page.evaluate("() => document.documentElement.scrollWidth")
            assert wide <= width, (locale, width, wide)
            assert english(visible_texts(page), tag) == []
