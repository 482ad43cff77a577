"""Counts and rates against numbers worked out by hand or published."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.events import Fate, Verified
from specviz.metrics import count, is_lossy
from tests.trace.sample_runs import drafted, own, sized, step
from tests.trace.strategies import few


def test_count_drops_matches_behind_the_first_miss() -> None:
    """U33: target 10 11 12 13, draft 10 99 12 98: one draft is kept, not two."""
    proposed = (
        drafted(10, Fate.ACCEPTED),
        drafted(99, Fate.REJECTED),
        drafted(12, Fate.DISCARDED),
        drafted(98, Fate.DISCARDED),
    )
    counts = count([Verified(0, 4, proposed, own(11, Fate.RESIDUAL))])
    assert (counts.num_accepted, counts.num_rejected, counts.num_discarded) == (1, 1, 2)
    assert counts.draft_yield == pytest.approx(1 / 4)
    assert counts.num_tokens == 2
    assert counts.num_residual == 1


def test_rates_leave_the_bonus_out_and_tokens_per_step_takes_it_in() -> None:
    """U34: (proposed, accepted) = (3, 2), (3, 3), (3, 0)."""
    counts = count([sized(0, 3, 2), sized(1, 3, 3), sized(2, 3, 0)])
    assert counts.draft_yield == pytest.approx(5 / 9)
    assert counts.block_efficiency == pytest.approx(8 / 3)
    assert counts.acceptance_rate == pytest.approx(5 / 7)  # 2 + 3 + 0 of 3 + 3 + 1 judged
    assert (counts.num_residual, counts.num_bonus) == (2, 1)


def test_draft_yield_counts_only_what_was_sent() -> None:
    """U35: six drafted, four sent, two accepted."""
    counts = count([sized(0, 4, 2, num_unsent=2)])
    assert counts.draft_yield == pytest.approx(2 / 4)
    assert counts.num_unsent == 2


def test_count_agrees_with_a_published_sample() -> None:
    """167 accepted of 259 ids in 87 drafts: 0.645 and a mean length of 2.92."""
    sizes = [(3, 3)] * 42 + [(3, 2)] * 13 + [(3, 1)] * 15 + [(3, 0)] * 15 + [(2, 0)] * 2
    counts = count([sized(i, d, a) for i, (d, a) in enumerate(sizes)])
    assert (counts.num_steps, counts.num_proposed, counts.num_accepted) == (87, 259, 167)
    assert counts.draft_yield == pytest.approx(0.645, abs=5e-4)
    assert counts.block_efficiency == pytest.approx(2.92, abs=5e-3)


def test_rates_are_none_without_steps() -> None:
    counts = count([])
    assert counts.num_steps == 0
    assert counts.acceptance_rate is None
    assert counts.draft_yield is None
    assert counts.block_efficiency is None
    assert counts.mean_proposed is None
    assert counts.mean_overlap is None
    assert counts.accepted_histogram == ()


def test_plain_run_has_no_rate_and_one_token_per_step() -> None:
    counts = count([step(i, "") for i in range(5)])
    assert counts.acceptance_rate is None
    assert counts.draft_yield is None
    assert counts.block_efficiency == 1.0
    assert counts.num_target_only_steps == 5
    assert counts.num_bonus == 5
    assert counts.mean_proposed == 0.0
    assert counts.acceptance_by_position == ()


def test_cut_step_counts_for_rates_but_is_no_full_step() -> None:
    """Two full steps of 3 and 1 tokens, then 2 accepted and 2 cut off: 6 tokens in 3 steps."""
    counts = count([step(0, "aa"), step(1, "rd"), step(2, "aadd", cut="eos")])
    assert counts.block_efficiency == pytest.approx(2.0)
    assert counts.block_efficiency_full_steps == pytest.approx(2.0)
    assert (counts.num_full_steps, counts.num_steps) == (2, 3)
    assert counts.acceptance_rate == pytest.approx(4 / 5)
    assert counts.draft_yield == pytest.approx(4 / 8)
    assert counts.num_discarded == 3


def test_rate_by_position_has_its_count_and_its_conditional_rate() -> None:
    counts = count([sized(0, 3, 2), sized(1, 3, 3), sized(2, 3, 0), sized(3, 1, 1)])
    first, second, third = counts.acceptance_by_position
    assert (first.position, first.num_proposed, first.num_accepted) == (1, 4, 3)
    assert first.rate == pytest.approx(3 / 4)
    assert (second.num_proposed, second.num_judged, second.num_accepted) == (3, 2, 2)
    assert second.rate == pytest.approx(2 / 3)
    assert second.conditional_rate == pytest.approx(1.0)
    assert third.rate == pytest.approx(1 / 3)
    assert third.conditional_rate == pytest.approx(1 / 2)


def test_position_that_was_never_judged_has_no_conditional_rate() -> None:
    places = count([step(0, "rd")]).acceptance_by_position
    assert (places[1].rate, places[1].conditional_rate) == (0.0, None)


def test_histogram_counts_steps_by_accepted_tokens() -> None:
    steps = [sized(0, 3, 2), sized(1, 3, 3), sized(2, 3, 0), sized(3, 3, 2), step(4, "")]
    assert count(steps).accepted_histogram == (2, 0, 2, 1)


def test_gate_shows_in_proposals_per_step() -> None:
    """U12: full acceptance with one proposal per step is told apart by ``mean_proposed``."""
    assert count([sized(i, 1, 1) for i in range(4)]).mean_proposed == 1.0
    assert count([sized(i, 3, 3) for i in range(4)]).mean_proposed == 3.0


def test_mean_overlap_and_distance_of_the_two_token_case() -> None:
    """p = (0.6, 0.4), q = (0.9, 0.1): β = 0.6 + 0.1; mixture (0.75, 0.25) is 0.15 from p."""
    judged = replace(sized(0, 1, 1).proposed[0], overlap=0.7, total_variation=0.15)
    unknown = replace(judged, overlap=None, total_variation=None)
    unjudged = replace(judged, fate=Fate.DISCARDED, overlap=0.1, total_variation=0.9)
    counts = count(
        [
            replace(step(0, ""), proposed=(judged,)),
            replace(step(1, ""), proposed=(unknown,)),
            replace(step(2, "r"), proposed=(*step(2, "r").proposed, unjudged)),
        ]
    )
    assert counts.mean_overlap == pytest.approx(0.7)
    assert counts.mean_total_variation == pytest.approx(0.15)


def test_lossy_tokens_are_accepted_ones_unlike_the_targets_choice() -> None:
    """U32: counted only where the rule in force changes the distribution."""
    lossy = drafted(5, Fate.ACCEPTED, target_choice=6, total_variation=0.2)
    same = drafted(5, Fate.ACCEPTED, target_choice=5, total_variation=0.2)
    sampled = drafted(5, Fate.ACCEPTED, target_choice=6)
    refused = drafted(5, Fate.REJECTED, target_choice=6, total_variation=0.2)
    assert [is_lossy(t) for t in (lossy, same, sampled, refused)] == [True, False, False, False]
    steps = [Verified(0, 4, (lossy, same, sampled, refused), own(6, Fate.RESIDUAL))]
    assert count(steps).num_lossy_accepted == 1


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
@few(40)
def test_counts_add_up(sizes: list[tuple[int, int]]) -> None:
    steps = [sized(i, max(pair), min(pair)) for i, pair in enumerate(sizes)]
    counts = count(steps)
    assert counts.num_proposed == counts.num_judged + counts.num_discarded
    assert counts.num_tokens == counts.num_accepted + counts.num_residual + counts.num_bonus
    assert sum(counts.accepted_histogram) == counts.num_steps
    assert sum(p.num_accepted for p in counts.acceptance_by_position) == counts.num_accepted
    for rate in (counts.acceptance_rate, counts.draft_yield):
        assert rate is None or 0 <= rate <= 1
