"""The lesson: its run and steps are found in the traces, its numbers are those of the traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specviz.trace import Trace
from specviz.ui.lesson import STOPS, choose, in_order, lesson, slowest
from tests.ui.fake_runs import FakeRuns, request

TRACES = sorted((Path(__file__).parents[2] / "assets" / "traces").glob("*.json"))
SAMPLED = next(path for path in TRACES if path.stem == "04-sampled-story")


def raw(path: Path) -> Any:
    """A trace as it stands in its file."""
    return json.loads(path.read_text("utf-8"))


def told(paths: list[Path]) -> dict[str, Any]:
    """The stops of the lesson, by name."""
    text = lesson(paths)
    assert text is not None
    return {stop["name"]: stop for stop in json.loads(text)["stops"]}


def fates(step: Any) -> list[str]:
    """Fates of all tokens of a step, the target's own last."""
    own = [step["target_token"]["fate"]] if step["target_token"] else []
    return [token["fate"] for token in step["proposed"]] + own


def test_the_shipped_runs_give_a_lesson_of_eight_stops() -> None:
    assert tuple(told(TRACES)) == STOPS
    assert len(STOPS) == 8


def test_every_stop_stands_on_a_token_that_shows_it() -> None:
    steps = raw(SAMPLED)["steps"]
    stops = told([SAMPLED])
    wanted = {"accept": "accepted", "reject": "rejected", "bonus": "bonus", "memory": "bonus"}
    for name, fate in wanted.items():
        stop = stops[name]
        assert fates(steps[stop["step"]])[stop["at"]] == fate, name
    story = next(i for i, step in enumerate(steps) if {"accepted", "rejected"} <= set(fates(step)))
    names = ("draft", "verify", "accept", "reject")
    assert {stops[name]["step"] for name in names} == {story}
    first = next(i for i, step in enumerate(steps) if fates(step)[-1] == "bonus")
    assert stops["bonus"]["step"] == first
    assert stops["lossless"]["step"] == len(steps) - 1
    for stop in stops.values():
        assert stop["at"] < len(fates(steps[stop["step"]]))


def test_the_numbers_of_the_sentences_are_those_of_the_trace() -> None:
    document = raw(SAMPLED)
    stops = told([SAMPLED])
    step = document["steps"][stops["reject"]["step"]]
    for name in ("accept", "reject"):
        token = step["proposed"][stops[name]["at"]]
        values = {key: value for key, (_, value) in stops[name]["values"].items()}
        assert values["x"] == token["text"]
        assert values["p"] == token["target_prob"]
        assert values["q"] == token["draft_prob"]
        assert values["u"] == token["draw"]
        ratio = min(1.0, token["target_prob"] / token["draft_prob"])
        assert values["a"] == pytest.approx(ratio, rel=1e-5)
        assert (values["u"] < values["a"]) == (name == "accept")
    assert stops["reject"]["values"]["y"] == ["text", step["target_token"]["text"]]
    weights = document["models"]["target"]["memory_bytes"]
    assert stops["memory"]["values"]["bytes"] == ["bytes", weights]
    bonus = document["steps"][stops["bonus"]["step"]]
    assert stops["bonus"]["values"]["m"] == ["count", len(bonus["proposed"]) + 1]
    times = [sum(s[part] for s in document["steps"]) for part in ("draft_s", "verify_s", "other_s")]
    assert stops["slower"]["values"]["share"][1] == pytest.approx(times[0] / sum(times))


def test_the_slower_run_is_the_recorded_one_that_lost_most() -> None:
    gains = {path: raw(path)["metrics"]["measured_speedup"] for path in TRACES}
    worst = min(gains, key=lambda path: gains[path])
    assert gains[worst] < 1
    found = slowest(TRACES)
    assert found is not None
    assert found.metrics["measured_speedup"] == gains[worst]
    assert told(TRACES)["slower"]["values"]["gain"] == ["ratio", gains[worst]]
    assert "name" not in told([SAMPLED])["slower"]["values"]


def test_runs_that_do_not_show_everything_are_passed_over(tmp_path: Path) -> None:
    broken, alone = tmp_path / "0.json", tmp_path / "1.json"
    broken.write_text("{}", "utf-8")
    Trace.from_events(FakeRuns(num_steps=30).stream(request())).save(alone)
    greedy = next(path for path in TRACES if path.stem == "01-speculative-story")
    mixed = next(path for path in TRACES if path.stem == "08-ensemble-story")
    assert choose([]) is None
    assert lesson([broken, alone, greedy, mixed]) is None
    chosen = choose([broken, alone, greedy, mixed, SAMPLED])
    assert chosen is not None
    assert chosen[0].document["created"] == raw(SAMPLED)["created"]


def test_runs_are_tried_in_the_order_of_their_numbers() -> None:
    names = ["10-b.json", "story.json", "9-c.json", "4-a.json"]
    ordered = sorted(map(Path, names), key=in_order)
    assert [path.name for path in ordered] == ["4-a.json", "9-c.json", "10-b.json", "story.json"]
