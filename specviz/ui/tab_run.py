"""The controls beside the viewer: layout, and what changes in them with target and method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from specviz.config import MAX_GAMMA, MAX_NGRAM, SCHEDULES, MethodCard
from specviz.ui.cards import method_cards, told
from specviz.ui.i18n import said, t
from specviz.ui.protocol import dumps
from specviz.ui.source import Source
from specviz.ui.state import COMMON, DEFAULTS, SPECIAL, Menu, Setup, menu, pick, takes_draft
from specviz.ui.tab_compare import RaceControls, build_mode, build_race
from specviz.ui.words import domain_words, hidden_words, method_words, words

NUM_EXAMPLES = 6
PAGE_LENGTH = 128  # long enough to see a pattern, short enough for a phone

# On a phone the method lies below the viewer.
JUMP = "() => document.querySelector('#sv-method').scrollIntoView({ block: 'start' })"


@dataclass(slots=True)
class Controls:
    """The components that a visitor sets."""

    prompt: gr.Textbox
    domain: gr.HTML
    examples: list[gr.Button]
    run: gr.Button
    stop: gr.Button
    status: gr.Textbox
    target: gr.Dropdown
    method: gr.Radio
    about: gr.HTML
    card: gr.HTML
    drafter: gr.Dropdown
    draft: gr.Dropdown
    chat: gr.Checkbox
    beside: gr.Checkbox
    special: gr.Accordion
    hidden: gr.HTML
    tongue: gr.Textbox
    race: RaceControls
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def inputs(self) -> list[Any]:
        """What a run reads, in the order of ``handlers.form``."""
        chosen = [self.prompt, self.target, self.method, self.drafter, self.draft]
        chosen += [self.chat, self.beside]
        return chosen + [self.settings[name] for name in (*COMMON, *SPECIAL)]

    @property
    def menus(self) -> list[Any]:
        """What changes with target and method, in the order of ``menu_updates``."""
        special = [self.settings[name] for name in SPECIAL]
        parts = [
            self.method,
            self.about,
            self.drafter,
            self.draft,
            self.special,
            self.hidden,
            self.run,
            self.card,
            self.domain,
        ]
        return [*parts, *self.examples, *special]


def build_controls(source: Source, setup: Setup) -> Controls:
    """Lay out the controls, set for the default target."""
    offer = menu(source, None, None)
    mode = build_mode()
    with gr.Column(elem_classes="sv-group"):
        prompt = gr.Textbox(
            first_prompt(source, offer),
            label=t("sv_prompt"),
            placeholder=t("sv_prompt_hint"),
            lines=4,
            max_lines=10,
            elem_id="sv-prompt",
        )
        domain = words(domain_of(source, offer.target), elem_id="sv-domain", elem_classes="sv-hint")
        with gr.Row(elem_classes="sv-chips"):
            examples = [gr.Button(**button) for button in example_buttons(source, offer)]
        length = gr.Slider(1, 1024, PAGE_LENGTH, step=1, **look("max_new_tokens"))
        with gr.Row(elem_classes="sv-actions"):
            run = gr.Button(
                t("sv_run"),
                variant="primary",
                elem_id="sv-run",
                interactive=setup.live and offer.method is not None,
            )
            go = gr.Button(t("sv_race_go"), variant="primary", elem_id="sv-race-go", visible=False)
            stop = gr.Button(t("sv_stop"), elem_id="sv-stop")
        status = gr.Textbox(
            t("sv_ready"), label=t("sv_status"), interactive=False, lines=1, elem_id="sv-status"
        )
        jump = gr.Button(t("sv_jump"), elem_id="sv-jump", size="sm")
        jump.click(None, js=JUMP, show_progress="hidden", queue=False, api_visibility="private")
    with gr.Column(elem_classes="sv-group"):
        with gr.Column(elem_classes="sv-one") as one:
            method = gr.Radio(
                method_choices(offer.methods),
                value=offer.method.key if offer.method else None,
                label=t("sv_method"),
                elem_id="sv-method",
            )
            about = words(method_words(offer, setup), elem_classes="sv-hint")
            card = method_cards(card_of(offer), elem_id="sv-card", elem_classes="sv-hint")
        race = build_race(source.cards(), offer, setup, mode=mode, go=go)
        target = build_target(source, offer, setup)
        with gr.Column(elem_classes="sv-one") as other:
            draft = build_draft(offer, setup)
            beside = gr.Checkbox(True, label=t("sv_beside"), elem_id="sv-beside")
    settings: dict[str, Any] = {"max_new_tokens": length}
    shown = offer.method is not None and bool(offer.shown)
    with gr.Accordion(
        t("sv_settings_method"), open=True, elem_classes="sv-group", visible=shown
    ) as special:
        drafter = build_drafter(offer)
        settings |= special_settings(offer)
    with gr.Accordion(t("sv_settings_sampling"), open=False, elem_classes="sv-group"):
        settings |= common_settings()
        chat = gr.Checkbox(False, label=t("sv_chat"), elem_id="sv-chat")
    hidden = words(hidden_words(offer), elem_classes="sv-hint sv-hidden-why")
    race.single = [one, other, hidden, run]
    return Controls(
        prompt=prompt,
        domain=domain,
        examples=examples,
        run=run,
        stop=stop,
        status=status,
        target=target,
        method=method,
        about=about,
        card=card,
        drafter=drafter,
        draft=draft,
        chat=chat,
        beside=beside,
        special=special,
        hidden=hidden,
        tongue=gr.Textbox("", visible=False),  # the browser fills it, see ``build.TONGUE``
        race=race,
        settings=settings,
    )


def build_target(source: Source, offer: Menu, setup: Setup) -> gr.Dropdown:
    """The menu of target models."""
    return gr.Dropdown(
        [(said(info.title), info.id) for info in source.targets()],
        value=offer.target,
        label=t("sv_target"),
        allow_custom_value=setup.any_model,
        elem_id="sv-target",
    )


def build_drafter(offer: Menu) -> gr.Dropdown:
    """The menu of methods whose drafts an ensemble verifies."""
    return gr.Dropdown(label=t("sv_drafter"), elem_id="sv-drafter", **drafter_state(offer))


def drafter_state(offer: Menu) -> dict[str, Any]:
    """Choices, value and visibility of the menu of drafters."""
    first = pick(offer.drafters, offer.drafter.key if offer.drafter else None)
    return {
        "choices": method_choices(offer.drafters),
        "value": first.key if first else None,
        "visible": offer.drafter is not None,
    }


def build_draft(offer: Menu, setup: Setup) -> gr.Dropdown:
    """The menu of draft models."""
    return gr.Dropdown(
        label=t("sv_draft_model"),
        allow_custom_value=setup.any_model,
        elem_id="sv-draft",
        **draft_state(offer, setup),
    )


def special_settings(offer: Menu) -> dict[str, Any]:
    """Settings that only some methods obey."""
    schedules = [(t(f"sv_schedule_{name}"), name) for name in SCHEDULES]
    return {
        "gamma": gr.Slider(1, MAX_GAMMA, DEFAULTS.gamma, step=1, **look("gamma", offer)),
        "schedule": gr.Dropdown(schedules, value=DEFAULTS.schedule, **look("schedule", offer)),
        "confidence": gr.Slider(0, 1, 0, step=0.05, **look("confidence", offer)),
        "exit_layer": gr.Slider(
            0, max(1, offer.layers - 1), 0, step=1, **look("exit_layer", offer)
        ),
        "ngram": gr.Slider(1, MAX_NGRAM, DEFAULTS.ngram, step=1, **look("ngram", offer)),
        "ensemble_weight": gr.Slider(
            0.05, 0.95, DEFAULTS.ensemble_weight, step=0.05, **look("ensemble_weight", offer)
        ),
    }


def common_settings() -> dict[str, Any]:
    """Settings that every method obeys, besides the number of new tokens."""
    return {
        "temperature": gr.Slider(0, 2, 0, step=0.05, **look("temperature")),
        "top_k": gr.Slider(0, 200, 0, step=1, **look("top_k")),
        "top_p": gr.Slider(0.01, 1, 1, step=0.01, **look("top_p")),
        "repetition_penalty": gr.Slider(0.8, 2, 1, step=0.05, **look("repetition_penalty")),
        "seed": gr.Number(0, precision=0, minimum=0, **look("seed")),
        "stop": gr.Textbox("", lines=2, **look("stop")),
    }


def look(name: str, offer: Menu | None = None) -> dict[str, Any]:
    """Label, id and visibility of a setting's control."""
    shown = offer is None or name in offer.shown
    return {"label": t(f"sv_set_{name}"), "elem_id": f"sv-set-{name}", "visible": shown}


