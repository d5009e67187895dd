from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.reading.coders import (
    LARGEST_KEY,
    code_dtype,
    collapse,
    pack_keys,
    split_into_keys,
    unpack_keys,
)


@st.composite
def coded_tables(draw):
    bases = draw(st.lists(st.integers(1, 40), min_size=1, max_size=30))
    n_rows = draw(st.integers(1, 30))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(base, size=n_rows) for base in bases])
    return bases, codes, rng.integers(1, 100, size=n_rows)


@given(coded_tables())
def test_packing_and_unpacking_give_the_sorted_rows_back(table):
    bases, codes, weights = table
    rows = unpack_keys(pack_keys(codes, bases), weights, bases)
    order = np.lexsort(codes[::-1])
    assert np.array_equal(rows.codes, codes[:, order])
    assert np.array_equal(rows.weights, weights[order])


@given(coded_tables())
def test_collapsing_merges_equal_rows_and_keeps_the_total(table):
    bases, codes, weights = table
    rows = collapse(codes, weights, bases)
    distinct, position = np.unique(codes, axis=1, return_inverse=True)
    assert np.array_equal(rows.codes, distinct)
    assert np.array_equal(rows.weights, np.bincount(position.ravel(), weights=weights))


def test_collapsing_no_rows_gives_no_rows():
    rows = collapse(np.empty((2, 0), dtype=np.int8), np.empty(0, dtype=np.int64), [3, 3])
    assert rows.codes.shape == (2, 0)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=60))
def test_no_key_can_overflow(bases):
    runs = split_into_keys(bases)
    assert [p for run in runs for p in range(run.start, run.stop)] == list(range(len(bases)))
    for run in runs:
        assert np.prod([float(base) for base in bases[run]]) <= LARGEST_KEY


@pytest.mark.parametrize(("largest", "dtype"), [(5, np.int8), (128, np.int16), (40_000, np.int32)])
def test_codes_take_the_smallest_type_that_holds_them(largest, dtype):
    assert code_dtype([2, largest]) is dtype
