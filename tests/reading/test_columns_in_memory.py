from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from misfeat.cohorts import build_cohorts
from misfeat.reading.arrays import settle_objects
from misfeat.reading.coders import Kind

NEAR = [2**53, 2**53 + 1, None, 2**53, 2**53 + 1, -(2**63)] * 3
TARGET = [0, 1, 1] * 6


def test_integers_that_floats_would_round_stay_integers():
    kind, settled = settle_objects(NEAR, "x")
    assert kind is Kind.INTEGER
    assert settled.tolist() == NEAR


@pytest.mark.parametrize("values", [[1, None, 2], [2**53 - 1, None], [2**64, 1], [2**60, 0.5]])
def test_all_other_numbers_are_floats(values):
    assert settle_objects(values, "x")[0] is Kind.NUMBER


def test_large_integers_beside_gaps_are_the_same_in_every_library():
    held = {"a": np.array(NEAR, dtype=object), "y": np.array(TARGET)}
    nullable = pd.DataFrame({"a": pd.array(NEAR, dtype="Int64"), "y": TARGET})
    tables = (held, pd.DataFrame(held), nullable, pl.DataFrame({"a": NEAR, "y": TARGET}))
    for table in tables:
        cohorts = build_cohorts(table, "y")
        assert cohorts.categories[0][:3] == tuple(map(str, sorted({*NEAR} - {None})))
        assert np.array_equal(cohorts.codes, build_cohorts(held, "y").codes)


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_gaps_among_given_texts_are_no_class_of_their_own(gap):
    table, values = {"a": [0, 1] * 6, "b": [0, 0, 1] * 4}, ["low", "high", gap] * 4
    for X in (table, pd.DataFrame(table), pl.DataFrame(table)):
        for y in (values, np.array(values, dtype=object), pd.Series(values)):
            cohorts = build_cohorts(X, y)
            assert cohorts.classes == ("high", "low")
            assert cohorts.weights.sum() == 8


def test_what_a_mask_hides_is_missing_beside_any_table():
    table, values = {"a": [0, 1] * 6}, np.ma.MaskedArray([0, 1, 9] * 4, [False, False, True] * 4)
    for X in (table, pd.DataFrame(table)):
        assert build_cohorts(X, values).classes == ("0", "1")
