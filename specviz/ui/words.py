"""Texts of the page that are no labels: headings, hints, reasons, in the visitor's language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr

from specviz.ui.head import call
from specviz.ui.protocol import dumps
from specviz.ui.state import Menu, Setup

FATES = ("drafted", "accepted", "rejected", "residual", "bonus", "discarded", "own")


def word(
    tag: str,
    key: str = "",
    *,
    style: str = "",
    values: Mapping[str, Any] | None = None,
    text: str = "",
    children: Sequence[list[Any]] = (),
) -> list[Any]:
    """One element and its children: a key of the dictionaries, or a text.

    A text that is English and known to the dictionaries is translated, others stay as they are.
    """
    return [tag, style, key, dict(values or {}), text, list(children)]


def words(items: Sequence[list[Any]] = (), *, part: str = "words", **kwargs: Any) -> gr.HTML:
    """A component that draws ``word`` items with ``textContent``; nothing in them is evaluated."""
    return gr.HTML(
        dumps(list(items)),
        html_template="<div class='sv-words' data-sv='words'></div>",
        js_on_load=call(part),
        apply_default_css=False,
        **kwargs,
    )


def header() -> list[list[Any]]:
    """Name and tagline."""
    items = [word("h1", "sv_title"), word("p", "sv_tagline")]
    return [word("div", style="sv-page-head", children=items)]


def method_words(menu: Menu, setup: Setup) -> list[list[Any]]:
    """What the chosen method does and where it comes from; or why nothing can be run."""
    card = menu.method
    if not setup.live:
        return [word("p", "sv_replay_no_torch", style="sv-warn-text")]
    if card is None:
        reasons = sorted({reason for _, reason in menu.refused})
        lines = [word("p", text=reason) for reason in reasons]
        return [word("p", "sv_replay_only", style="sv-warn-text"), *lines]
    exact = "sv_lossless" if card.lossless else "sv_lossy"
    paper = word("p", style="sv-hint-small", text=card.paper)
    lines = [word("p", f"sv_card_{card.key}_1"), paper, word("p", exact, style="sv-hint-small")]
    return lines + warnings(menu)


def warnings(menu: Menu) -> list[list[Any]]:
    """What to expect of this pair of models, before it runs."""
    lines = []
    drafting = menu.drafter or menu.method
    if drafting is not None and "exit_layer" in drafting.needs and not menu.trained_exits:
        lines.append(word("p", "sv_hint_exits", style="sv-hint-small"))
    for model, share in menu.overlaps:
        values = {"draft": model, "n": f"{100 * share:.1f}"}
        lines.append(word("p", "sv_hint_overlap", style="sv-hint-small", values=values))
    return lines


def hidden_words(menu: Menu) -> list[list[Any]]:
    """The settings that the method has no use for, and the methods that cannot run, with why."""
    items: list[list[Any]] = []
    if menu.method is not None and menu.hidden:
        keys = [word("li", f"sv_hidden_{name}") for name in menu.hidden]
        items += [word("h4", "sv_hidden_head"), word("ul", children=keys)]
    if menu.method is not None and menu.refused:
        lines = [refusal(title, reason) for title, reason in menu.refused]
        items += [word("h4", "sv_refused_head"), word("ul", children=lines)]
    return items


def refusal(title: str, reason: str) -> list[Any]:
    """A method that cannot run, with why; both are English and known to the dictionaries."""
    parts = [word("span", text=part) for part in (title, ": ", reason)]
    return word("li", children=parts)


def reading() -> list[list[Any]]:
    """Four short texts on how to read the page; the marks are told in the words of the legend."""
    texts = {n: word("p", f"sv_read_{n}") for n in (1, 3, 4)}
    texts[2] = word("dl", style="sv-read-marks", children=[mark(fate) for fate in FATES])
    columns = [
        word("section", children=[word("h3", f"sv_read_{n}_head"), texts[n]]) for n in range(1, 5)
    ]
    return [word("div", style="sv-read", children=columns)]


def mark(fate: str) -> list[Any]:
    """One fate of a token, as the legend names and draws it, and what it means."""
    face = word("span", f"sv_{fate}", style=f"sv-t sv-{fate}")
    return word("div", children=[word("dt", children=[face]), word("dd", f"sv_{fate}_info")])


def domain_words(target: Any) -> list[list[Any]]:
    """What an embedded target knows; nothing for other models.

    Args:
        target: an entry of ``Source.targets``, None for a model outside of the catalogue.
    """
    embedded = getattr(target, "source", "") == "embedded"
    return [word("p", "sv_prompt_domain")] if embedded else []


def about_traces() -> list[list[Any]]:
    """What a trace is."""
    return [word("p", "sv_trace_about", style="sv-about")]
