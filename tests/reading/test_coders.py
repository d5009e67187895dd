import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from misfeat.reading.coders import LARGEST_KEY, collapse, pack_keys, split_into_keys, unpack_keys


@st.composite
def coded_tables(draw):
    bases = draw(st.lists(st.integers(1, 40), min_size=1, max_size=30))
    n_rows = draw(st.integers(1, 30))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(base, size=n_rows) for base in bases])
    return bases, codes, rng.integers(1, 100, size=n_rows)


@given(coded_tables())
def test_packing_and_unpacking_give_the_sorted_rows_back(coded):
    bases, codes, weights = coded
    rows = unpack_keys(pack_keys(codes, bases), weights, bases)
    order = np.lexsort(codes[::-1])
    assert np.array_equal(rows.codes, codes[:, order])
    assert np.array_equal(rows.weights, weights[order])


@given(coded_tables())
def test_collapsing_merges_equal_rows_and_keeps_the_total(coded):
    bases, codes, weights = coded
    rows = collapse(codes, weights, bases)
    distinct, position = np.unique(codes, axis=1, return_inverse=True)
    assert np.array_equal(rows.codes, distinct)
    assert np.array_equal(rows.weights, np.bincount(position.ravel(), weights=weights))


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=60))
def test_no_key_can_overflow(bases):
    runs = split_into_keys(bases)
    assert [p for run in runs for p in range(run.start, run.stop)] == list(range(len(bases)))
    for run in runs:
        assert np.prod([float(base) for base in bases[run]]) <= LARGEST_KEY