def method_choices(cards: Sequence[MethodCard]) -> list[tuple[Any, str]]:
    """Methods as (title, key)."""
    return [(said(card.title), card.key) for card in cards]


def card_of(offer: Menu) -> str:
    """The card of the chosen method, to be opened; nothing where no method can run."""
    return told([offer.method] if offer.method else [], fold=True)


def domain_of(source: Source, target_id: str) -> list[list[Any]]:
    """What to expect of the target on prompts from elsewhere."""
    return domain_words(next((t for t in source.targets() if t.id == target_id), None))


def draft_state(offer: Menu, setup: Setup) -> dict[str, Any]:
    """Choices, value and visibility of the draft menu."""
    drafts, drafting = list(offer.drafts), offer.drafter or offer.method
    needed = drafting is not None and takes_draft(drafting)
    visible = bool(drafts) or (setup.any_model and needed)
    return {"choices": drafts, "value": drafts[0] if drafts else None, "visible": visible}


def example_buttons(source: Source, offer: Menu) -> list[dict[str, Any]]:
    """Value and visibility of the example buttons."""
    found = source.examples(offer.target)[:NUM_EXAMPLES]
    made = [{"value": said(item.title), "visible": True} for item in found]
    made += [{"value": "", "visible": False}] * (NUM_EXAMPLES - len(made))
    return [state | {"size": "sm", "elem_classes": "sv-chip"} for state in made]


