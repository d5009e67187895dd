from __future__ import annotations

import numpy as np
import pytest
from misfeat.show.seriation import side_by_side


def test_rows_of_a_gradient_are_put_back_in_order():
    rng = np.random.default_rng(0)
    steps = np.linspace(1, 0, 12)[:, None] * np.ones((12, 5))
    shuffled = rng.permutation(12)
    assert shuffled[side_by_side(steps[shuffled])].tolist() == list(range(12))


def test_groups_stay_together():
    rng = np.random.default_rng(1)
    kinds = rng.permutation(np.repeat([0, 1, 2], 6))
    values = np.eye(3)[kinds] + rng.normal(0, 0.05, (18, 3))
    ordered = kinds[side_by_side(values)]
    assert np.count_nonzero(np.diff(ordered)) == 2


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_every_row_stands_once_even_where_all_are_alike(count):
    assert sorted(side_by_side(np.zeros((count, 4)))) == list(range(count))


def test_of_two_rows_the_greater_is_first():
    assert side_by_side(np.array([[0.1], [0.2]])).tolist() == [1, 0]


@pytest.mark.filterwarnings("error")
def test_a_table_that_looks_like_distances_is_no_matter():
    assert sorted(side_by_side(np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]]) / 4)) == [0, 1, 2]
