from __future__ import annotations

import pandas as pd
import pytest

from misfeat.testing import check_source, source_checks

TABLE = {"a": [0, 1, 1, None], "b": ["x", "y", "x", "x"], "y": [0, 1, 0, 1]}


class Held:
    """A source that holds a table."""

    def __init__(self, table):
        self.table = table

    def __misfeat_table__(self):
        return self.table


@pytest.mark.parametrize("name", [check.name for check in source_checks(None, None)])
@pytest.mark.parametrize("kind", ["parquet", "csv", "pandas", "duckdb", "stream"])
def test_what_misfeat_opens_keeps_the_contract(kind, name, tmp_path):
    frame = pd.DataFrame(TABLE)
    if kind in ("parquet", "csv"):
        source = str(tmp_path / ("rows.csv" if kind == "csv" else "rows.parquet"))
        frame.to_csv(source, index=False) if kind == "csv" else frame.to_parquet(source)
    elif kind == "duckdb":
        source = Held(pytest.importorskip("duckdb").from_df(frame))
    elif kind == "stream":
        import pyarrow as pa

        class Stream:
            def __arrow_c_stream__(self, requested_schema=None):
                return pa.Table.from_pandas(frame).__arrow_c_stream__(requested_schema)

        source = Held(Stream())
    else:
        source = Held(frame)
    {check.name: check for check in source_checks(source, frame)}[name]()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({**TABLE, "c": TABLE["y"]}, r"its columns are \['a', 'b', 'y', 'c'\] instead of"),
        ({name: values[:3] for name, values in TABLE.items()}, "it has 3 rows instead of 4"),
        ({**TABLE, "b": ["x", "y", "y", "x"]}, "column 'b' holds"),
        ({**TABLE, "a": [0, 1, 1, 1]}, "column 'a' holds"),
        (3, "cannot be opened: A table cannot be made of a int"),
    ],
)
def test_what_is_wrong_is_said_in_words(table, message):
    with pytest.raises(AssertionError, match=message):
        check_source(Held(table), TABLE)


def test_a_source_that_is_used_up_is_no_source():
    import pyarrow as pa

    reader = pa.Table.from_pandas(pd.DataFrame(TABLE)).to_reader()
    with pytest.raises(AssertionError, match="it has 0 rows instead of 4"):
        check_source(Held(reader), TABLE)
