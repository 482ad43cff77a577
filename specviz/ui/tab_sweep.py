"""The sweep: layout, the handler that runs it, and its sheet of curves."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gradio as gr

from specviz.errors import SpecvizError
from specviz.sweep import KNOBS, SweepPoint, is_done, knobs_of, plan, points_of, values_of
from specviz.ui import worker
from specviz.ui.curves import COMPUTED, Chart, chart, empty, point, series
from specviz.ui.handlers import Page, form
from specviz.ui.i18n import t
from specviz.ui.protocol import dumps
from specviz.ui.registry import Item, Run
from specviz.ui.sheet import sheet
from specviz.ui.source import run_place
from specviz.ui.state import chosen, menu
from specviz.ui.tab_run import Controls

MEASURED = ["sv_badge_measured", {}]
POLL_S = 0.4


def build_sweep(page: Page, controls: Controls, light: Mapping[str, Any]) -> None:
    """Lay out the tab and wire it.

    Args:
        page: the handlers of runs.
        controls: the form beside the viewer; a sweep uses its prompt, method and settings.
        light: options of listeners that take no time.
    """
    sweeper = Sweeper(page)
    names = sweeper.choices(controls.target.value, controls.method.value)
    with gr.Tab(t("sv_tab_sweep"), id="sweep"):
        with gr.Row(elem_classes="sv-traces sv-sweep-row"):
            knob = gr.Dropdown(
                names,
                value=names[0][1] if names else None,
                label=t("sv_sweep_knob"),
                elem_id="sv-sweep-knob",
            )
            start = gr.Button(t("sv_sweep_start"), elem_id="sv-sweep-start")
            cancel = gr.Button(t("sv_sweep_cancel"), elem_id="sv-sweep-cancel")
        drawn = sheet(empty("sv_sweep_about"), elem_id="sv-sweep")
    running = start.click(
        sweeper.run,
        [knob, *controls.inputs],
        drawn,
        **run_place(),
        show_progress="hidden",
        api_visibility="private",
    )
    cancel.click(sweeper.stop, None, None, cancels=[running], **light)
    for control in (controls.target, controls.method):
        control.change(sweeper.menu, [controls.target, controls.method, knob], knob, **light)


class Sweeper:
    """The handlers of sweeps; one ``Page`` serves all sessions."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def choices(self, target: str | None, method: str | None) -> list[tuple[Any, str]]:
        """What can be swept in a method, as (title, key)."""
        offer = menu(self.page.source, target, method)
        card = chosen(offer.methods, method)
        return [(t(f"sv_sweep_x_{k}"), k) for k in (knobs_of(card) if card else ())]

    def menu(self, target: str | None, method: str | None, knob: str | None) -> Any:
        """The menu after another method or target was chosen."""
        names = self.choices(target, method)
        keys = [key for _, key in names]
        value = knob if knob in keys else next(iter(keys), None)
        return gr.update(choices=names, value=value)

    def run(self, knob: str | None, request: gr.Request, *values: Any) -> Iterator[str]:
        """Run a sweep; yields its sheet whenever a value is done."""
        try:
            run, tried, requests = self._prepare(knob or "", request.session_hash or "?", values)
        except SpecvizError as error:
            yield dumps({"refused": str(error)})
            return
        self.page.registry.add(run)
        worker.start(run, self.page.source, requests)
        try:
            yield from self._follow(run, knob or "", tried)
        finally:
            run.stop.set()

    def stop(self, request: gr.Request) -> None:
        """End the sweep of this session; what is done stays on screen."""
        self.page.stop(request)

    def _prepare(self, knob: str, owner: str, values: Sequence[Any]) -> tuple[Run, Any, Any]:
        cards = self.page.source.cards()
        base = form(values).requests(cards)[0]
        card = next(card for card in cards if card.key == base.method)
        layers = menu(self.page.source, base.target, base.method).layers
        tried = values_of(knob if knob in KNOBS else "gamma", num_layers=layers)
        requests = plan(base, card, knob, tried)
        return Run(owner=owner, num_lanes=len(requests)), tried, requests

    def _follow(self, run: Run, knob: str, tried: Sequence[float]) -> Iterator[str]:
        seen, error = -1, ""
        while True:
            over, error = self._drain(run, error)
            done = sum(map(is_done, run.events))
            if over:
                break
            if done != seen:
                seen = done
                yield dumps(progress(run, knob, tried, done))
        points = points_of(tried, run.events)
        if error:
            yield dumps(sweep_sheet(knob, tried, points) | {"refused": error})
        elif done < run.num_lanes:
            yield dumps(sweep_sheet(knob, tried, points) | {"empty": "sv_sweep_stopped"})
        else:
            yield dumps(sweep_sheet(knob, tried, points) | {"note": "sv_sweep_note"})

    def _drain(self, run: Run, error: str) -> tuple[bool, str]:
        """Read what the decode thread reports for a moment: (it is over, error so far)."""
        try:
            item: Item | None = run.inbox.get(timeout=POLL_S)
            while item is not None:
                if item.kind == "error":
                    error = item.value[1] or "sv_error_internal"
                item = run.inbox.get_nowait()
            return True, error
        except queue.Empty:
            return False, error


def progress(run: Run, knob: str, tried: Sequence[float], done: int) -> dict[str, Any]:
    """The sheet while the sweep runs: how far it is, and the points so far."""
    values = {"n": done + 1, "all": run.num_lanes}
    told = [done, run.num_lanes, "sv_sweep_progress", values]
    return sweep_sheet(knob, tried, points_of(tried, run.events)) | {"progress": told}


def sweep_sheet(knob: str, tried: Sequence[float], points: Sequence[SweepPoint]) -> dict[str, Any]:
    """The curves of a sweep; values that are not done yet are gaps."""
    if not points:
        return {"charts": []}
    found = {item.value: item for item in points}

    def column(name: str) -> list[float | None]:
        return [getattr(found[v], name) if v in found else None for v in tried]

    def curve(title: str, name: str, formula: str = "", **more: Any) -> Chart:
        lines = [series("sv_sweep_measured", column(name), "main", dots=True)]
        if formula:
            lines.append(series("sv_sweep_formula", column(formula), "paper"))
        badges = [MEASURED, COMPUTED] if formula else [MEASURED]
        axis = f"sv_sweep_x_{knob}"
        return chart(f"sv_sweep_{title}", axis, tried, lines, badges=badges, **more)

    best = max((p for p in points if p.speedup), key=lambda p: p.speedup or 0, default=None)
    marks = [point("sv_sweep_best", best.value, best.speedup, "best")] if best else []
    charts = [
        curve("speedup", "speedup", "expected_speedup", points=marks, one=True),
        curve("alpha", "alpha", top=1, y_form="percent"),
        curve("tau", "tau", "expected_tau"),
    ]
    if any(item.distance for item in points):
        charts.append(curve("distance", "distance"))
    return {"charts": charts}
