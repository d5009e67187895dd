from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from misfeat.selection.telling import told_share

TABLES = arrays(
    np.int64,
    st.tuples(st.integers(1, 6), st.integers(1, 4)),
    elements=st.integers(0, 200),
)


@given(TABLES)
def test_shares_lie_between_nothing_and_all(table):
    share, sure = told_share(table)
    assert 0 <= sure <= share <= 1


@given(TABLES, st.randoms(use_true_random=False))
def test_names_of_values_and_classes_do_not_matter(table, chance):
    rows, columns = (chance.sample(range(n), n) for n in table.shape)
    assert told_share(table[rows][:, columns]) == pytest.approx(told_share(table))


@given(st.integers(2, 5), st.integers(2, 4), st.integers(1, 30))
def test_a_value_that_has_nothing_to_do_with_classes_tells_nothing(values, classes, rows):
    assert told_share(np.full((values, classes), rows)).share == pytest.approx(0, abs=1e-12)


@given(st.integers(2, 6), st.integers(1, 300))
def test_more_rows_of_a_copy_make_it_surer(classes, rows):
    copy = np.eye(classes, dtype=int)
    assert told_share(copy * (rows + 1)).sure >= told_share(copy * rows).sure


@pytest.mark.parametrize("cases", [50, 100, 1000])
def test_a_copy_with_errors_tells_as_much_however_rare_the_cases_are(cases):
    others = 50 * cases
    table = [[0.98 * others, 0.02 * cases], [0.02 * others, 0.98 * cases]]
    assert told_share(table).share == pytest.approx(0.86, abs=0.06)
