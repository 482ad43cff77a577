"""Replayed rounds count what a decoder would count; figures worked out by hand."""

import torch

from specviz.zoo.acceptance import from_choices, from_depths, from_lookup, overlap, walk

IDS = [5, 6, 7, 8, 9, 6, 7, 8, 4]


def test_perfect_drafts_give_gamma_plus_one_tokens_a_round():
    tally = walk(lambda at, depth: True, first=0, last=10, gamma=4)
    assert (tally.rounds, tally.emitted, tally.tested, tally.accepted) == (2, 10, 8, 8)
    assert tally.block_efficiency == 5.0


def test_wrong_drafts_give_one_token_a_round():
    tally = walk(lambda at, depth: False, first=2, last=6, gamma=4)
    assert (tally.rounds, tally.tested, tally.accepted) == (4, 3, 0)


def test_model_drafts_compare_with_the_next_token():
    choices = torch.tensor([6, 7, 0, 9, 6, 7, 8, 4, 0])
    check = from_choices(choices, IDS)
    assert [check(0, depth) for depth in range(4)] == [True, True, False, True]


def test_depth_drafts_read_their_own_row():
    check = from_depths([torch.tensor([7, 0]), torch.tensor([8, 0])], IDS, offset=1)
    assert check(1, 0) and check(1, 1)
    assert check(1, 2) is None and check(0, 0) is None


def test_lookup_copies_from_the_first_match():
    check = from_lookup(IDS)
    assert check(5, 0) is True  # after "9 6" the only match is the 6 at index 1
    assert check(5, 1) is True
    assert check(5, 2) is False  # the copy says 9, the text says 4
    assert check(4, 0) is None


def test_overlap_is_one_for_equal_and_small_for_different():
    logits = torch.tensor([[0.0, 0.0], [9.0, -9.0]])
    assert torch.allclose(overlap(logits, logits), torch.ones(2))
    assert overlap(logits[1:], -logits[1:]).item() < 1e-6
