from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import MisfeatError
from misfeat.lattice.levels import contains, level, rank, ranks_above, ranks_below, unrank


@st.composite
def levels(draw, smallest=0):
    n = draw(st.integers(1, 9))
    return n, draw(st.integers(smallest, n))


@given(n=st.integers(0, 9), size=st.integers(0, 10))
def test_a_level_holds_every_subset_once_in_the_order_of_ranks(n, size):
    subsets = level(n, size)
    assert subsets.shape == (comb(n, size), size)
    assert {tuple(row) for row in subsets.tolist()} == set(combinations(range(n), size))
    assert np.array_equal(rank(subsets), np.arange(len(subsets)))


@given(n=st.integers(1, 500), size=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_ranks_and_subsets_are_each_others_inverse_for_hundreds_of_features(n, size, seed):
    ranks = np.random.default_rng(seed).integers(max(comb(n, size), 1), size=20)
    subsets = unrank(ranks, size)
    assert np.array_equal(rank(subsets), ranks)
    assert (np.diff(subsets, axis=1) > 0).all()


@given(levels())
def test_membership_is_that_of_sets(pair):
    n, size = pair
    for members, row in zip(level(n, size).tolist(), contains(level(n, size), n), strict=True):
        assert np.flatnonzero(row).tolist() == members


@given(levels(smallest=1))
def test_ranks_below_leave_each_member_out_in_turn(pair):
    n, size = pair
    smaller = level(n, size - 1).tolist()
    for members, ranks in zip(level(n, size).tolist(), ranks_below(level(n, size)), strict=True):
        left_out = [members[:j] + members[j + 1 :] for j in range(size)]
        assert [smaller[r] for r in ranks] == left_out


@given(levels())
def test_ranks_above_add_each_other_feature_in_turn(pair):
    n, size = pair
    larger = level(n, size + 1).tolist()
    for members, ranks in zip(level(n, size).tolist(), ranks_above(level(n, size), n), strict=True):
        added = [sorted([*members, f]) for f in range(n) if f not in members]
        assert [larger[r] for r in ranks] == added


def test_a_level_too_large_to_number_is_refused():
    with pytest.raises(MisfeatError, match="sets of 250 among 500 features"):
        level(500, 250)
