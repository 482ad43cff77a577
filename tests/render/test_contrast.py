"""Contrast of the page's own colours in both themes, by the style sheet's variables.

WCAG 2.1: 4.5:1 for text, 3:1 for marks that carry meaning. The table is printed (``pytest -s``).
Disabled controls are exempt by the standard and left out; texts that Gradio colours are checked in
the browser by axe-core.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from specviz.events import Fate
from specviz.render.figures import INK
from specviz.render.palette import PALETTE
from specviz.ui.race_plots import COLORS
from tests.render.test_palette import STYLE, contrast

TEXT, MARK = 4.5, 3.0
FATES = ("accepted", "rejected", "residual", "bonus")


@dataclass(frozen=True)
class Pair:
    """One colour on another, with where it is seen.

    Attributes:
        ink, ground: names of variables.
        least: contrast that is needed.
        where: part of the page.
        opacity: of the ink's box, over ``under``.
        under: what shines through.
    """

    ink: str
    ground: str
    least: float
    where: str
    opacity: float = 1.0
    under: str = "panel"


PAIRS = (
    Pair("ink", "page", TEXT, "headings, facts of a step, lines"),
    Pair("ink", "panel", TEXT, "cards, lanes, inspector, table, sheets, form, lesson"),
    Pair("ink", "accent-soft", TEXT, "chosen method, copied words"),
    Pair("ink", "mark", TEXT, "alternatives and tokens of the inspector"),
    Pair("muted", "page", TEXT, "tagline, hints, keys, pictures of methods"),
    Pair("muted", "panel", TEXT, "labels, captions, notes, axes"),
    Pair("muted", "accent-soft", TEXT, "switch"),
    Pair("muted", "page", TEXT, "footer", opacity=0.9, under="page"),
    Pair("muted", "panel", TEXT, "skipped prompt", opacity=0.9),
    Pair("accent", "panel", TEXT, "badge, hovered buttons, open tab"),
    Pair("accent", "page", TEXT, "open tab"),
    Pair("accent-ink", "accent", TEXT, "Run, Start"),
    Pair("warn", "panel", TEXT, "slower than plain, lossy badge"),
    Pair("warn", "page", TEXT, "nothing can run"),
    Pair("warn", "warn-soft", TEXT, "refusals"),
    *[Pair("token-ink", f"{fate}-fill", TEXT, f"{fate} token") for fate in FATES],
    Pair("token-ink", "drafted-fill", TEXT, "drafted token, matched words"),
    Pair("ink", "discarded-fill", TEXT, "discarded token", opacity=0.85),
    *[Pair(fate, "panel", MARK, f"{fate}: strip, curves, bars") for fate in FATES],
    Pair("discarded", "panel", MARK, "discarded: strip"),
    Pair("verify", "panel", MARK, "verifying time, bar of p"),
    Pair("other", "panel", MARK, "other time"),
    Pair("draft", "panel", MARK, "drafting time, bar of q"),
    *[Pair(f"lane-{n}", "panel", MARK, f"line and track of lane {n}") for n in range(4)],
    *[Pair(f"lane-{n}", "mark", MARK, f"bar of lane {n} on its road") for n in range(4)],
    Pair("verify", "mark", MARK, "bar of p on its track"),
    Pair("draft", "mark", MARK, "bar of q on its track"),
    Pair("accepted", "mark", MARK, "accept probability on its track"),
    Pair("residual", "mark", MARK, "bar of the residual on its track"),
    Pair("accent", "page", MARK, "focus ring, slider"),
    Pair("ink", "mark", MARK, "the draw on the accept probability"),
)


def theme(name: str) -> dict[str, str]:
    """Variables of the light or the dark theme."""
    start = {"light": ":root {", "dark": "\n.dark {"}[name]
    block = STYLE.split(start, 1)[1].split("}", 1)[0]
    return dict(re.findall(r"--sv-([a-z0-9-]+):\s*(#[0-9a-f]{6})", block))


def over(color: str, under: str, opacity: float) -> str:
    """A colour as it is seen through its opacity."""
    parts = [(int(color[i : i + 2], 16), int(under[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(opacity * a + (1 - opacity) * b):02x}" for a, b in parts)


def measured(pair: Pair, colors: dict[str, str]) -> float:
    """Contrast of a pair as it is seen."""
    ink, ground = colors[pair.ink], colors[pair.ground]
    if pair.opacity < 1:
        under = colors[pair.under]
        ink, ground = (over(color, under, pair.opacity) for color in (ink, ground))
    return contrast(ink, ground)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_colours_of_the_page_can_be_told_apart(name: str) -> None:
    colors = theme(name)
    rows = [(measured(pair, colors), pair) for pair in PAIRS]
    for found, pair in rows:
        print(f"{name:5} {found:5.2f} >= {pair.least}  {pair.ink} on {pair.ground}: {pair.where}")
    assert [(round(f, 2), p.ink, p.ground, p.where) for f, p in rows if f < p.least] == []


@pytest.mark.parametrize("color", [*COLORS, INK, PALETTE[Fate.ACCEPTED].plotly])
def test_lines_and_outlines_of_figures_are_seen_in_both_themes(color: str) -> None:
    for name in ("light", "dark"):
        assert contrast(color, theme(name)["panel"]) >= MARK, name


def test_every_ink_of_the_style_sheet_is_in_the_table() -> None:
    inks = set(re.findall(r"[\s;{]color:\s*var\(--sv-([a-z0-9-]+)\)", STYLE))
    grounds = set(re.findall(r"background:\s*var\(--sv-([a-z0-9-]+)\)", STYLE))
    assert inks - {pair.ink for pair in PAIRS} == set()
    used = {pair.ground for pair in PAIRS} | {pair.ink for pair in PAIRS}
    assert grounds - used == set()


def test_texts_are_dimmed_no_more_than_the_table_says() -> None:
    dimmed = re.findall(r"([^{}\n]*)\{[^{}]*[ ;{]opacity: (0\.\d+)", STYLE)
    readable = [(rule, float(value)) for rule, value in dimmed if "disabled" not in rule]
    least = {"footer": 0.9, ".sv-skipped": 0.9, ".sv-discarded": 0.85, ".sv-sign": 0.85}
    assert {rule.strip(): value for rule, value in readable} == least
