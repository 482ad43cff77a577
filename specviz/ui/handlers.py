"""What the page does when something is clicked: from Gradio's values to runs and back.

One ``Page`` serves all sessions; what belongs to one session is in its ``Session`` or in runs
that carry its name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from specviz.errors import SpecvizError
from specviz.export import export_html, export_timeline
from specviz.trace import Trace
from specviz.ui import lesson, plots, sharing, shelf, worker
from specviz.ui.i18n import FALLBACK, language, t
from specviz.ui.protocol import LaneEncoder, dumps, notice
from specviz.ui.registry import Registry, Run
from specviz.ui.source import Source
from specviz.ui.state import COMMON, SPECIAL, Form, Session, lanes
from specviz.ui.status import worded

SETTINGS = (*COMMON, *SPECIAL)
HEAD_START_S = 0.1
STATUS_OF_END = {
    "done": "sv_status_done",
    "cancelled": "sv_status_stopped",
    "error": "sv_status_error",
}


def refused(error: SpecvizError) -> tuple[Any, ...]:
    """The update that shows why something was refused; the screen stays as it is."""
    message = notice(type(error).__name__, str(error), time.time())
    return row(message, t("sv_status_error"))


def form(values: Sequence[Any]) -> Form:
    """The controls' values, in the order of ``Controls.inputs``."""
    prompt, target, method, drafter, draft, chat, beside, *rest = values
    return Form(
        prompt=prompt,
        target=target,
        method=method,
        drafter=drafter,
        draft=draft,
        chat=chat,
        beside=beside,
        settings=dict(zip(SETTINGS, rest, strict=True)),
    )


