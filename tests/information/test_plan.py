from __future__ import annotations

import numpy as np
import pytest

from misfeat.information.plan import cube_plan, lanes_of, largest_dense_size
from misfeat.information.prepared import prepare_rows
from misfeat.lattice import level
from tests.information.generated import random_cohort


@pytest.mark.parametrize(
    ("n", "low", "high"), [(9, 1, 3), (9, 3, 3), (9, 2, 5), (5, 1, 5), (4, 4, 4)]
)
@pytest.mark.parametrize("surplus", [0, 1, 2])
def test_a_plan_serves_every_subset_once(n, low, high, surplus):
    plan = cube_plan(n, low, high, min(high + surplus, n))
    served = np.sort(plan.outputs[plan.outputs >= 0])
    total = sum(len(level(n, m)) for m in range(low, high + 1))
    assert np.array_equal(served, np.arange(total))


def test_few_cells_are_counted_and_many_are_searched():
    assert largest_dense_size(prepare_rows(random_cohort(8, 5000, 3)), 1, 8) >= 6
    assert largest_dense_size(prepare_rows(random_cohort(8, 300, 40)), 1, 8) <= 2


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("total", [10, 2**16, 2**32])
def test_a_lane_holds_every_count_and_a_cell_every_class(n_classes, total):
    lanes, lane_type, word_type = lanes_of(n_classes, total)
    assert lanes >= n_classes
    assert np.iinfo(lane_type).max >= total
    assert lanes * np.dtype(lane_type).itemsize % np.dtype(word_type).itemsize == 0
