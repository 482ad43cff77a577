"""The recorded runs that the page shows at first paint can be read, checked and replayed."""

from pathlib import Path

import pytest

from specviz.events import Finished, Prefilled
from specviz.render import joined_text, spans_of
from specviz.trace import Trace, check

FILES = sorted((Path(__file__).parents[2] / "assets" / "traces").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_recorded_run_is_sound(path: Path) -> None:
    assert path.stat().st_size < 200_000
    trace = Trace.load(path)
    check(trace)
    events = list(trace.events())
    assert isinstance(events[0], Prefilled)
    assert isinstance(events[-1], Finished)
    assert joined_text(spans_of(events)) == trace.text
    assert Trace.from_events(events, trace.baseline).steps == trace.steps
