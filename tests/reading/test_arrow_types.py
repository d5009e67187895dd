from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from misfeat import SubgroupSelector
from misfeat.answers.top import best_sets
from misfeat.reading.dataframes import with_plain_types

N = 60
Y = [i % 2 for i in range(N)]
HARD = {
    "views of text": pa.array([["u", "v", None][i % 3] for i in range(N)], pa.string_view()),
    "large unsigned": pa.array([(i % 3) << 62 for i in range(N)], pa.uint64()),
    "the largest": pa.array([2**64 - 1 if i % 3 else None for i in range(N)], pa.uint64()),
    "nanoseconds": pa.array([i**3 - 999 for i in range(N)], pa.timestamp("ns")),
    "with a zone": pa.array([i**3 - 999 for i in range(N)], pa.timestamp("ns", "Asia/Kolkata")),
}


def answers(table, groups):
    selector = SubgroupSelector(groups, size=1).fit(table, "y")
    return [
        (found.subgroup, found.features, found.score) for found in best_sets(selector.selection_)
    ]


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
@pytest.mark.parametrize("kind", HARD)
def test_types_that_pyarrow_hardly_computes_with_are_read_as_by_other_libraries(kind):
    table = pa.table({"hard": HARD[kind], "b": [i % 5 for i in range(N)], "y": Y})
    in_pandas = table.to_pandas(types_mapper=pd.ArrowDtype)
    for groups in (None, {"b": [2]}):
        expected = answers(pl.from_arrow(table), groups)
        assert answers(table, groups) == expected
        assert answers(in_pandas, groups) == expected
    assert in_pandas.dtypes["hard"].pyarrow_dtype == HARD[kind].type  # the user's own is left alone


def test_a_moment_before_1970_is_rounded_down_as_elsewhere():
    moments = pa.array([-1001, -1, 1, None], pa.timestamp("ns"))
    plain = with_plain_types(pa.table({"t": moments}))
    assert plain["t"].cast(pa.int64()).to_pylist() == [-2, -1, 0, None]


def test_plain_tables_are_left_alone():
    table = pa.table({"a": [1, 2], "t": ["u", "v"]})
    assert with_plain_types(table) is table
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    assert with_plain_types(frame) is frame
