"""What happens when the page is opened by a link: a recorded run at a step, or a filled form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import gradio as gr

from specviz.errors import SpecvizError
from specviz.export import Link
from specviz.ui import sharing, shelf, tab_run
from specviz.ui.handlers import Page
from specviz.ui.i18n import t
from specviz.ui.protocol import dumps
from specviz.ui.state import COMMON, SPECIAL, Session, Setup
from specviz.ui.tab_run import Controls
from specviz.ui.words import word, words

WHOLE_RUN = 2**40  # bytes of a message: one, since a viewer that mounts late sees the last only


def build_note() -> gr.HTML:
    """Where the page says what a link did, or why it was not followed."""
    return words(visible=False, elem_id="sv-share-note", elem_classes="sv-share-note")


class Arrival:
    """The handler of a page that was just opened.

    Args:
        page: the handlers of runs.
        setup: what this server allows.
        controls: the form.
        note: see ``build_note``.
        outputs: viewer, status and session.
    """

    def __init__(
        self, page: Page, setup: Setup, controls: Controls, note: gr.HTML, outputs: list[Any]
    ) -> None:
        self.page = page
        self.setup = setup
        self.controls = controls
        self.note = note
        self.viewer, self.status, self.session = outputs

    @property
    def outputs(self) -> list[Any]:
        """All components that a link may change."""
        form = [*self.controls.menus, *self.controls.inputs]
        return [self.viewer, self.status, self.session, self.note, *dict.fromkeys(form)]

    def follow(self, session: Session, request: gr.Request) -> dict[Any, Any]:
        """Do what the page's address says; all of it, or nothing and say why."""
        try:
            link = sharing.read(_pairs(request))
            form = self._form(link["settings"]) if link["settings"] else {}
            shown = self._run(link, session, request.session_hash or "?")
            return {self.note: gr.skip()} | form | shown  # Gradio wants one update at least
        except SpecvizError as error:
            parts = (word("span", text=part) for part in (" ", str(error)))
            box = word("p", style="sv-alert", children=[word("strong", "sv_share_refused"), *parts])
            return {self.note: gr.update(value=dumps([box]), visible=True)}

    def _run(self, link: Link, session: Session, owner: str) -> dict[Any, Any]:
        """Show the recorded run that a link names."""
        name = link["run"]
        if name is None:
            return {}
        trace = shelf.read(sharing.recorded_path(self.page.source, name))
        run = shelf.shelve(self.page.registry, trace, owner=owner, name=name)
        (message,) = shelf.messages(run, step=link["step"], max_bytes=WHOLE_RUN)
        return {
            self.viewer: message,
            self.status: t("sv_status_loaded"),
            self.session: session.showing(run.id),
        }

    def _form(self, settings: Mapping[str, Any]) -> dict[Any, Any]:
        """Fill the form; menus follow target, method and drafter."""
        controls, source = self.controls, self.page.source
        filled = sharing.fill(settings, source, self._limits())
        offer = filled.offer
        keys = [offer.target, offer.method.key if offer.method else None]
        drafter = offer.drafter.key if offer.drafter else None
        menus = tab_run.menu_updates(source, self.setup, *keys, drafter)
        changes = dict(zip(controls.menus, menus, strict=True))
        changes[controls.target] = gr.update(value=offer.target)
        named = {"prompt": controls.prompt, "chat": controls.chat, "draft": controls.draft}
        for name, value in filled.values.items():
            control = named.get(name) or controls.settings[name]
            changes[control] = {**changes.get(control, gr.update()), "value": value}
        told = [word("p", "sv_share_filled", style="sv-share-filled")]
        return changes | {self.note: gr.update(value=dumps(told), visible=True)}

    def _limits(self) -> dict[str, tuple[float, float]]:
        """Least and greatest value per control that has them."""
        found = {}
        for name in (*COMMON, *SPECIAL):
            control = self.controls.settings[name]
            if hasattr(control, "minimum"):
                high = sharing.EXACT if control.maximum is None else control.maximum
                found[name] = (control.minimum, high)
        return found


def _pairs(request: gr.Request) -> Iterator[tuple[str, str]]:
    """Names and values of the address, in order, a name as often as it stands there."""
    asked = request.request.query_params if request.request is not None else request.query_params
    yield from asked.multi_items() if hasattr(asked, "multi_items") else dict(asked).items()
