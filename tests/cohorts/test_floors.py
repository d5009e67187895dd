from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cohorts.floors import rows_to_tell
from misfeat.information.chance import above_chance

VALUES = st.lists(st.integers(2, 9), min_size=1, max_size=8)


@given(VALUES, st.integers(2, 500))
def test_rarer_cases_need_more_rows(values, cases):
    assert rows_to_tell(values, [1000, cases]) >= rows_to_tell(values, [1000, cases + 1])


@given(st.integers(2, 9), st.lists(st.integers(1, 500), min_size=2, max_size=6))
def test_more_values_need_more_rows(values, by_class):
    assert rows_to_tell([values + 1] * 3, by_class) >= rows_to_tell([values] * 3, by_class)


@pytest.mark.parametrize(("values", "by_class"), [([], [5, 5]), ([3, 3], [9]), ([3, 3], [9, 0])])
def test_where_there_is_nothing_to_tell_one_row_is_enough(values, by_class):
    assert rows_to_tell(values, by_class) == 1


@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize("values", [2, 3])
def test_chance_seldom_tells_a_fifth_of_the_target_in_so_many_rows(values, share):
    rng = np.random.default_rng(values)
    n_rows = rows_to_tell([values] * 4, [1000 * share, 1000 * (1 - share)])
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    scores = []
    for _ in range(300):
        table = np.zeros((values**2, 2), dtype=int)
        cells, classes = rng.integers(0, values**2, n_rows), rng.random(n_rows) < share
        np.add.at(table, (cells, classes.astype(int)), 1)
        scores.append(above_chance(table))
    assert np.mean(np.array(scores) >= 0.2 * entropy) <= 0.1
