"""What the page does when a race is started, and the figures of one that is over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import gradio as gr

from specviz import comparison
from specviz.comparison.race import check_any
from specviz.errors import SpecvizError
from specviz.ui import race, race_plots
from specviz.ui.handlers import STATUS_OF_END, Page, form, refused, row
from specviz.ui.i18n import FALLBACK, language, t
from specviz.ui.race_worker import Engine, Race, RaceFollower
from specviz.ui.registry import Run
from specviz.ui.state import Session
from specviz.ui.status import worded

ENDS = STATUS_OF_END | {"done": "sv_status_measured"}  # the replay goes on
SHOWN = 2  # with fewer lanes that ran there is nothing to compare


class Racing:
    """The handlers of races.

    Args:
        page: the handlers of single runs, with the runs of all sessions.
        keys: the methods that can be ticked, in the order of their boxes.
    """

    def __init__(self, page: Page, keys: Sequence[str]) -> None:
        self.page = page
        self.keys = tuple(keys)
        self.engine: Engine = getattr(page.source, "engine", comparison)

    def run(
        self, session: Session, request: gr.Request, repeats: float, *values: Any
    ) -> Iterator[tuple[Any, ...]]:
        """Run what is ticked; yields (message, status, session).

        Args:
            session: what the page shows.
            request: whose page it is.
            repeats: number of rounds.
            values: one tick per key, then the values of ``handlers.form``.
        """
        try:
            made = self._prepare(request.session_hash or "?", repeats, values)
        except SpecvizError as error:
            yield refused(error)
            return
        self.page.registry.add(made.run)
        yield row(status=t("sv_status_starting"), session=session.showing(made.run.id))
        made.start(self.engine)
        follower = RaceFollower(made)
        for update in follower.updates():
            status = t(ENDS[follower.end()]) if update.last else worded(update.status)
            yield row(update.message, status)
            if update.last and follower.end() == "done":
                yield from self._result(made, session)

    def _prepare(self, owner: str, repeats: float, values: Sequence[Any]) -> Race:
        count = len(self.keys)
        ticked = [key for key, on in zip(self.keys, values[:count], strict=True) if on]
        cards = self.page.source.cards()
        lanes = self.engine.lanes_of(race.race_requests(form(values[count:]), ticked, cards))
        check_any(comparison.Comparison.of(lanes, ()))
        run = Run(owner=owner, num_lanes=len(lanes))
        return Race(run, lanes, race.lane_infos(lanes, cards), int(repeats))

    def _result(self, made: Race, session: Session) -> Iterator[tuple[Any, ...]]:
        found = made.comparison()
        try:
            check_any(found)
        except SpecvizError as error:
            yield refused(error)
            return
        if len(found.rows) < SHOWN:
            return
        repeat, one = race.typical_round(found, made.ticks)
        run = race.shelve_race(self.page.registry, found, one, owner=made.run.owner)
        texts = race.race_messages(run, found, made.infos, repeats=made.repeats, shown=repeat + 1)
        shown = replace(session.showing(run.id), lane=found.rows[1].lane.index)
        for message in texts:
            yield row(message, t(ENDS["done"]), shown)

    def figures(self, session: Session, tag: str = FALLBACK) -> list[Any]:
        """Figures of the race on screen: speed-ups with their spread, tokens over time."""
        run = self.page.registry.get(session.run_id)
        if run is None or run.outcome is None:
            return race_plots.nothing()
        titles = {card.key: card.title for card in self.page.source.cards()}
        return race_plots.figures(run, titles, language(tag))