def first_prompt(source: Source, offer: Menu) -> str:
    """The first example, so that Run works at once."""
    found = source.examples(offer.target)
    return found[0].prompt if found else ""


def menu_updates(
    source: Source, setup: Setup, target: str, method: str | None, drafter: str | None = None
) -> list[Any]:
    """Updates of ``Controls.menus`` after another target, method or drafter was chosen."""
    offer = menu(source, target, method, drafter, any_model=setup.any_model)
    card = offer.method
    buttons = example_buttons(source, offer)
    exits = {"maximum": max(1, offer.layers - 1)}
    return [
        gr.update(choices=method_choices(offer.methods), value=card.key if card else None),
        dumps(method_words(offer, setup)),
        gr.update(**drafter_state(offer)),
        gr.update(**draft_state(offer, setup)),
        gr.update(visible=bool(offer.shown)),
        dumps(hidden_words(offer)),
        gr.update(interactive=setup.live and card is not None),
        card_of(offer),
        dumps(domain_of(source, offer.target)),
        *[gr.update(value=button["value"], visible=button["visible"]) for button in buttons],
        *[
            gr.update(visible=name in offer.shown, **(exits if name == "exit_layer" else {}))
            for name in SPECIAL
        ],
    ]


def example(source: Source, target: str, index: int) -> Sequence[Any]:
    """Prompt and chat flag of an example."""
    found = source.examples(target)
    if not 0 <= index < len(found):
        return gr.skip(), gr.skip()
    return found[index].prompt, found[index].chat
