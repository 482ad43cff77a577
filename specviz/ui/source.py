"""What the page asks of ``specviz.runs``; tests hand in a stand-in instead."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol, cast

from specviz.config import MethodCard, RunRequest
from specviz.events import Event


def run_place() -> dict[str, Any]:
    """Arguments of every listener that decodes: they share a queue of so many runs at a time."""
    limit = int(os.environ.get("SPECVIZ_PARALLEL_RUNS", "1"))
    return {"concurrency_id": "gpu", "concurrency_limit": limit}


class Source(Protocol):
    """The functions of ``specviz.runs`` that the page uses."""

    def cards(self) -> tuple[MethodCard, ...]:
        """All methods."""

    def targets(self) -> tuple[Any, ...]:
        """Target models: id, title, source, num_layers, note, default."""

    def availability(self, target_id: str) -> Mapping[str, str | None]:
        """Per method None if it can run on this target, else the reason."""

    def drafts(self, target_id: str, method_key: str) -> tuple[str, ...]:
        """Ids of the models that can draft."""

    def vocabulary_overlap(self, target_id: str, draft_id: str) -> float | None:
        """Share of the draft model's words that the target knows; None where it is not known."""

    def examples(self, target_id: str) -> tuple[Any, ...]:
        """Prompts that suit the target: title, prompt, chat."""

    def request_of(self, method: str, prompt: str, **options: Any) -> RunRequest:
        """The request of the command line's options, flat; refused where it cannot hold."""

    def stream(
        self,
        request: RunRequest,
        *,
        stop: threading.Event | None = None,
        status: Callable[[str], None] | None = None,
    ) -> Iterator[Event]:
        """Decode a request, event by event."""

    def recorded(self) -> tuple[Path, ...]:
        """Recorded traces that come with the project."""

    def warm_up(self) -> None:
        """Load the default models, so that a first run begins sooner."""


def in_turn(
    source: Source,
    requests: Sequence[RunRequest],
    *,
    stop: threading.Event,
    status: Callable[[str], None],
) -> Generator[tuple[int, Event], None, None]:
    """Decode requests one after the other; yields each event with the place of its request.

    A source with a method of this name does so in its own way.
    """
    own = getattr(source, "in_turn", None)
    if own is not None:
        yield from own(requests, stop=stop, status=status)
        return
    for lane, request in enumerate(requests):
        if stop.is_set():
            break
        stream = source.stream(request, stop=stop, status=status)
        with closing(cast(Generator[Event, None, None], stream)) as events:
            for event in events:
                yield lane, event
