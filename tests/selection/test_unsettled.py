from __future__ import annotations

import numpy as np
import pytest

from misfeat.selection.unsettled import Unsettled

# a and b are recorded together nowhere; c everywhere.
MISSING = np.array([[True, False, False], [False, True, False], [True, True, False]])


def pairs(rows=(100, 300, 900)):
    return Unsettled(MISSING, rows, ["x", "y", "z"], "abc")


def test_a_pair_recorded_together_somewhere_is_settled():
    assert pairs().in_set([0, 2]) == ((), "")
    assert pairs().in_set([2]) == ((), "")


@pytest.mark.parametrize(("rows", "where"), [((100, 300, 900), "y"), ((300, 100, 900), "x")])
def test_who_recorded_one_of_them_settles_most_and_more_so_with_more_rows(rows, where):
    assert pairs(rows).in_set([0, 1, 2]) == (("a", "b"), where)


def test_who_recorded_neither_can_settle_it_where_nobody_recorded_one():
    nobody = Unsettled(np.ones((2, 2), dtype=bool), [10, 20], ["x", "y"], "ab")
    assert nobody.in_set([0, 1]) == (("a", "b"), "y")
