"""Comparing methods: the switch, the boxes to tick, and what lies under the viewer.

Prompt, target, limits and settings are those of a single run; only what differs is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import gradio as gr

from specviz.config import MethodCard
from specviz.ui.i18n import said, t
from specviz.ui.race_handlers import Racing
from specviz.ui.source import Source, run_place
from specviz.ui.state import PLAIN, SPECIAL, Menu, Setup, borrows, menu, obeyed, pick
from specviz.ui.words import word, words

ONE, RACE = "one", "race"
MAX_ROUNDS, ROUNDS = 9, 3
TICKED = ("speculative", "prompt_lookup", "early_exit")  # at first


@dataclass(slots=True)
class RaceControls:
    """The components that belong to a race.

    Attributes:
        mode: single run or race.
        box: what is shown in a race only.
        ticks: a box per method, by its key, plain decoding left out.
        repeats: number of rounds.
        go: starts the race.
        single: what is shown for a single run only.
        plots: the figures of a race that is over.
    """

    mode: gr.Radio
    box: gr.Column
    ticks: dict[str, gr.Checkbox]
    repeats: gr.Slider
    go: gr.Button
    single: list[Any] = field(default_factory=list)
    plots: list[gr.Plot] = field(default_factory=list)

    @property
    def keys(self) -> tuple[str, ...]:
        """The methods that can be ticked, in order."""
        return tuple(self.ticks)

    @property
    def boxes(self) -> list[gr.Checkbox]:
        """Their boxes."""
        return list(self.ticks.values())


def build_mode() -> gr.Radio:
    """The switch between a single run and a race."""
    return gr.Radio(
        [(t("sv_race_mode_one"), ONE), (t("sv_race_mode_race"), RACE)],
        value=ONE,
        show_label=False,
        label=t("sv_race_mode"),
        elem_id="sv-mode",
    )


def build_race(
    cards: Sequence[MethodCard], offer: Menu, setup: Setup, *, mode: gr.Radio, go: gr.Button
) -> RaceControls:
    """A box per method, those that the target does not serve with the reason, and the rounds."""
    others = sorted((card for card in cards if card.key != PLAIN), key=lambda card: card.order)
    with gr.Column(visible=False, elem_id="sv-race-box", elem_classes="sv-race-box") as box:
        words([word("p", "sv_race_pick")], elem_classes="sv-hint")
        plain = next((card for card in cards if card.key == PLAIN), None)
        if plain is not None:
            gr.Checkbox(
                True,
                label=said(plain.title),
                info=t("sv_race_always"),
                interactive=False,
                elem_id="sv-race-plain",
            )
        ticks = {
            card.key: gr.Checkbox(
                label=said(card.title),
                elem_id=f"sv-race-{card.key}",
                **tick_state(card, offer, card.key in TICKED),
            )
            for card in others
        }
        repeats = gr.Slider(
            1, MAX_ROUNDS, ROUNDS, step=1, label=t("sv_race_rounds"), elem_id="sv-race-rounds"
        )
    go.interactive = setup.live and len(offer.methods) > 1
    return RaceControls(mode=mode, box=box, ticks=ticks, repeats=repeats, go=go)


def tick_state(card: MethodCard, offer: Menu, on: bool) -> dict[str, Any]:
    """Value of a box, whether it can be ticked, and why not."""
    reason = dict(offer.refused).get(card.title)
    able = reason is None
    return {
        "value": on and able,
        "interactive": able,
        "info": said(reason, short=True) if reason else "",
    }


def switch(
    source: Source,
    setup: Setup,
    keys: Sequence[str],
    mode: str,
    target: str,
    method: str,
    drafter: str | None,
    *ticks: bool,
) -> list[Any]:
    """Updates after the switch: what is shown in this mode, then ``settings``."""
    race = mode == RACE
    single = [gr.update(visible=not race) for _ in range(4)]
    offer = menu(source, target, method, drafter, any_model=setup.any_model)
    chosen = ticked(keys, ticks) if race else (offer.method.key if offer.method else "",)
    ready = {"interactive": setup.live and len(offer.methods) > 1}
    return [
        *single,
        gr.update(visible=race),
        gr.update(visible=race, **ready),
        *settings(offer, chosen, drafter),
    ]


def retick(
    source: Source,
    setup: Setup,
    keys: Sequence[str],
    mode: str,
    target: str,
    method: str,
    drafter: str | None,
    *ticks: bool,
) -> list[Any]:
    """Updates of the boxes, and of the settings in a race, after another target was chosen."""
    offer = menu(source, target, method, drafter, any_model=setup.any_model)
    wanted = ticked(keys, ticks)
    cards = {card.key: card for card in source.cards()}
    states = [tick_state(cards[key], offer, key in wanted) for key in keys]
    kept = [key for key, state in zip(keys, states, strict=True) if state["value"]]
    quiet = [gr.skip()] * (2 + len(SPECIAL))
    return [
        *[gr.update(**state) for state in states],
        *(settings(offer, kept, drafter) if mode == RACE else quiet),
    ]


def settings(offer: Menu, keys: Sequence[str], drafter: str | None) -> list[Any]:
    """Visibility of the settings' box, the drafters and each setting that a method here obeys."""
    names: set[str] = set()
    borrowing = False
    for card in offer.methods:
        if card.key in keys:
            borrowing = borrowing or borrows(card)
            names |= set(obeyed(card, pick(offer.drafters, drafter) if borrows(card) else None))
    return [
        gr.update(visible=borrowing or bool(names)),
        gr.update(visible=borrowing),
        *[gr.update(visible=name in names) for name in SPECIAL],
    ]