class Page:
    """The handlers of the page.

    Args:
        source: ``specviz.runs``, or a stand-in.
        registry: the runs of all sessions.
    """

    def __init__(self, source: Source, registry: Registry) -> None:
        self.source = source
        self.registry = registry
        self._lesson: list[str | None] = []

    # ---- runs ----

    def run(self, session: Session, request: gr.Request, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Run what the form says; yields (message, status, session).

        Figures are drawn by a later event, because Run answers no click before this one is over.
        """
        try:
            cards = self.source.cards()
            requests = form(values).requests(cards)
        except SpecvizError as error:
            yield refused(error)
            return
        run = Run(owner=request.session_hash or "?", num_lanes=len(requests))
        self.registry.add(run)
        yield row(status=t("sv_status_starting"), session=session.showing(run.id))
        worker.start(run, self.source, requests)
        follower = worker.Follower(
            run, lanes(requests, cards), lambda r: shelf.compare(r, requests)
        )
        for update in follower.updates():
            status = t(STATUS_OF_END[follower.end()]) if update.last else worded(update.status)
            yield row(update.message, status)

    def stop(self, request: gr.Request) -> Any:
        """End this session's runs; waits until they have ended, for two seconds at most.

        Gradio cancels the run's listener once this returns, so its last message gets a head start.
        """
        if self.registry.stop(request.session_hash or "?"):
            time.sleep(HEAD_START_S)
        return t("sv_status_stopped")

    def leave(self, request: gr.Request) -> None:
        """A page was closed or reloaded."""
        self.registry.forget(request.session_hash or "?")

    # ---- traces ----

    def load(self, path: str | None, session: Session, request: gr.Request) -> Iterator[Any]:
        """Show a trace file."""
        yield from self._show(path, session, request, kind="loaded")

    def open(self, name: str | None, session: Session, request: gr.Request) -> Iterator[Any]:
        """Show one of the recorded runs."""
        paths = {path.stem: path for path in self.source.recorded()}
        yield from self._show(paths.get(name or ""), session, request, kind="recorded")

    def _show(
        self, path: str | Path | None, session: Session, request: gr.Request, *, kind: str
    ) -> Iterator[tuple[Any, ...]]:
        if path is None:
            yield row()
            return
        try:
            trace = shelf.read(path)
        except SpecvizError as error:
            yield refused(error)
            return
        owner, name = request.session_hash or "?", Path(path).stem
        run = shelf.shelve(self.registry, trace, owner=owner, kind=kind, name=name)
        for message in shelf.messages(run):
            yield row(message, t("sv_status_loaded"), session.showing(run.id))

    def figures(self, session: Session, tag: str = FALLBACK) -> Any:
        """Figures of the run on screen; ``tag`` is the language that the page is shown in."""
        run = self.registry.get(session.run_id)
        return plots.figures(run, session.lane, language(tag)) if run else plots.nothing()

    # ---- server functions of the viewer: anybody may call them with anything ----

    def resync(self, request: Any) -> list[str] | None:
        """Messages of a run from a number on; None if they are gone."""
        run_id, seq = two(request)
        run = self.registry.get(run_id)
        return run.since(seq) if run is not None and seq is not None else None

    def detail(self, request: Any) -> str | None:
        """A step with everything that its message left out."""
        run, lane, index = self._place(request)
        if run is None or index is None:
            return None
        steps = shelf.steps_of(run, lane)
        if not 0 <= index < len(steps):
            return None
        return dumps(LaneEncoder(lane).encode(steps[index])[2])

    def trace(self, request: Any) -> str | None:
        """The trace of a lane as JSON text."""
        return self._written(request, Trace.dumps)

    def document(self, request: Any) -> str | None:
        """A lane as a page in one file."""
        return self._written(request, export_html)

    def timeline(self, request: Any) -> str | None:
        """The time line of a lane, for Perfetto and Chrome."""
        return self._written(request, export_timeline)

    def link(self, request: Any) -> str | None:
        """The query of a link to a step of a lane, or the sentence why there is none; as JSON."""
        run, lane, step = self._place(request)
        if run is None or step is None:
            return None
        try:
            return dumps({"query": sharing.query_of(run, lane, step)})
        except SpecvizError as error:
            return dumps({"refused": str(error)})

    def _written(self, request: Any, write: Callable[[Trace], str]) -> str | None:
        run, lane, _ = self._place(request)
        if run is None:
            return None
        try:
            return write(shelf.trace_of(run, lane))
        except SpecvizError:
            return None

    def lesson(self) -> str | None:
        """The lesson over the recorded runs as JSON text, made once; None where none can be."""
        if not self._lesson:
            self._lesson.append(lesson.lesson(self.source.recorded()))
        return self._lesson[0]

    def _place(self, request: Any) -> tuple[Run | None, int, int | None]:
        items = list(request) if isinstance(request, (list, tuple)) else []
        run = self.registry.get(items[0]) if items else None
        numbers = [i if isinstance(i, int) else None for i in items[1:3]]
        lane = numbers[0] if numbers else None
        if run is None or lane is None or not 0 <= lane < run.num_lanes:
            return None, 0, None
        return run, lane, numbers[1] if len(numbers) > 1 else None


def server_functions(page: Page) -> list[Callable[[Any], Any]]:
    """The functions that the viewer may call, as Gradio wants them: plain ones."""

    def resync(request: Any) -> list[str] | None:
        return page.resync(request)

    def detail(request: Any) -> str | None:
        return page.detail(request)

    def trace(request: Any) -> str | None:
        return page.trace(request)

    def lesson(request: Any) -> str | None:
        return page.lesson()

    def document(request: Any) -> str | None:
        return page.document(request)

    def timeline(request: Any) -> str | None:
        return page.timeline(request)

    def link(request: Any) -> str | None:
        return page.link(request)

    return [resync, detail, trace, document, timeline, link, lesson]


def two(request: Any) -> tuple[Any, int | None]:
    """(id, number) of a request that should be a list of these two."""
    if not isinstance(request, (list, tuple)) or len(request) != 2:
        return None, None
    number = request[1]
    good = isinstance(number, int) and not isinstance(number, bool) and number >= 0
    return request[0], number if good else None


def row(
    message: str | None = None, status: Any = None, session: Session | None = None
) -> tuple[Any, ...]:
    """One update of (viewer, status, session); what is not given stays as it is."""
    return tuple(part if part is not None else gr.skip() for part in (message, status, session))
