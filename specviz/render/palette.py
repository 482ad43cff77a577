"""How every kind of token looks: one row per kind, read by all renderers.

Colours are tints and shades of the Okabe-Ito set, which stays apart under the common kinds of
colour blindness; every kind also has a mark, so nothing rests on colour alone. Text on a fill has
a contrast of at least 4.5:1 in both modes (tested). Labels are English; the page translates by
``key``.

Source: Okabe and Ito (2008), "Color Universal Design", the eight-colour set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from specviz.events import Fate

DEEP_PURPLE = "#BB5F90"  # reddish purple, dark enough for a line on a white page
BLACK, WHITE = "#1b1b1b", "#f5f5f5"
OKABE_ITO = MappingProxyType(
    {
        "orange": "#E69F00",
        "sky blue": "#56B4E9",
        "bluish green": "#009E73",
        "yellow": "#F0E442",
        "blue": "#0072B2",
        "vermillion": "#D55E00",
        "reddish purple": "#CC79A7",
        "grey": "#999999",
    }
)


@dataclass(frozen=True, slots=True)
class Look:
    """The look of one kind of token.

    Attributes:
        key: the name of the kind: a ``Fate`` value, ``prompt`` or ``drafted``.
        css_class: class of its box; the colours below are for the style sheet's variables.
        light_fill, light_ink: background and text colour on a light page.
        dark_fill, dark_ink: the same on a dark page.
        plotly: colour in figures, readable on both pages.
        mark: one visible character that tells the kind without colour.
        ansi: SGR parameters of a terminal, such as ``"32"``.
        label: English name.
        meaning: one English sentence for legends.
    """

    key: str
    css_class: str
    light_fill: str
    light_ink: str
    dark_fill: str
    dark_ink: str
    plotly: str
    mark: str
    ansi: str
    label: str
    meaning: str


def _look(key: str, mark: str, ansi: str, *, light: str, dark: str, hue: str, meaning: str) -> Look:
    return Look(
        key=key,
        css_class=f"sv-{key}",
        light_fill=light,
        light_ink=BLACK,
        dark_fill=dark,
        dark_ink=WHITE,
        plotly=OKABE_ITO[hue],
        mark=mark,
        ansi=ansi,
        label=key.capitalize(),
        meaning=meaning,
    )


PALETTE: Mapping[Fate, Look] = MappingProxyType(
    {
        Fate.ACCEPTED: _look(
            "accepted",
            "✓",
            "32",
            light="#b8e6d5",
            dark="#00593f",
            hue="bluish green",
            meaning="drafted, checked by the target and kept",
        ),
        Fate.REJECTED: _look(
            "rejected",
            "✗",
            "31;9",
            light="#f6c9a8",
            dark="#8a3b00",
            hue="vermillion",
            meaning="drafted, checked by the target and refused",
        ),
        Fate.DISCARDED: _look(
            "discarded",
            "○",
            "2;9",
            light="#dedede",
            dark="#4a4a4a",
            hue="grey",
            meaning="drafted behind a refusal or a cut, so never checked",
        ),
        Fate.RESIDUAL: _look(
            "residual",
            "◆",
            "36",
            light="#c5e3f7",
            dark="#0b4f78",
            hue="sky blue",
            meaning="the target's own token in place of the rejected one",
        ),
        Fate.BONUS: _look(
            "bonus",
            "★",
            "35",
            light="#f0cfe1",
            dark="#713a58",
            hue="reddish purple",
            meaning="the target's own token after all drafts were kept",
        ),
    }
)
PROMPT = _look(
    "prompt",
    "▸",
    "2",
    light="#f2f2f2",
    dark="#2b2b2b",
    hue="grey",
    meaning="given, not decoded",
)
DRAFTED = _look(
    "drafted",
    "…",
    "33",
    light="#faf3b0",
    dark="#5c5500",
    hue="yellow",
    meaning="drafted, not yet checked",
)
LOOKS: tuple[Look, ...] = (PROMPT, DRAFTED, *PALETTE.values())
LOSSY_CLASS, LOSSY_MARK = "sv-lossy", "≠"
PARTS: Mapping[str, str] = MappingProxyType(
    {
        "draft": OKABE_ITO["orange"],
        "verify": OKABE_ITO["blue"],
        "other": OKABE_ITO["grey"],
    }
)
"""Colours of the parts of a step's time."""


def look_of(fate: Fate | None) -> Look:
    """The look of a drafted or target token; ``None`` is drafted and not yet judged."""
    return DRAFTED if fate is None else PALETTE[fate]
