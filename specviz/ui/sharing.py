"""Links: the query that leads back to what is on screen, and what the page does with one.

A link of a recorded run names the run and a step; of any other run it holds prompt, method and
settings. Opening a link fills the form or shows the run; nothing runs by itself, only models of the
menu can be named, and what cannot be followed is refused in one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specviz.errors import MethodError, ModelError, SettingError, TraceError
from specviz.events import Prefilled
from specviz.export import Link, parse_query, settings_query
from specviz.ui.registry import Run
from specviz.ui.source import Source
from specviz.ui.state import COMMON, DEFAULTS, SPECIAL, Menu, default_target, menu, takes_draft

EXACT = 2**53 - 1  # the largest whole number that a browser keeps exactly
MARKER = "__i18n__{"  # Gradio's front end puts a translation in its place
NO_CONTROL = ("no_repeat_ngram_size", "min_new_tokens", "bad_words_ids")

Limits = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Filled:
    """What a link puts into the form.

    Attributes:
        offer: the menus for its target, method and drafter.
        values: a value per name of a control.
    """

    offer: Menu
    values: Mapping[str, Any]


def query_of(run: Run, lane: int, step: int) -> str:
    """The query of a link to a lane of a run.

    Raises:
        SettingError: the run has not begun, or a link cannot hold what it was asked.
    """
    if run.kind == "recorded":
        return settings_query({}, run=run.name, step=step)
    header = next((e.header for e in run.events[lane] if isinstance(e, Prefilled)), None)
    if header is None:
        raise SettingError("the run has not begun, so there is nothing to link to yet")
    _check_controls(header.request)
    return settings_query({**header.request, "prompt": header.prompt_text})


def read(pairs: Iterator[tuple[str, str]]) -> Link:
    """What the page's address says.

    Raises:
        SettingError: a known name has a value that is not allowed.
    """
    query: dict[str, list[str]] = {}
    for name, text in pairs:
        query.setdefault(name, []).append(text)
    return parse_query(query)


def fill(settings: Mapping[str, Any], source: Source, limits: Limits) -> Filled:
    """What the settings of a link put into the form; those it leaves out get their defaults.

    Args:
        settings: as ``parse_query`` gives them, some at least.
        source: ``specviz.runs``, or a stand-in.
        limits: least and greatest value per control that has any.

    Raises:
        SpecvizError: there is no such method or model here, or a control cannot hold a value.
    """
    _check_controls(settings)
    offer = _offer(settings, source)
    values: dict[str, Any] = {name: getattr(DEFAULTS, name) for name in (*COMMON, *SPECIAL)}
    values |= {name: value for name, value in settings.items() if name in values}
    values["exit_layer"] = values["exit_layer"] or 0
    top = {"exit_layer": max(1, offer.layers - 1), "seed": EXACT}
    for name, (low, high) in limits.items():
        high = top.get(name, high)
        if not low <= values[name] <= high:
            raise SettingError(
                f"{name} must be from {low:g} to {high} on this page, got {values[name]}; "
                "change it in the link"
            )
    lines = "\n".join(values["stop"])
    if lines.splitlines() != list(values["stop"]):
        raise SettingError("a stop text of the link has several lines, and the page has one each")
    values |= {"stop": lines, "prompt": settings.get("prompt", "")}
    if any(MARKER in values[name] for name in ("stop", "prompt")):
        raise SettingError(f"a text of the link holds {MARKER!r}, which a page would replace")
    return Filled(offer, values | {"chat": settings.get("chat", False)} | _draft(settings, offer))


def _check_controls(settings: Mapping[str, Any]) -> None:
    """Refuse settings that the page has no control for, rather than drop them."""
    for name in NO_CONTROL:
        if settings.get(name):
            raise SettingError(
                f"{name} has no control on the page, so a link cannot carry it; "
                "share the trace instead"
            )


def _offer(settings: Mapping[str, Any], source: Source) -> Menu:
    """The menus for what a link names, all of which must be had here."""
    targets = source.targets()
    target = settings.get("target", default_target(targets).id)
    if target not in [info.id for info in targets]:
        raise ModelError(f"the target {target!r} is not in the menu of this page")
    keys = [card.key for card in source.cards()]
    method = settings.get("method")
    if method is not None and method not in keys:
        raise MethodError(f"there is no method {method!r}; the methods are {', '.join(keys)}")
    offer = menu(source, target, method, settings.get("drafter"))
    if offer.method is None or method not in (None, offer.method.key):
        reason = dict(source.availability(target)).get(method or "") or "nothing can run here"
        raise MethodError(f"{method!r} cannot run on {target!r} here: {reason}")
    wanted = settings.get("drafter")
    if wanted is not None and (offer.drafter is None or offer.drafter.key != wanted):
        raise MethodError(f"{wanted!r} cannot draft for {offer.method.key!r} on {target!r} here")
    return offer


def _draft(settings: Mapping[str, Any], offer: Menu) -> dict[str, Any]:
    """The draft model that a link names, where its method takes one."""
    wanted, drafting = settings.get("draft"), offer.drafter or offer.method
    if wanted is None or drafting is None or not takes_draft(drafting):
        return {}
    if wanted not in offer.drafts:
        raise ModelError(f"the draft model {wanted!r} is not in the menu of this page")
    return {"draft": wanted}


def recorded_path(source: Source, name: str) -> Any:
    """Where the recorded run of this name is.

    Raises:
        TraceError: there is none.
    """
    paths = {path.stem: path for path in source.recorded()}
    if name not in paths:
        raise TraceError(f"there is no recorded run {name!r} here; open one under Traces")
    return paths[name]