def ticked(keys: Sequence[str], ticks: Sequence[bool]) -> tuple[str, ...]:
    """The methods that are ticked."""
    return tuple(key for key, on in zip(keys, ticks, strict=True) if on)


def show_settings(
    source: Source,
    setup: Setup,
    keys: Sequence[str],
    target: str,
    drafter: str | None,
    *ticks: bool,
) -> list[Any]:
    """Updates of the settings after a box was ticked."""
    offer = menu(source, target, None, any_model=setup.any_model)
    return settings(offer, ticked(keys, ticks), drafter)


def build_figures() -> list[gr.Plot]:
    """The tab with the figures of a race."""
    with gr.Tab(t("sv_tab_compare"), id="compare"):
        words([word("p", "sv_race_about", style="sv-about")])
        with gr.Row(elem_classes="sv-plots"):
            return [
                gr.Plot(
                    label=t(f"sv_race_fig_{name}"),
                    show_label=True,
                    elem_id=f"sv-race-fig-{name}",
                    elem_classes="sv-plot-box",
                )
                for name in ("speedups", "tokens")
            ]


def wire_race(racing: Racing, controls: Any, outputs: list[Any]) -> Any:
    """Connect the start of a race; ``outputs`` are viewer, status and session."""
    race, session = controls.race, outputs[-1]
    return race.go.click(
        racing.run,
        [session, race.repeats, *race.boxes, *controls.inputs],
        outputs,
        **run_place(),
        show_progress="minimal",
        show_progress_on=controls.status,
        api_visibility="private",
    )


def wire_race_menus(
    source: Source, setup: Setup, controls: Any, changed: Sequence[Any], quiet: dict[str, Any]
) -> None:
    """Boxes and settings follow the switch, the ticks and the target.

    Args:
        source: ``specviz.runs``, or a stand-in.
        setup: what this server allows.
        controls: ``tab_run.Controls``.
        changed: the events after which the menus follow the target and the drafter.
        quiet: arguments of listeners that show no progress.
    """
    race = controls.race
    shown = [controls.special, controls.drafter]
    shown += [controls.settings[name] for name in SPECIAL]
    choice = [race.mode, controls.target, controls.method, controls.drafter, *race.boxes]
    given = (source, setup, race.keys)
    race.mode.change(
        partial(switch, *given), choice, [*race.single, race.box, race.go, *shown], **quiet
    )
    for change in changed:
        change.then(partial(retick, *given), choice, [*race.boxes, *shown], **quiet)
    gr.on(
        [box.input for box in race.boxes],
        partial(show_settings, *given),
        [controls.target, controls.drafter, *race.boxes],
        shown,
        **quiet,
    )
