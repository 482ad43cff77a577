"""Comparing methods: the race, its figures, refusals (U07, U10, U25, U37, U38)."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import specviz
from specviz import live, runs
from specviz.catalog import load as loading
from specviz.cli import main
from specviz.comparison import (
    Comparison,
    Lane,
    Refused,
    Spread,
    Tick,
    compare_stream,
    comparison_text,
    lanes_of,
)
from specviz.config import RunRequest
from specviz.errors import MethodError, PairError, PromptError, SettingError
from specviz.events import Event, Fate, Finished, Prefilled, TopToken, Verified
from specviz.turns import turns
from tests.checkpoints import save_checkpoint
from tests.trace.sample_runs import drafted, header, own, run, sized, step

STORY = "Write a story about a brave fox named Lila."


def request(method: str = "speculative", prompt: str = STORY, **options: Any) -> RunRequest:
    return RunRequest.of(method, prompt, **{"max_new_tokens": 12, **options})


def lanes(*methods: str, **options: Any) -> tuple[Lane, ...]:
    """Lanes that were not checked, for hand-made runs."""
    return tuple(Lane(i, m, request(m, **options)) for i, m in enumerate(methods))


def ticks(lane: int, repeat: int, events: Sequence[Event]) -> list[Tick]:
    return [Tick(lane, repeat, event) for event in events]


def plain_steps(count: int, seconds: float = 0.05) -> list[Verified]:
    """Target-only steps of ids 0, 1, 2, … with one time each."""
    timed = {"draft_s": 0.0, "verify_s": seconds, "other_s": 0.0}
    return [
        replace(step(0, "", **timed), index=i, target_token=own(i, Fate.BONUS))
        for i in range(count)
    ]


# Figures, from runs written by hand


@pytest.mark.parametrize(("accepted", "speedup", "word"), [(5, 3.0, "faster"), (0, 0.5, "slower")])
def test_speed_is_that_of_the_clock_and_named(accepted: int, speedup: float, word: str) -> None:
    # U37: five drafts of 10 ms, a check of 50 ms, plain steps of 50 ms.
    timed = {"draft_s": 0.05, "verify_s": 0.05, "other_s": 0.0, "num_draft_forwards": 5}
    ours = run([sized(i, 5, accepted, **timed) for i in range(4)])
    found = Comparison.of(
        lanes("plain", "speculative"),
        [*ticks(0, 0, run(plain_steps(6))), *ticks(1, 0, ours)],
    )
    row = found.row("speculative")
    assert row.speedup.median == pytest.approx(speedup)
    assert row.tokens_per_second.median == pytest.approx((accepted + 1) / 0.1)
    assert f"{speedup:.2f}× plain decoding: {word}." in row.sentence
    shares = [row.trace.metrics[f"{part}_share"] for part in ("draft", "verify", "other")]
    assert shares == pytest.approx([0.5, 0.5, 0.0])
    assert word in comparison_text(found)


def test_the_median_round_is_shown_with_its_own_plain_run() -> None:
    # Plain needs 10, 40 and 20 ms per token, the method always 10: speed-ups 1, 4 and 2.
    found = []
    for repeat, seconds in enumerate((0.01, 0.04, 0.02)):
        found += ticks(0, repeat, run(plain_steps(4, seconds)))
        found += ticks(1, repeat, run(plain_steps(4, 0.01)))
    result = Comparison.of(lanes("plain", "prompt_lookup"), found)
    row = result.row("prompt_lookup")
    assert row.speedup == Spread(
        median=pytest.approx(2), low=pytest.approx(1), high=pytest.approx(4)
    )
    assert row.trace.baseline is not None
    assert row.trace.baseline["seconds_per_token"] == pytest.approx(0.02)
    assert row.trace.metrics["measured_speedup"] == row.speedup.median
    assert result.repeats == 3 and row.same_ids is True
    assert "2.00" in comparison_text(result) and "1.00–4.00" in comparison_text(result)


def test_a_difference_is_named_with_its_place_and_gap() -> None:
    # U07: the ids differ at index 7, where the two best logits are 0.003 apart.
    best = 0.5
    tops = (TopToken(7, best), TopToken(99, best * 2.718281828459045**-0.003))
    steps = plain_steps(9)
    steps[7] = replace(steps[7], target_token=own(7, Fate.BONUS, target_top=tops))
    other = list(steps)
    other[7] = replace(steps[7], target_token=own(99, Fate.BONUS))
    found = Comparison.of(
        lanes("plain", "speculative", "prompt_lookup"),
        [*ticks(0, 0, run(steps)), *ticks(1, 0, run(other)), *ticks(2, 0, run(steps))],
    )
    text = comparison_text(found)
    lines = {line.split()[0]: line for line in text.splitlines() if line}
    assert found.row("speculative").verdict == "first difference at token 7 (gap 0.003)"
    assert "identical" not in lines["speculative"]
    assert found.row("prompt_lookup").verdict == "identical"
    document = found.to_dict()
    assert [row["identical"] for row in document["methods"]] == [True, False, True]
    assert document["methods"][1]["first_difference"] == 7
    assert document["methods"][1]["gap"] == pytest.approx(0.003)


def test_tokens_per_second_count_ids_not_text() -> None:
    # U38: four ids of no text at all are four tokens in 0.2 s.
    silent = [
        replace(s, target_token=own(i, Fate.BONUS, text="")) for i, s in enumerate(plain_steps(4))
    ]
    found = Comparison.of(lanes("plain"), ticks(0, 0, run(silent)))
    assert found.rows[0].tokens_per_second.median == pytest.approx(20)


def test_memory_is_that_of_the_header_and_the_steps() -> None:
    from specviz.events import Memory

    held = Memory(target_cache_bytes=3_000_000, draft_cache_bytes=1_000_000, logits_bytes=500_000)
    steps = [replace(s, memory=held) for s in plain_steps(2)]
    models = {"target": {"bytes": 8_000_000}, "draft": {"bytes": 2_000_000}}
    events = run(steps)
    events[0] = replace(events[0], header=header(models=models))  # type: ignore[type-var]
    line = comparison_text(Comparison.of(lanes("plain"), ticks(0, 0, events))).split("\n\n")[2]
    assert line.splitlines()[1].split() == [
        "plain", "2", "2", "0", "10.00", "4.00", "14.50", "length",
    ]  # fmt: skip


def test_sampled_runs_that_differ_are_no_fault() -> None:
    other = [replace(s, target_token=own(50 + i, Fate.BONUS)) for i, s in enumerate(plain_steps(4))]
    found = Comparison.of(
        lanes("plain", "speculative", temperature=1.0),
        [*ticks(0, 0, run(plain_steps(4))), *ticks(1, 0, run(other))],
    )
    assert found.row("speculative").same_ids is None
    assert "sampled: may differ" in comparison_text(found)
    assert "first difference" not in comparison_text(found)


def test_runs_that_were_broken_off_do_not_count() -> None:
    whole, part = run(plain_steps(4)), run(plain_steps(2), finish_reason="cancelled")
    found = Comparison.of(
        lanes("plain", "speculative"),
        [*ticks(0, 0, whole), *ticks(1, 0, part), *ticks(0, 1, whole[:3])],
    )
    assert [row.lane.label for row in found.rows] == ["plain"] and found.repeats == 1
    empty = Comparison.of(lanes("plain"), [])
    assert empty.rows == () and empty.plain is None
    json.dumps(empty.to_dict(), allow_nan=False)
    assert comparison_text(empty).startswith("Prompt: ")
    with pytest.raises(KeyError):
        found.row("speculative")


def test_a_refusal_found_late_takes_the_row_away() -> None:
    whole = run(plain_steps(4))
    found = Comparison.of(
        lanes("plain", "speculative"),
        [*ticks(0, 0, whole), *ticks(1, 0, whole), Tick(1, 1, Refused("it does not fit"))],
    )
    assert found.refused == {"speculative": "it does not fit"}
    assert [row.lane.label for row in found.rows] == ["plain"]
    assert "Not run:\n  speculative: it does not fit" in comparison_text(found)


def test_judged_tokens_of_the_drafter_reach_the_table() -> None:
    tokens = (drafted(0, Fate.ACCEPTED), drafted(9, Fate.REJECTED))
    first = replace(sized(0, 2, 1), proposed=tokens, target_token=own(1, Fate.RESIDUAL))
    found = Comparison.of(
        lanes("plain", "speculative"),
        [*ticks(0, 0, run(plain_steps(2))), *ticks(1, 0, run([first]))],
    )
    assert "50 %" in comparison_text(found) and "2.00" in comparison_text(found)


# Lanes


def test_plain_comes_first_and_once() -> None:
    found = lanes_of([request("prompt_lookup"), request("plain"), request("speculative")])
    assert [lane.label for lane in found] == ["plain", "prompt_lookup", "speculative"]
    assert all(lane.refusal is None for lane in found)
    assert [lane.label for lane in lanes_of([request("plain")] * 2)] == ["plain", "plain (2)"]


def test_plain_is_made_from_what_was_asked_without_its_draft() -> None:
    plain = lanes_of([request(draft="assistant", temperature=0.5)])[0].request
    assert plain.method == "plain" and plain.draft is None and plain.config.temperature == 0.5


def test_a_method_of_another_target_says_which() -> None:
    refusal = lanes_of([request("mtp_drafter")])[1].refusal
    assert refusal is not None
    assert refusal.startswith("'mtp_drafter' cannot run on 'target-glm'")
    assert "runs on target-gemma: --target target-gemma" in refusal


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"prompt": "Another."}, "need the same prompt"),
        ({"target": "target-gemma"}, "need the same target"),
        ({"max_new_tokens": 13}, "need the same max_new_tokens"),
        ({"temperature": 1.0}, "need the same temperature"),
    ],
)
def test_lanes_that_cannot_be_compared_are_refused(others: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        lanes_of([request(), request("prompt_lookup", **others)])
    assert len(lanes_of([request(gamma=3), request(gamma=7)])) == 3


def test_what_no_lane_can_cure_is_refused() -> None:
    with pytest.raises(SettingError, match="at least one method"):
        lanes_of([])
    with pytest.raises(MethodError, match="there is no method 'nope'"):
        lanes_of([request(), request("nope")])
    with pytest.raises(PromptError, match="more than spaces"):
        lanes_of([request(prompt=" ")])
    with pytest.raises(SettingError, match="repeats must be a whole number from 1"):
        next(compare_stream(lanes_of([request()]), repeats=0))


# The race, with embedded models


def test_every_lane_runs_in_every_round_interleaved() -> None:
    race = list(compare_stream(lanes_of([request(), request("prompt_lookup")]), repeats=2))
    starts = [(t.lane, t.repeat) for t in race if isinstance(t.event, Prefilled)]
    assert starts == [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (0, 1)]
    ends = [t for t in race if isinstance(t.event, Finished)]
    assert len(ends) == 6 and turns._running == {}


def test_comparison_has_the_ids_of_single_runs_and_all_are_identical() -> None:
    found = specviz.compare(
        ["speculative", "early_exit", "mtp_drafter"], STORY, repeats=2, max_new_tokens=12
    )
    assert [row.lane.label for row in found.rows] == ["plain", "speculative", "early_exit"]
    alone = runs.run(request()).output_ids
    assert all(row.trace.output_ids == alone for row in found.rows)
    assert all(row.verdict == "identical" and row.same_ids for row in found.rows)
    assert list(found.refused) == ["mtp_drafter"]
    document = found.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["target"] == "target-glm" and document["repeats"] == 2


def test_a_lane_does_not_depend_on_its_place() -> None:
    # U10: each run draws from its own seed.
    one = _ids_by_round(["prompt_lookup", "speculative"])
    two = _ids_by_round(["speculative", "prompt_lookup"])
    assert one == two and len(one) == 6


def _ids_by_round(methods: list[str]) -> dict[tuple[str, int], tuple[int, ...]]:
    asked = lanes_of([request(method, temperature=1.0, seed=3) for method in methods])
    race = compare_stream(asked, repeats=2)
    return {
        (asked[t.lane].label, t.repeat): t.event.ids for t in race if isinstance(t.event, Finished)
    }


def test_a_slow_first_call_changes_no_speed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # U38: a method beside itself, its first call far slower than all others.
    monkeypatch.setattr(live, "_warm", set())
    real, calls = live.decode, []

    def slow_first(*arguments: Any, **options: Any) -> Any:
        if not calls:
            threading.Event().wait(1.0)
        calls.append(1)
        return real(*arguments, **options)

    monkeypatch.setattr(live, "decode", slow_first)
    found = specviz.compare(["plain", "plain"], STORY, max_new_tokens=24, repeats=5)
    assert len(calls) == 11  # warm-up once, then twice five runs
    assert 0.7 < found.row("plain (2)").speedup.median < 1.4


def test_loading_is_shown_apart_and_in_no_speed(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # U25: a loader that takes its time.
    real = loading._load_module
    monkeypatch.setattr(loading, "_load_module", lambda *a: time.sleep(1.0) or real(*a))
    options = {"target": str(save_checkpoint(tmp_path)), "max_new_tokens": 12}
    found = specviz.compare(["prompt_lookup"], "the cat sat on the mat", repeats=2, **options)
    for row in found.to_dict()["methods"]:
        assert row["load_s"] >= 1.0 and row["decode_s"] + row["prefill_s"] < 0.9
        assert row["tokens_per_second"]["low"] > 12


def test_stop_ends_the_race_within_the_run() -> None:
    stop, seen = threading.Event(), []
    for tick in compare_stream(lanes_of([request()]), stop=stop):
        seen.append(tick)
        if tick.lane == 1 and isinstance(tick.event, Verified):
            stop.set()
    last = seen[-1].event
    assert isinstance(last, Finished) and last.finish_reason == "cancelled"
    assert {tick.repeat for tick in seen} == {0}


def test_closing_the_race_frees_the_models() -> None:
    race = compare_stream(lanes_of([request()]))
    next(race)
    assert turns._running != {}
    race.close()  # type: ignore[attr-defined]
    assert turns._running == {} and turns._waiting == {}


def test_a_lane_that_fails_while_it_loads_is_refused_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = live.prepare

    def prepare(plan: Any, status: Any) -> Any:
        if plan.card.key == "speculative":
            raise PairError("the tokenizers differ")
        return real(plan, status)

    monkeypatch.setattr(live, "prepare", prepare)
    race = list(compare_stream(lanes_of([request(), request("prompt_lookup")]), repeats=2))
    refusals = [tick for tick in race if isinstance(tick.event, Refused)]
    assert [(t.lane, t.repeat) for t in refusals] == [(1, 0)]
    assert sum(isinstance(tick.event, Finished) for tick in race) == 4
    with pytest.raises(MethodError, match="none of the methods can run: the tokenizers differ"):
        specviz.compare(["speculative"], STORY, repeats=1, max_new_tokens=4)


# The command line

COMPARE = ["compare", "prompt_lookup", "mtp_drafter", "--max-new-tokens", "8", "--repeats", "1"]


def test_compare_prints_tables_sentences_and_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMPARE, "--prompt", STORY]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "output beside plain" in out and "identical" in out
    assert "Not run:\n  mtp_drafter: " in out and "plain decoding: " in out
    assert max(len(line) for line in out.split("\n\n")[1].splitlines()) <= 110


def test_compare_prints_json_and_writes_traces(tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "race.json"
    assert main([*COMPARE, "--prompt", STORY, "--json", "--trace", str(path)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["label"] for row in document["methods"]] == ["plain", "prompt_lookup"]
    saved = specviz.Trace.load(tmp_path / "race-prompt_lookup.json")
    assert list(saved.output_ids) == document["methods"][1]["ids"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["compare", "--prompt", "x"], "required: METHOD"),
        (["compare", "nope", "--prompt", "x"], "there is no method 'nope'"),
        (["compare", "speculative"], "exactly one prompt"),
        (["compare", "speculative", "--prompt", "x", "--repeats", "0"], "repeats must be"),
        (["compare", "speculative", "--prompt", "x", "--repeats", "x"], "repeats must be"),
        (["compare", "mtp_drafter", "--prompt", "x", "--repeats", "1"], "none of the methods"),
        (["compare", "plain", "--prompt", "x", "--trace", "/not/there/x.json"], "written"),
    ],
)
def test_misuse_is_one_sentence(
    command: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and words in err
