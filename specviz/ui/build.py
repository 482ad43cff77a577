"""The page as a whole: header, controls, viewer, tabs, and the listeners between them."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_MAX_EVENTS", "200")

import gradio as gr

from specviz.errors import SpecvizError
from specviz.ui import shelf, tab_compare, tab_run, tab_sweep, tab_theory, zero_gpu
from specviz.ui.api import build_api
from specviz.ui.arrival import Arrival, build_note
from specviz.ui.cards import method_cards, told
from specviz.ui.handlers import Page, server_functions
from specviz.ui.i18n import said, t
from specviz.ui.race_handlers import Racing
from specviz.ui.registry import Registry, Run
from specviz.ui.source import Source, run_place
from specviz.ui.state import Session, Setup, torch_is_here
from specviz.ui.tab_run import Controls, build_controls
from specviz.ui.theme import launch_options
from specviz.ui.viewer import step_viewer
from specviz.ui.words import about_traces, header, reading, words

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
LIGHT: dict[str, Any] = {**QUIET, "queue": False}
# Words in plots are not translated by the browser, so their listeners are told the language that
# the page is shown in: their last input.
TONGUE = "(...given) => [...given.slice(0, -1), document.documentElement.lang]"
FIGURES: dict[str, Any] = {**LIGHT, "js": TONGUE}
# The tabs lie below the viewer: what they put on screen is brought into sight.
LOOK = "() => document.querySelector('#sv-viewer').scrollIntoView({ block: 'start' })"


def build_app(
    source: Source | None = None, registry: Registry | None = None, *, setup: Setup | None = None
) -> gr.Blocks:
    """Build the page.

    Args:
        source: ``specviz.runs`` unless a test hands in a stand-in.
        registry: where runs are kept; a fresh one by default.
        setup: what this server allows.
    """
    setup = setup or Setup(live=source is not None or torch_is_here())
    source = source or default_source()
    page = Page(source, registry or Registry())
    first = first_run(page)
    with gr.Blocks(title="specviz", fill_width=True, delete_cache=(600, 3600)) as app:
        session = gr.State(Session(run_id=first.id if first else ""))
        words(header(), part="header")
        with gr.Row(elem_classes="sv-main", equal_height=False):
            with gr.Column(scale=0, min_width=330, elem_classes="sv-side"):
                controls = build_controls(source, setup)
            with gr.Column(scale=1, min_width=320, elem_classes="sv-stage"):
                note = build_note()
                viewer = step_viewer(
                    first_message(first), server_functions(page), elem_id="sv-viewer"
                )
                drawing = build_tabs(page, session, viewer, controls)
        wire(page, controls, [viewer, controls.status, session], drawing)
        wire_menus(source, controls, setup)
        arrival = Arrival(page, setup, controls, note, [viewer, controls.status, session])
        app.load(arrival.follow, session, arrival.outputs, **LIGHT)
        app.unload(page.leave)
        if setup.live:
            build_api(source, setup)
    return app


def default_source() -> Source:
    """The bridge to everything that decodes; on ZeroGPU, by way of its GPU tasks."""
    return zero_gpu.source()


def first_run(page: Page) -> Run | None:
    """The recorded run of the first view, None where there is none that can be shown."""
    for path in page.source.recorded():
        try:
            return shelf.shelve(page.registry, shelf.read(path), owner="", name=path.stem)
        except SpecvizError:
            continue
    return None


def first_message(run: Run | None) -> str | None:
    """All of a recorded run, so that the page is alive without asking the server."""
    if run is None:
        return None
    return shelf.messages(run, max_bytes=shelf.FIRST_PAINT_BYTES)[0]


def build_tabs(
    page: Page, session: gr.State, viewer: gr.HTML, controls: Controls
) -> dict[str, Any]:
    """What lies under the viewer; returns the event that draws the figures."""
    with gr.Tabs(elem_classes="sv-tabs"):
        with gr.Tab(t("sv_tab_read"), id="read"):
            words(reading())
        with gr.Tab(t("sv_card_tab"), id="methods"):
            method_cards(told(page.source.cards()), elem_id="sv-methods")
        with gr.Tab(t("sv_tab_figures"), id="figures") as tab, gr.Row(elem_classes="sv-plots"):
            names = ("acceptance", "time", "histogram", "tokens")
            plots = [
                gr.Plot(
                    label=t(f"sv_fig_{name}"),
                    show_label=True,
                    elem_id=f"sv-fig-{name}",
                    elem_classes="sv-plot-box",
                )
                for name in names
            ]
        drawing = figures_event(page.figures, session, controls, plots)
        tab_theory.build_theory(page, session, controls.status, LIGHT)
        tab_sweep.build_sweep(page, controls, LIGHT)
        with gr.Tab(t("sv_tab_trace"), id="traces"):
            words(about_traces())
            build_traces(page, [viewer, controls.status, session], drawing)
        controls.race.plots = tab_compare.build_figures()
    tab.select(**drawing)
    return drawing


def figures_event(draw: Any, session: gr.State, controls: Controls, plots: list[Any]) -> Any:
    """Arguments of a listener that draws figures of what is on screen."""
    return {"fn": draw, "inputs": [session, controls.tongue], "outputs": plots, **FIGURES}


def build_traces(page: Page, outputs: list[Any], drawing: dict[str, Any]) -> None:
    """Open a recorded run, or load a file."""
    names = [(said(shelf.title(path)), path.stem) for path in page.source.recorded()]
    with gr.Row(elem_classes="sv-traces"):
        recorded = gr.Dropdown(
            names,
            value=names[0][1] if names else None,
            label=t("sv_trace_recorded"),
            elem_id="sv-recorded",
            visible=bool(names),
        )
        opener = gr.Button(t("sv_trace_open"), elem_id="sv-open", visible=bool(names))
        upload = gr.UploadButton(
            t("sv_trace_load"), file_types=[".json"], type="filepath", elem_id="sv-load"
        )
    session = outputs[-1]
    for shown in (
        opener.click(page.open, [recorded, session], outputs, **QUIET),
        upload.upload(page.load, [upload, session], outputs, **QUIET),
    ):
        shown.then(None, js=LOOK, **LIGHT)
        shown.then(**drawing)


def wire(page: Page, controls: Controls, outputs: list[Any], drawing: dict[str, Any]) -> None:
    """Connect Run and Stop; ``outputs`` are viewer, status and session."""
    session = outputs[-1]
    run = controls.run.click(
        page.run,
        [session, *controls.inputs],
        outputs,
        **run_place(),
        show_progress="minimal",
        show_progress_on=controls.status,
        api_visibility="private",
    )
    run.then(**drawing)
    racing = Racing(page, controls.race.keys)
    race = tab_compare.wire_race(racing, controls, outputs)
    race.then(**figures_event(racing.figures, session, controls, controls.race.plots))
    controls.stop.click(page.stop, None, controls.status, cancels=[run, race], **LIGHT)


def wire_menus(source: Source, controls: Controls, setup: Setup) -> None:
    """Menus and examples follow target and method."""
    updates = partial(tab_run.menu_updates, source, setup)
    choice = [controls.target, controls.method, controls.drafter]
    changed = [menu.input(updates, choice, controls.menus, **LIGHT) for menu in choice]
    tab_compare.wire_race_menus(source, setup, controls, [changed[0], changed[2]], LIGHT)
    for index, button in enumerate(controls.examples):
        pick = partial(pick_example, source, index)
        button.click(pick, controls.target, [controls.prompt, controls.chat], **LIGHT)


def pick_example(source: Source, index: int, target: str) -> Any:
    """Put an example into the prompt."""
    return tab_run.example(source, target, index)


def launch(
    host: str = "127.0.0.1",
    port: int | None = 7860,
    share: bool = False,
    *,
    source: Source | None = None,
    **options: Any,
) -> gr.Blocks:
    """Build the page and serve it; once it answers, models load in the background.

    Models outside the catalogue can be named only where nobody but this machine is served.

    Args:
        host, port, share: as for ``python -m specviz serve``; port None = the first free one.
        source: a stand-in for ``specviz.runs``, in tests.
        options: more arguments of ``Blocks.launch``.
    """
    live = source is not None or torch_is_here()
    setup = Setup(live=live, any_model=host in LOCAL_HOSTS and not share)
    source = source or default_source()
    app = build_app(source, setup=setup)
    app.queue(max_size=64, default_concurrency_limit=8)
    returns = options.pop("prevent_thread_lock", False)
    place = {"server_name": host, "server_port": port, "share": share}
    app.launch(**place, **launch_options(), **options, prevent_thread_lock=True)
    if live:
        threading.Thread(target=source.warm_up, name="warm-up", daemon=True).start()
    if not returns:
        app.block_thread()
    return app
