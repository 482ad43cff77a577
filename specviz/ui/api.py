"""Endpoints for programs: the steps of a run as they come, or a whole run as a trace.

Both give JSON texts, because Gradio loses entries of nested values that change their length. They
share the one place of the page's Run in the queue, and refuse what the page refuses.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import Any, cast

import gradio as gr

from specviz.errors import ModelError, SettingError, SpecvizError
from specviz.events import Event, Verified
from specviz.trace import Trace
from specviz.trace.encode import step_document
from specviz.ui.protocol import dumps
from specviz.ui.source import Source, run_place
from specviz.ui.state import Setup


class Api:
    """The functions behind the endpoints.

    Args:
        source: ``specviz.runs``, or a stand-in.
        setup: what this server allows.
    """

    def __init__(self, source: Source, setup: Setup) -> None:
        self.source = source
        self.setup = setup

    def steps(
        self,
        prompt: str,
        method: str = "speculative",
        target: str = "",
        draft: str = "",
        settings: str = "{}",
    ) -> Iterator[str]:
        """Decode, and yield each step as the JSON text that a trace holds of it.

        Args:
            prompt: text to continue.
            method: key of a method, as in ``python -m specviz methods``.
            target: id of the target; empty for the default.
            draft: id of the draft model; empty for the default.
            settings: JSON object of settings by their names on the command line, such as
                ``{"gamma": 4, "temperature": 0.7}``.

        Raises:
            gradio.Error: the run was refused; says why.
        """
        with closing(self._events(prompt, method, target, draft, settings)) as events:
            for event in told(events):
                if isinstance(event, Verified):
                    yield dumps(step_document(event))

    def trace(
        self,
        prompt: str,
        method: str = "speculative",
        target: str = "",
        draft: str = "",
        settings: str = "{}",
    ) -> str:
        """Decode to the end; returns the trace as JSON text. Arguments and errors as in ``steps``.

        Raises:
            gradio.Error: the run was refused; says why.
        """
        with closing(self._events(prompt, method, target, draft, settings)) as events:
            return Trace.from_events(list(told(events))).dumps()

    def _events(
        self, prompt: str, method: str, target: str, draft: str, settings: str
    ) -> Generator[Event, None, None]:
        options = options_of(settings)
        options |= {k: v for k, v in (("target", target), ("draft", draft)) if v}
        if not self.setup.any_model:
            self._check_models(method, options)
        request = self.source.request_of(method, prompt, **options)
        stop = threading.Event()
        stream = cast(Generator[Event, None, None], self.source.stream(request, stop=stop))
        try:
            with closing(stream):
                yield from stream
        finally:
            stop.set()

    def _check_models(self, method: str, options: Mapping[str, Any]) -> None:
        """On a public server only the catalogue's models run, and only on its own device.

        Nothing is looked up before: a name may be a folder of the server.
        """
        target, draft = options.get("target"), options.get("draft")
        targets = [target.id for target in self.source.targets()]
        if target is not None and target not in targets:
            raise ModelError(f"target must be one of {', '.join(targets)} on this server")
        drafts = self.source.drafts(target or targets[0], method)
        if draft is not None and draft not in drafts:
            allowed = ", ".join(drafts) or "left out"
            raise ModelError(f"draft must be one of {allowed} on this server")
        if not {"device", "dtype"}.isdisjoint(options):
            raise SettingError("device and dtype must be left out on this server")


def options_of(settings: str) -> dict[str, Any]:
    """The settings of a request.

    Raises:
        SettingError: they are no JSON object.
    """
    try:
        found = json.loads(settings or "{}")
    except (TypeError, ValueError, RecursionError):  # a client may send anything
        found = None
    if not isinstance(found, dict):
        raise SettingError(
            f'settings must be a JSON object such as {{"gamma": 4}}, got {str(settings)[:40]!r}'
        )
    return found


def told(events: Iterator[Event]) -> Iterator[Event]:
    """The events; what is refused becomes an error whose sentence reaches the program."""
    try:
        yield from events
    except SpecvizError as error:
        raise gr.Error(str(error), print_exception=False) from error


def build_api(source: Source, setup: Setup) -> None:
    """Offer ``/steps`` and ``/trace``, inside ``gr.Blocks``."""
    api = Api(source, setup)
    gr.api(api.steps, api_name="steps", **run_place())
    gr.api(api.trace, api_name="trace", **run_place())
