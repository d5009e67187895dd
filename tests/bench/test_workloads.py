from __future__ import annotations

import numpy as np
import pytest

from misfeat.bench.workloads import FULL, GROUPS, QUICK, TARGET, Workload


@pytest.mark.parametrize("load", [*QUICK.values(), *FULL.values()])
def test_a_small_one_asks_the_same_of_less(load):
    small = load.small()
    assert (small.size, small.values, small.classes) == (load.size, load.values, load.classes)
    assert small.rows <= load.rows
    assert small.features <= load.features
    assert (small.groups is None) == (load.groups is None)


def test_a_table_has_the_shape_that_was_asked_for():
    table = Workload(300, 4, 3, 2, classes=3).table()
    assert list(table) == [GROUPS, "f1", "f2", "f3", "f4", TARGET]
    assert len(set(table[GROUPS])) == 3
    assert {len(column) for column in table.values()} == {300}


def test_one_subgroup_needs_no_column_for_it():
    load = Workload(100, 3, 1, 2, hide=0.0)
    assert GROUPS not in load.table()
    assert load.groups is None


def test_a_seed_says_which_rows():
    load = Workload(100, 3, 1, 2, hide=0.0, related=False)
    first, again, other = (load.table(seed)["f1"] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_sets_of_all_sizes_are_counted():
    assert Workload(100, 4, 1, 2).sets == 4 + 6
