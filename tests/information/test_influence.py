from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cohorts import Coding, build_cohorts
from misfeat.information import influence as module
from misfeat.information.influence import influence


def rows_of(table):
    return build_cohorts(table, "y")["all rows"]


@given(st.integers(0, 2**32 - 1), st.integers(5, 60))
def test_influences_are_of_length_1_or_nothing(seed, n_rows):
    rng = np.random.default_rng(seed)
    table = {name: rng.integers(0, 3, n_rows) for name in "aby"}
    table["a"][0], table["b"][0], table["y"][:2] = 1 - table["a"][1] % 2, 2, (0, 1)
    rows = rows_of(table)
    for members in range(len(rows.codes)):
        found = influence(rows, [members])
        assert np.sum(found**2) == pytest.approx(1.0) or not found.any()


def test_sets_do_not_depend_on_the_order_of_their_features():
    rng = np.random.default_rng(0)
    rows = rows_of({name: rng.integers(0, 3, 200) for name in "abcy"})
    np.testing.assert_allclose(influence(rows, [0, 1, 2]), influence(rows, [2, 0, 1]))


def test_cells_numbered_anew_are_the_same_cells(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rows_of({name: rng.integers(0, 4, 300) for name in "abcy"})
    before = influence(rows, [0, 1, 2])
    monkeypatch.setattr(module, "MOST_CELLS", 2)
    np.testing.assert_array_equal(influence(rows, [0, 1, 2]), before)


def test_a_copy_errs_as_its_original_does():
    rng = np.random.default_rng(1)
    a, y = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    rows = rows_of({"a": a, "copy": 2 - a, "y": y})
    assert influence(rows, [0]) @ influence(rows, [1]) == pytest.approx(1.0)


def test_rows_that_lack_a_value_have_no_influence():
    table = {"a": [0, 0, 1, 1, None] * 4, "b": [0, 1, 1] * 6 + [0, 1], "y": [0, 0, 1, 0, 1] * 4}
    rows = build_cohorts(table, "y", coding=Coding(sporadic="available"))["all rows"]
    found = influence(rows, [0])
    assert (rows.codes[0] < 0).any()
    assert not found[rows.codes[0] < 0].any()
    assert found.any()


def test_a_set_that_tells_nothing_in_any_row_has_no_influence():
    rows = rows_of({"a": [0, 0, 1, 1], "b": [0, 1, 2, 2], "y": [0, 1, 0, 1]})
    assert not influence(rows, [0]).any()
