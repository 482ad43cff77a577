"""Theory against measurement: layout, and the sheet of the run on screen.

The curves are those of the formula with this run's own α̂, c and v(k); the run is a point on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from specviz.events import Prefilled
from specviz.metrics import PlainTiming
from specviz.ui.curves import Badge, empty, measure, theory_sheet
from specviz.ui.curves_race import Racer, race_sheet
from specviz.ui.handlers import Page
from specviz.ui.i18n import t
from specviz.ui.protocol import dumps
from specviz.ui.registry import Run
from specviz.ui.sheet import sheet
from specviz.ui.shelf import steps_of
from specviz.ui.state import PLAIN, Session


def build_theory(
    page: Page, session: gr.State, status: gr.Textbox, light: Mapping[str, Any]
) -> None:
    """Lay out the tab; it is drawn when it is opened, and again when a run has ended.

    Args:
        page: the handlers of runs.
        session: what the page shows.
        status: the status line, which changes at the end of a run.
        light: options of listeners that take no time.
    """

    def draw(shown: Session) -> str:
        return dumps(theory_of(page.registry.get(shown.run_id), shown.lane))

    with gr.Tab(t("sv_tab_theory"), id="theory") as tab:
        drawn = sheet(empty("sv_theory_none"), elem_id="sv-theory")
    tab.select(draw, session, drawn, **light)
    status.change(draw, session, drawn, **light)


def theory_of(run: Run | None, lane: int) -> dict[str, Any]:
    """The sheet of a run's lane, or of its first lane that drafts; else why there is none."""
    if run is None:
        return empty("sv_theory_none")
    if not run.done.is_set():
        return empty("sv_theory_running")
    if run.outcome is not None:
        return theory_of_race(run)
    lanes = [lane, *(other for other in range(run.num_lanes) if other != lane)]
    drafting = [i for i in lanes if any(step.proposed for step in steps_of(run, i))]
    if not drafting:
        return empty("sv_theory_no_drafts")
    found = measure(steps_of(run, drafting[0]), plain_of(run, drafting[0]))
    if found is None:
        return empty("sv_theory_no_cost")
    return theory_sheet(found, badge_of(run, drafting[0]))


def theory_of_race(run: Run) -> dict[str, Any]:
    """The sheet of a race: a curve and a point per lane that drafts and whose cost is known."""
    racers, left_out = [], []
    for row in run.outcome.rows:
        place = row.lane.index
        title = str(row.trace.document["method"].get("title") or row.lane.label)
        steps = steps_of(run, place)
        found = measure(steps, plain_of(run, place))
        if found is not None:
            racers.append(Racer(place, title, found))
        elif row.lane.request.method != PLAIN:
            left_out.append(title)
    if not racers:
        return empty("sv_theory_no_drafts")
    return race_sheet(racers, left_out, badge_of(run, racers[0].place))


def plain_of(run: Run, lane: int) -> PlainTiming | None:
    """Times of the plain run beside a lane, None without one."""
    baseline = run.baselines.get(lane)
    if baseline is None and lane in run.traces:
        baseline = run.traces[lane].baseline
    if baseline is not None:
        return PlainTiming.of_baseline(baseline)
    for other in range(run.num_lanes):
        steps = steps_of(run, other)
        if steps and not any(step.proposed for step in steps):
            return PlainTiming.of_steps(steps)
    return None


def badge_of(run: Run, lane: int) -> Badge:
    """Measured here, or recorded on a date: what was loaded had no thread and is no race."""
    if run.thread is not None or run.outcome is not None:
        return ["sv_badge_measured", {}]
    headers = [e.header for e in run.events[lane] if isinstance(e, Prefilled) and e.header]
    return ["sv_badge_recorded", {"date": headers[0].created if headers else ""}]
