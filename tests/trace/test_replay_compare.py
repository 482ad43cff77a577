"""Replaying a run, and comparing it with plain decoding."""

from dataclasses import replace
from math import exp

import pytest

from specviz.events import Drafted, Event, Fate, Finished, Prefilled, TopToken, Verified
from specviz.trace import Trace, baseline_of, check, first_difference, paced, verdict_text
from tests.trace.sample_runs import own, run, sized, step


def test_replay_yields_the_stream_of_the_run() -> None:
    steps = [sized(0, 3, 2), step(1, "")]
    kinds = [type(event) for event in Trace.from_events(run(steps)).events()]
    assert kinds == [Prefilled, Drafted, Verified, Drafted, Verified, Finished]


def test_drafted_tokens_of_a_replay_know_no_verdict() -> None:
    judged = replace(
        sized(0, 1, 1).proposed[0], draft_prob=0.9, target_prob=0.6, accept_prob=0.7, draw=0.1
    )
    events = Trace.from_events(run([replace(step(0, "a"), proposed=(judged,))])).events()
    drafted = next(event for event in events if isinstance(event, Drafted))
    (token,) = drafted.proposed
    assert (token.fate, token.target_prob, token.accept_prob, token.draw) == (None,) * 4
    assert (token.id, token.text, token.draft_prob) == (judged.id, judged.text, 0.9)


def test_pacing_follows_the_times_of_the_run() -> None:
    times = {"draft_s": 0.2, "verify_s": 0.4, "other_s": 0.2}
    trace = Trace.from_events(run([sized(0, 3, 2, **times)]))
    waits: list[float] = []
    events = list(paced(trace.events(), speed=2.0, sleep=waits.append))
    assert events == list(trace.events())
    assert waits == pytest.approx([0.05, 0.1, 0.3])  # prompt 0.1 s, draft, verify and the rest


def test_pacing_never_waits_for_ever() -> None:
    waits: list[float] = []
    list(paced([Prefilled(1, 1e9)], sleep=waits.append))
    assert waits == [10.0]


@pytest.mark.parametrize("speed", [0, -1, float("nan")])
def test_pacing_refuses_an_impossible_speed(speed: float) -> None:
    with pytest.raises(ValueError, match="speed"):
        paced([], speed=speed)


@pytest.mark.parametrize(
    ("a", "b", "place"),
    [
        ([], [], None),
        ([1, 2, 3], [1, 2, 3], None),
        ([1, 2, 3], [1, 9, 3], 1),
        ([1, 2], [1, 2, 3], 2),
        ([1, 2, 3], [], 0),
    ],
)
def test_first_difference(a: list[int], b: list[int], place: int | None) -> None:
    assert first_difference(a, b) == place
    assert first_difference(b, a) == place


def plain_run(num: int, gap: float, *, second: bool = True) -> list[Event]:
    """A plain run whose two best logits are ``gap`` apart at every token; ids 0, 1, 2, …"""
    best = exp(gap) / (1 + exp(gap))
    tops = (TopToken(0, best), TopToken(1, 1 - best))[: 1 + second]
    return run(
        [replace(step(i, ""), target_token=own(i, Fate.BONUS, target_top=tops)) for i in range(num)]
    )


def test_difference_in_half_precision_is_named_with_its_gap() -> None:
    """U07: ids differ at index 7, where the two best logits are 0.003 apart."""
    other = [0, 1, 2, 3, 4, 5, 6, 99, 8, 9]
    baseline = baseline_of(plain_run(10, 0.003), other)
    assert baseline["first_difference"] == 7
    assert baseline["gap"] == pytest.approx(0.003)
    assert baseline["identical"] is False
    verdict = verdict_text(baseline, sampled=False)
    assert verdict == "first difference at token 7 (gap 0.003)"
    assert "identical" not in verdict


def test_equal_ids_are_identical() -> None:
    baseline = baseline_of(plain_run(3, 1.0), [0, 1, 2])
    assert (baseline["identical"], baseline["gap"]) == (True, None)
    assert verdict_text(baseline, sampled=False) == "identical"


def test_sampled_runs_are_not_called_different() -> None:
    """U10: no promise across methods under one seed, so a difference is no fault."""
    for ids in ([0, 1, 2], [5, 6, 7]):
        verdict = verdict_text(baseline_of(plain_run(3, 1.0), ids), sampled=True)
        assert "difference at" not in verdict
        assert "no fault" in verdict


@pytest.mark.parametrize("ids", [[0, 1, 2, 3], [0]])
def test_gap_is_unknown_where_the_probabilities_are(ids: list[int]) -> None:
    """Behind the plain run's end there is no choice; with one token there is no second best."""
    baseline = baseline_of(plain_run(3, 1.0, second=False), ids)
    assert baseline["gap"] is None
    assert "gap unknown" in verdict_text(baseline, sampled=False)


def test_gap_is_unknown_where_the_second_best_is_impossible() -> None:
    tops = (TopToken(0, 1.0), TopToken(1, 0.0))
    plain = run([replace(step(0, ""), target_token=own(0, Fate.BONUS, target_top=tops))])
    assert baseline_of(plain, [5])["gap"] is None


def test_baseline_holds_the_yardstick() -> None:
    plain = run([step(i, "", draft_s=0.0, verify_s=0.04, other_s=0.01) for i in range(4)])
    baseline = baseline_of(plain, [1])
    assert baseline["decode_s"] == pytest.approx(0.2)
    assert baseline["seconds_per_token"] == pytest.approx(0.05)
    assert baseline["step_s"] == pytest.approx(0.05)
    assert baseline["verify_s"] == pytest.approx(0.04)


def test_trace_with_a_baseline_reports_the_speedup() -> None:
    """U37: six tokens per 100 ms against 50 ms per token: 3.00×."""
    times = {"draft_s": 0.05, "verify_s": 0.05, "other_s": 0.0, "num_draft_forwards": 5}
    events = run([sized(0, 5, 5, **times)])
    plain = run([step(i, "", draft_s=0.0, verify_s=0.05, other_s=0.0) for i in range(6)])
    trace = Trace.from_events(events, baseline_of(plain, [0, 1, 2, 3, 4, 5]))
    check(trace)
    assert trace.metrics["measured_speedup"] == pytest.approx(3.0)
    assert trace.metrics["speed_verdict"] == "faster"
