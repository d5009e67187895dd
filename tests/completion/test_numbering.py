from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from misfeat.completion.numbering import numbered, numbered_together


@given(st.lists(st.sampled_from([0, 1, 5, 900, 10**6])))
def test_numbers_are_those_of_sorted_distinct_values(values):
    codes = np.array(values, dtype=np.int64)
    distinct, expected = np.unique(codes, return_inverse=True)
    numbers, count = numbered(codes)
    assert count == len(distinct)
    assert np.array_equal(numbers, expected.reshape(-1))


@given(st.integers(0, 50), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_combinations_are_numbered_in_their_order(n_rows, n_lines, seed):
    lines = np.random.default_rng(seed).integers(4, size=(n_lines, n_rows))
    distinct, expected = np.unique(lines, axis=1, return_inverse=True)
    numbers, count = numbered_together(lines, n_rows)
    assert count == distinct.shape[1]
    assert np.array_equal(numbers, expected.reshape(-1))


def test_without_a_line_all_rows_are_alike():
    numbers, count = numbered_together([], 3)
    assert (numbers.tolist(), count) == ([0, 0, 0], 1)
