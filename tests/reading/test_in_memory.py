"""Tables that are read into arrays give the bits that queries of their library would."""

from __future__ import annotations

import datetime as dt
import warnings
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.build import CohortRules, cohorts_of
from misfeat.exceptions import MisfeatError, MisfeatWarning
from misfeat.reading.dataframes import InMemoryTable, is_in_memory
from misfeat.reading.engine_table import DataFrameTable

N_ROWS = 24
MOMENTS = st.datetimes(dt.datetime(1960, 1, 1), dt.datetime(2100, 1, 1))
VALUES = {
    "int8": (pl.Int8, st.integers(-128, 127)),
    "uint32": (pl.UInt32, st.integers(0, 2**32 - 1)),
    "int64": (pl.Int64, st.integers(-(2**63), 2**63 - 1)),
    "uint64": (pl.UInt64, st.integers(0, 2**64 - 1)),
    "float32": (pl.Float32, st.floats(width=32)),
    "float64": (pl.Float64, st.floats() | st.sampled_from([0.0, -0.0, 1.0])),
    "decimal": (pl.Decimal(12, 2), st.decimals(-(10**6), 10**6, places=2)),
    "flag": (pl.Boolean, st.booleans()),
    "text": (pl.String, st.text(st.characters(codec="utf-8"), max_size=3)),
    "category": (pl.Categorical, st.sampled_from(["b", "a", "", "c 10"])),
    "date": (pl.Date, st.dates(dt.date(1960, 1, 1), dt.date(2100, 1, 1))),
    "milliseconds": (pl.Datetime("ms"), MOMENTS),
    "nanoseconds": (pl.Datetime("ns"), MOMENTS),
    "zone": (pl.Datetime("us", "Europe/Berlin"), MOMENTS),
    "list": (pl.List(pl.Int64), st.lists(st.integers(0, 2), max_size=2)),
}
HOLDERS = {
    "polars": lambda table: table,
    "pyarrow": lambda table: table.to_arrow(),
    "pyarrow in pieces": lambda table: pa.concat_tables(
        [table[:7].to_arrow(), table[7:].to_arrow()]
    ),
    "pandas": lambda table: table.to_pandas(),
    "pandas by PyArrow": lambda table: table.to_pandas(use_pyarrow_extension_array=True),
    "pandas with nulls": lambda table: table.to_pandas().convert_dtypes(
        dtype_backend="numpy_nullable"
    ),
}


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=5, unique=True))
    columns = []
    for kind in kinds:
        dtype, values = VALUES[kind]
        few = draw(st.lists(st.none() | values, min_size=1, max_size=6))
        held = draw(st.lists(st.sampled_from(few), min_size=N_ROWS, max_size=N_ROWS))
        columns.append(pl.Series(kind, held, dtype=dtype, strict=False))
    group = draw(st.lists(st.sampled_from(["p", "q", None]), min_size=N_ROWS, max_size=N_ROWS))
    y = pl.Series("y", [0, 1] * (N_ROWS // 2))
    return pl.DataFrame([*columns, pl.Series("g", group, dtype=pl.String), y])


def answered(table):
    """The cohorts of an open table, or what is wrong with it."""
    rules = CohortRules.parse("g", Coding(min_rows=1, bins={"*": 3}, max_categories=4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfeatWarning)
        try:
            return cohorts_of(table, "y", rules)
        except MisfeatError as error:
            return str(error)


def same(one, other):
    return one == other if isinstance(one, str) else one.equals(other)


@pytest.mark.slow
@settings(max_examples=60)
@given(tables(), st.sampled_from(sorted(HOLDERS)))
def test_codes_are_those_of_queries(table, holder):
    held = HOLDERS[holder](table)
    assert is_in_memory(held)
    assert same(answered(InMemoryTable(held)), answered(DataFrameTable(held)))


@pytest.mark.skipif(
    duckdb.__version__.startswith(("1.2.", "1.3.")), reason="DuckDB 1.3 dies of some Arrow tables"
)
@settings(max_examples=40)
@given(tables().map(lambda table: table.drop("list", "uint64", "decimal", strict=False)))
def test_codes_are_those_of_duckdb(table):
    relation = duckdb.from_arrow(table.to_arrow())
    assert same(answered(InMemoryTable(table)), answered(DataFrameTable(relation)))


def test_a_column_is_read_when_it_is_asked_for():
    table = InMemoryTable(pd.DataFrame({"a": [1, 2], "b": ["x", None]}))
    assert table.names == ("a", "b")
    assert table.n_rows() == 2
    assert table._columns._read == {}
    counts = table.value_counts("b", 10)
    assert (counts.values.tolist(), counts.counts.tolist(), counts.missing) == (["x"], [1], 1)
    assert list(table._columns._read) == ["b"]


def test_categories_that_are_spelled_alike_are_one_value():
    kind = pd.Categorical.from_codes([0, 1, 2, 0, 1, 2] * 4, categories=["1", 1, "b"])
    frame = pd.DataFrame({"kind": kind, "x": [0, 1] * 12, "y": [0, 0, 1, 1] * 6})
    cohorts = build_cohorts(frame, "y")
    assert cohorts.categories[cohorts.features.index("kind")] == ("1", "b")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_target_and_the_subgroups_may_be_values_of_any_library(make):
    rng = np.random.default_rng(0)
    columns = {"a": rng.integers(3, size=60), "b": rng.choice(["u", "v"], 60)}
    y = rng.choice(["no", "yes"], 60)
    expected = build_cohorts({**columns, "y": y}, "y")
    for values in (y, y.tolist(), pd.Series(y), pl.Series(y), pa.chunked_array([y.tolist()])):
        found = build_cohorts(make(columns), values)
        assert np.array_equal(found.codes, expected.codes)
        assert np.array_equal(found.target_codes, expected.target_codes)
        assert found.target == "target"


def test_decimals_are_numbers():
    frame = pl.DataFrame({"price": [Decimal("1.50"), Decimal("2.00"), None] * 10, "y": [0, 1] * 15})
    table = InMemoryTable(frame)
    assert table.value_counts("price", 10).values.tolist() == [1.5, 2.0]
