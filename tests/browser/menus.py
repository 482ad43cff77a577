"""Invented runs behind the real menus: methods, targets, examples and recorded runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from specviz import runs
from specviz.config import MethodCard, RunRequest
from specviz.events import Event
from specviz.method_cards import read_cards
from specviz.plans import check_prompt
from tests.ui.fake_race import RacingRuns


class RealMenus(RacingRuns):
    """What a visitor sees, without a model."""

    def cards(self) -> tuple[MethodCard, ...]:
        return read_cards()

    def targets(self) -> Any:
        return runs.targets()

    def availability(self, target_id: str) -> Mapping[str, str | None]:
        return runs.availability(target_id)

    def drafts(self, target_id: str, method_key: str) -> tuple[str, ...]:
        return runs.drafts(target_id, method_key)

    def examples(self, target_id: str) -> Any:
        return runs.examples(target_id)

    def stream(self, request: RunRequest, **options: Any) -> Iterator[Event]:
        check_prompt(request.prompt)
        return super().stream(request, **options)

    def recorded(self) -> tuple[Path, ...]:
        return runs.recorded()
