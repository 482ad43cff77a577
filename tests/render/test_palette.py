"""The one table of looks."""

import re
from pathlib import Path

import pytest

from specviz.events import Fate
from specviz.render import LOOKS, PALETTE, Look, look_of
from specviz.render.palette import DRAFTED, LOSSY_MARK, OKABE_ITO

STYLE = (Path(__file__).parents[2] / "assets" / "specviz.css").read_text("utf-8")


def luminance(color: str) -> float:
    """Relative luminance, WCAG 2.1."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_every_fate_has_a_look() -> None:
    assert set(PALETTE) == set(Fate)
    assert all(look_of(fate).key == fate.value for fate in Fate)
    assert look_of(None) is DRAFTED


def test_looks_are_told_apart_without_colour() -> None:
    marks = [look.mark for look in LOOKS]
    assert len({*marks, LOSSY_MARK}) == len(marks) + 1
    assert all(len(mark) == 1 and mark.isprintable() for mark in marks)


def test_looks_are_told_apart_by_colour() -> None:
    fates = list(PALETTE.values())
    for name in ("light_fill", "dark_fill", "plotly", "ansi", "css_class", "label"):
        assert len({getattr(look, name) for look in fates}) == len(fates), name


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.key)
def test_text_on_a_fill_can_be_read(look: Look) -> None:
    """WCAG AA: 4.5:1 in both modes."""
    assert contrast(look.light_fill, look.light_ink) >= 4.5
    assert contrast(look.dark_fill, look.dark_ink) >= 4.5


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.key)
def test_style_sheet_of_the_page_follows_the_table(look: Look) -> None:
    assert re.search(rf"\.{look.css_class}\b", STYLE)
    fills = re.findall(rf"--{look.css_class}-fill:\s*(#[0-9a-fA-F]{{6}})", STYLE)
    assert [fill.lower() for fill in fills[:2]] == [look.light_fill, look.dark_fill]


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.key)
def test_look_is_safe_in_a_style_sheet(look: Look) -> None:
    assert re.fullmatch(r"sv-[a-z]+", look.css_class)
    for color in (look.light_fill, look.dark_fill, look.light_ink, look.dark_ink, look.plotly):
        assert re.fullmatch(r"#[0-9A-Fa-f]{6}", color)
    assert look.plotly in OKABE_ITO.values()
