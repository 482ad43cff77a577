"""Races: who starts, the rounds, what is replayed, the table, stopping, refusals."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from specviz.comparison import Comparison, Spread, Tick
from specviz.errors import SettingError
from specviz.events import Verified
from specviz.trace import check
from specviz.ui import race, race_plots
from specviz.ui.handlers import Page
from specviz.ui.i18n import texts
from specviz.ui.race_handlers import Racing
from specviz.ui.registry import Registry
from specviz.ui.state import SPECIAL, Form, Session, Setup, menu
from specviz.ui.tab_compare import retick, switch, tick_state
from specviz.ui.tab_theory import theory_of
from tests.ui.fake_race import REFUSED, RacingRuns
from tests.ui.fake_runs import CARDS

pytestmark = pytest.mark.filterwarnings("default")
KEYS = ("speculative", "prompt_lookup", "early_exit")
SETTINGS = (64, 0, 0, 1, 1, 0, "", 4, "constant", 0, 0, 3, 0.5)


def racing(source: RacingRuns) -> Racing:
    return Racing(Page(source, Registry()), KEYS)


def go(
    made: Racing, *ticked: str, prompt: str = "Once upon a time", repeats: int = 2, who: str = "me"
) -> list[tuple[Any, ...]]:
    """All updates of a race."""
    return list(begin(made, *ticked, prompt=prompt, repeats=repeats, who=who))


def begin(
    made: Racing, *ticked: str, prompt: str = "Once upon a time", repeats: int = 2, who: str = "me"
) -> Any:
    ticks = [key in (ticked or KEYS) for key in KEYS]
    values = [prompt, "big", "speculative", None, None, False, True, *SETTINGS]
    asker: Any = SimpleNamespace(session_hash=who)
    return made.run(Session(), asker, repeats, *ticks, *values)


def messages(updates: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [json.loads(row[0]) for row in updates if isinstance(row[0], str)]


def records(found: list[dict[str, Any]], kind: str) -> list[list[Any]]:
    return [record for message in found for record in message["ev"] if record[0] == kind]


def test_plain_decoding_is_always_there_and_three_others_at_most() -> None:
    form = Form(prompt="x", target="big", method="speculative")
    requests = race.race_requests(form, ["prompt_lookup"], CARDS)
    assert [one.method for one in requests] == ["plain", "prompt_lookup"]
    with pytest.raises(SettingError, match="got 0; tick some"):
        race.race_requests(form, [], CARDS)
    with pytest.raises(SettingError, match="got 4; tick fewer"):
        race.race_requests(form, [*KEYS, "early_exit"], CARDS)


def test_lanes_run_live_and_the_race_is_shown_again_on_one_clock() -> None:
    made = racing(RacingRuns(num_steps=8))
    updates = go(made)
    found = messages(updates)
    live, over = records(found, "open")
    assert [lane["key"] for lane in live[1]["lanes"]] == ["plain", *KEYS]
    assert live[1]["race"] == {"limit": 64, "repeats": 2, "over": False, "round": 0}
    assert over[1]["race"]["over"] is True
    assert over[1]["race"]["round"] in (1, 2)
    assert len({message["run"] for message in found}) == 2
    assert [message["end"] for message in found if "end" in message] == ["done", "done"]
    steps = records(found, "step")
    assert [sum(r[1] == lane for r in steps) for lane in range(4)] == [16] * 4  # live, replayed
    done = [r for r in records(found, "round") if r[2].get("done")]
    assert sorted((r[1], r[2]["r"]) for r in done) == [(i, r) for i in range(4) for r in (1, 2)]
    session = updates[-1][2]
    run = made.page.registry.get(session.run_id)
    assert run is not None
    assert session.lane == 1
    assert all(trace.baseline is not None for trace in run.traces.values())


def test_the_table_holds_the_figures_of_the_comparison() -> None:
    made = racing(RacingRuns(num_steps=10))
    updates = go(made, repeats=3)
    run = made.page.registry.get(updates[-1][2].run_id)
    assert run is not None
    tables = {r[1]: r[2] for r in records(messages(updates), "compare")}
    assert set(tables) == {0, 1, 2, 3}
    for row in run.outcome.rows:
        shown = tables[row.lane.index]
        assert shown["race"]["speedup"] == pytest.approx(
            [row.speedup.median, row.speedup.low, row.speedup.high]
        )
        assert shown["race"]["rate"] == row.trace.metrics["acceptance_rate"]
        assert shown["race"]["tau"] == row.trace.metrics["block_efficiency"]
        assert shown["race"]["rounds"] == 3
        assert shown["identical"] == row.trace.baseline["identical"]
    for trace in run.traces.values():
        check(trace)


def raced(slow: tuple[float, ...]) -> tuple[Comparison, list[Tick]]:
    """A race of three rounds; ``slow``: how much longer checking takes, by round."""
    made = racing(RacingRuns(num_steps=4))
    prepared = made._prepare(
        "me", 3, [True, False, False, "x", "big", "plain", None, None, False, True, *SETTINGS]
    )
    ticks = []
    for tick in made.engine.compare_stream(
        prepared.lanes, repeats=3, stop=threading.Event(), status=lambda text: None
    ):
        event = tick.event
        if isinstance(event, Verified) and tick.lane:
            event = replace(event, verify_s=event.verify_s * slow[tick.repeat])
        ticks.append(Tick(tick.lane, tick.repeat, event))
    return Comparison.of(prepared.lanes, ticks), ticks


def test_the_round_that_is_replayed_is_the_one_nearest_to_the_medians() -> None:
    repeat, one = race.typical_round(*raced((2.0, 1.0, 1.3)))
    assert repeat == 2
    assert [row.lane.index for row in one.rows] == [0, 1]


def test_each_lane_says_why() -> None:
    made = racing(RacingRuns(num_steps=10))
    tables = [r[2]["race"] for r in records(messages(go(made, "speculative")), "compare")]
    assert tables[0]["why"] == ["sv_race_why_plain", {}]
    key, values = tables[1]["why"]
    assert key.startswith("sv_race_why_")
    assert values["tau"] / values["cost"] == pytest.approx(tables[1]["speedup"][0])


@pytest.mark.parametrize(
    ("slow", "verdict"), [((1, 9, 1), "faster"), ((9, 1, 9), "slower"), ((9, 9, 1), "slower")]
)
def test_the_verdict_of_a_lane_is_that_of_its_median(slow: tuple[int, ...], verdict: str) -> None:
    found, _ = raced(slow)
    (row,) = (row for row in found.rows if row.lane.index)
    assert (row.speedup.median > 1) == (verdict == "faster")
    told = race.outcome(row, found.repeats)
    assert told["verdict"] == verdict
    assert told["race"]["why"][0].startswith(f"sv_race_why_{verdict}")


def test_a_median_within_chance_is_a_tie() -> None:
    found, _ = raced((1, 1, 1))
    (row,) = (row for row in found.rows if row.lane.index)
    tie = replace(row, speedup=Spread(1.04, 1.01, 1.79))
    told = race.outcome(tie, found.repeats)
    assert (told["verdict"], told["race"]["why"][0]) == ("near", "sv_race_why_equal")


def test_a_lane_that_cannot_run_says_so_and_the_others_race() -> None:
    made = racing(RacingRuns(num_steps=5))
    found = messages(go(made, prompt=f"{REFUSED} here"))
    lanes = records(found, "open")[-1][1]["lanes"]
    assert [lane["refused"] for lane in lanes] == ["", "", "no cache that can be cropped", ""]
    assert {r[1] for r in records(found, "compare")} == {0, 1, 3}


@pytest.mark.parametrize(
    ("ticked", "prompt", "part"),
    [
        (("none",), "x", "got 0"),
        (KEYS, "  ", "prompt is empty"),
        (("prompt_lookup",), REFUSED, "none of the methods can run"),
    ],
)
def test_expected_errors_are_sentences(ticked: tuple[str, ...], prompt: str, part: str) -> None:
    last = messages(go(racing(RacingRuns(num_steps=3)), *ticked, prompt=prompt))[-1]
    assert last["run"] == ""
    assert part in last["error"][1]


def test_a_crash_is_not_told_to_the_visitor() -> None:
    found = messages(go(racing(RacingRuns()), prompt="crash"))
    assert found[-1]["error"] == ["internal", ""]


def test_stop_ends_a_race_within_a_step_and_keeps_what_finished() -> None:
    source = RacingRuns(num_steps=12, rate=60)
    made = racing(source)
    updates, found = begin(made, repeats=9), []
    for row in updates:
        if isinstance(row[0], str):
            found.append(json.loads(row[0]))
        if any(r[2]["r"] == 2 for r in records(found[-1:], "round")):
            break
    assert made.page.registry.stop("me", wait_s=0) is False
    found += messages(list(updates))
    assert source.late <= 1
    assert found[-1]["end"] == "cancelled"
    assert len({message["run"] for message in found}) == 1
    assert {r[1] for r in records(found, "compare")} == {0, 1, 2, 3}


def test_closing_a_race_leaves_no_thread() -> None:
    made = racing(RacingRuns(num_steps=500, rate=50))
    updates = begin(made)
    next(updates)
    next(updates)
    updates.close()
    until = time.monotonic() + 2
    while time.monotonic() < until and any(
        thread.name.startswith("specviz-") for thread in threading.enumerate()
    ):
        time.sleep(0.02)
    assert not [t for t in threading.enumerate() if t.name.startswith("specviz-")]


def test_two_sessions_keep_apart() -> None:
    made = racing(RacingRuns(num_steps=4))
    one, two = go(made, who="one")[-1][2], go(made, "early_exit", who="two")[-1][2]
    assert one.run_id != two.run_id
    made.page.registry.forget("one")
    assert made.page.registry.get(one.run_id) is None
    assert made.page.registry.get(two.run_id) is not None


def test_figures_show_the_medians_and_the_round() -> None:
    made = racing(RacingRuns(num_steps=6))
    session = go(made)[-1][2]
    bars, lines = made.figures(session)
    run = made.page.registry.get(session.run_id)
    assert run is not None
    assert list(bars.data[0].x) == [row.speedup.median for row in run.outcome.rows]
    assert [line.name for line in lines.data] == [
        "Plain decoding",
        "Speculative decoding",
        "Prompt lookup",
        "Early exit",
    ]
    assert made.figures(Session()) == race_plots.nothing()


def test_boxes_of_methods_that_the_target_does_not_serve_give_the_reason() -> None:
    source = RacingRuns()
    card = next(card for card in CARDS if card.key == "speculative")
    offer = menu(source, "other", None)
    state = tick_state(card, offer, True)
    assert state == {"value": False, "interactive": False, "info": "no draft model fits"}
    boxes = retick(source, Setup(), KEYS, "race", "other", "plain", None, True, True, False)
    assert [box["value"] for box in boxes[:3]] == [False, True, False]


def test_the_switch_shows_the_settings_of_all_that_is_ticked() -> None:
    source = RacingRuns()
    on = switch(source, Setup(), KEYS, "race", "big", "speculative", None, True, True, False)
    shown = dict(zip(SPECIAL, [update["visible"] for update in on[-len(SPECIAL) :]], strict=True))
    assert shown == {
        "gamma": True,
        "schedule": True,
        "confidence": True,
        "exit_layer": False,
        "ngram": True,
        "ensemble_weight": False,
    }
    assert [update["visible"] for update in on[:6]] == [False] * 4 + [True, True]
    keys = ("speculative", "ensemble")
    on = switch(source, Setup(), keys, "race", "big", "speculative", "early_exit", False, True)
    assert on[7]["visible"] is True  # the menu of drafters
    shown = dict(zip(SPECIAL, [update["visible"] for update in on[-len(SPECIAL) :]], strict=True))
    assert shown["exit_layer"] and shown["ensemble_weight"] and not shown["confidence"]
    off = switch(source, Setup(), KEYS, "one", "big", "speculative", None, True, True, False)
    assert [update["visible"] for update in off[:6]] == [True] * 4 + [False, False]


def test_the_theory_of_a_race_has_a_point_per_lane_with_its_own_figures() -> None:
    made = racing(RacingRuns(num_steps=12))
    run = made.page.registry.get(go(made)[-1][2].run_id)
    assert run is not None
    sheet = theory_of(run, 0)
    names = ["Speculative decoding", "Prompt lookup", "Early exit"]
    assert [row["name"] for row in sheet["lanes"]] == names
    speedup, tokens, *_ = sheet["charts"]
    for place, row in enumerate(sheet["lanes"], start=1):
        metrics = run.traces[place].metrics
        facts = {fact["key"].split("_")[-1]: fact["value"] for fact in row["facts"]}
        assert facts["alpha"] == pytest.approx(metrics["acceptance_rate"])
        assert facts["c"] == pytest.approx(metrics["cost_coefficient"])
        mark = next(p for p in speedup["points"] if p["mark"] == f"at-{place}")
        assert (mark["x"], mark["y"]) == (4, pytest.approx(metrics["measured_speedup"]))
        mark = next(p for p in tokens["points"] if p["mark"] == f"at-{place}")
        assert mark["y"] == pytest.approx(metrics["block_efficiency"])
    for word in json.dumps(sheet).split('"'):
        assert not word.startswith("sv_") or word in texts()["en"], word
