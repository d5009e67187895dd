"""Columns without a single value mean the same in every library, whatever type it gives them."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from misfeat import MisfeatError, MisfeatWarning
from misfeat.cohorts import Coding, build_cohorts

N = 40
REST = {"x": [0, 1] * 20, "y": [0, 1, 1, 0] * 10}
NOTHING = [None] * N
PANDAS = {
    "objects": NOTHING,
    "numbers": np.full(N, np.nan),
    "text": pd.array(NOTHING, dtype="string"),
    "categories": pd.Categorical(NOTHING),
    "dates": pd.to_datetime(NOTHING),
    "flags": pd.array(NOTHING, dtype="boolean"),
}
HELD = {
    "arrays": {**REST, "g": np.array(NOTHING)},
    **{f"pandas {kind}": pd.DataFrame({**REST, "g": g}) for kind, g in PANDAS.items()},
    "polars": pl.DataFrame({**REST, "g": NOTHING}),
    "polars-lazy": pl.LazyFrame({**REST, "g": NOTHING}),
    "polars text": pl.DataFrame({**REST, "g": pl.Series(NOTHING, dtype=pl.String)}),
    "pyarrow": pa.table({**REST, "g": pa.nulls(N)}),
    "pyarrow text": pa.table({**REST, "g": pa.nulls(N, pa.string())}),
    "duckdb": duckdb.from_arrow(pa.table({**REST, "g": pa.nulls(N)})),
}


@pytest.fixture(params=HELD)
def held(request):
    return HELD[request.param]


@pytest.mark.parametrize("groups", ["g", {"g": {"*": "any"}}, {"g": [4]}])
def test_rows_of_an_empty_group_column_are_one_subgroup(held, groups):
    cohorts = build_cohorts(held, "y", groups=groups)
    assert cohorts.names == ("g is missing",)
    assert cohorts.weights.sum() == N


def test_a_predicate_over_an_empty_column_is_missing(held):
    groups = {"some": "g > 4 and x > 0"}
    assert build_cohorts(held, "y", groups=groups).names == ("some is missing",)


def test_an_empty_group_column_whose_rows_are_dropped_is_named(held):
    with pytest.raises(MisfeatError, match=r"Every row has a missing .* \('g is missing'\)"):
        build_cohorts(held, "y", groups="g", coding=Coding(missing_groups="drop"))


def test_an_empty_feature_is_left_out_with_a_warning(held):
    with pytest.warns(MisfeatWarning, match="'g' is missing in every subgroup and is left out"):
        assert build_cohorts(held, "y").features == ("x",)


def test_an_empty_target_is_refused(held):
    with pytest.raises(MisfeatError, match="The target 'g' is missing in every row"):
        build_cohorts(held, "g")
