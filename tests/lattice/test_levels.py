from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from misfeat.lattice import level, rank


@given(n=st.integers(0, 9), size=st.integers(0, 9))
def test_a_level_holds_every_subset_once_in_the_order_of_ranks(n, size):
    subsets = level(n, size)
    assert subsets.shape == (comb(n, size), size)
    assert {tuple(row) for row in subsets.tolist()} == set(combinations(range(n), size))
    assert np.array_equal(rank(subsets), np.arange(len(subsets)))


def test_ranks_do_not_depend_on_the_number_of_features():
    assert np.array_equal(level(8, 3)[: comb(5, 3)], level(5, 3))
