"""The ``metrics`` object of a trace."""

import json
from dataclasses import replace

import pytest

from specviz.events import Memory, Verified
from specviz.metrics import acceptance_series, baseline_tokens, summarise, token_series
from tests.trace.sample_runs import run, sized, step

NAMES = {
    "acceptance_rate",
    "draft_yield",
    "block_efficiency",
    "acceptance_by_position",
    "accepted_histogram",
    "mean_overlap",
    "cost_coefficient",
    "verify_cost",
    "measured_speedup",
    "expected_speedup",
    "draft_s",
    "verify_s",
    "other_s",
    "num_target_forwards",
    "num_draft_forwards",
}


def test_summary_has_every_name_of_the_metrics_table() -> None:
    assert set(summarise(run([sized(0, 3, 2)]))) >= NAMES
    assert set(summarise([])) >= NAMES


@pytest.mark.parametrize("steps", [[], [step(0, "")], [sized(0, 3, 2), step(1, "aad", cut="eos")]])
def test_summary_is_plain_json_without_nan(steps: list[Verified]) -> None:
    metrics = summarise(run(steps), {"seconds_per_token": 0.02})
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics


def test_summary_without_proposals_has_null_rates() -> None:
    metrics = summarise(run([step(0, ""), step(1, "")]))
    for name in ("acceptance_rate", "draft_yield", "mean_overlap", "expected_speedup"):
        assert metrics[name] is None
    assert metrics["block_efficiency"] == 1.0


def test_summary_reports_weights_and_peaks() -> None:
    low = replace(sized(0, 1, 1), memory=Memory(10, 20, 5))
    high = replace(sized(1, 1, 1), memory=Memory(30, 4, 1))
    metrics = summarise(run([low, high]))
    assert metrics["target_weights_bytes"] == 1000
    assert metrics["draft_weights_bytes"] == 100
    assert metrics["peak_target_cache_bytes"] == 30
    assert metrics["peak_draft_cache_bytes"] == 20
    assert metrics["peak_run_bytes"] == 35


def test_series_have_one_value_per_step() -> None:
    series = acceptance_series([sized(0, 2, 2), step(1, ""), sized(2, 2, 0)], window=2)
    assert series.per_step == (1.0, None, 0.0)
    assert series.rolling == (1.0, 1.0, 0.0)
    assert series.cumulative == pytest.approx((1.0, 1.0, 2 / 3))


def test_rolling_rate_forgets_old_steps() -> None:
    steps = [sized(i, 1, 1) for i in range(3)] + [sized(i, 1, 0) for i in range(3, 6)]
    assert acceptance_series(steps, window=3).rolling[-1] == 0.0
    assert acceptance_series(steps, window=3).cumulative[-1] == 0.5
    with pytest.raises(ValueError, match="window"):
        acceptance_series(steps, window=0)


def test_token_series_starts_at_nothing() -> None:
    times = {"draft_s": 0.25, "verify_s": 0.5, "other_s": 0.25}
    series = token_series([sized(0, 2, 2, **times), sized(1, 2, 0, **times)])
    assert series.elapsed_s == (0.0, 1.0, 2.0)
    assert series.num_tokens == (0, 3, 4)


def test_baseline_tokens_is_a_line() -> None:
    series = baseline_tokens({"decode_s": 2.0, "ids": [1, 2, 3]})
    assert (series.elapsed_s, series.num_tokens) == ((0.0, 2.0), (0, 3))
    assert baseline_tokens(None).num_tokens == ()
