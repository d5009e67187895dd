"""A drawn table in the hands of each library, and in files."""

import csv
import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.fuzz.tables import EVERYWHERE, IN_TEXT, Column, Drawn

_ARROW = {
    "whole": pa.int64(),
    "big": pa.int64(),
    "real": pa.float64(),
    "flag": pa.bool_(),
    "text": pa.string(),
    "category": pa.dictionary(pa.int32(), pa.string()),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "exact": pa.decimal128(12, 2),
    **dict.fromkeys(IN_TEXT, pa.string()),
}
_PANDAS = {
    "whole": "Int64",
    "big": "Int64",
    "flag": "boolean",
    "text": object,
    "category": "category",
    "day": "datetime64[us]",
    "moment": "datetime64[us]",
    "exact": object,
    "huge": object,
    "objects": object,
    **dict.fromkeys(IN_TEXT, object),
}
IN_MEMORY = ("pandas", "polars", "lazy", "pyarrow", "duckdb")
IN_FILES = ("parquet", "csv")
THROUGH_DUCKDB = ("duckdb", *IN_FILES)


def can_hold(drawn: Drawn, library: str) -> bool:
    """Whether a library has a type for every column; only pandas has columns of any objects."""
    if library in THROUGH_DUCKDB and len(set(map(_folded, drawn.columns))) < len(drawn.columns):
        return False
    if library == "csv":
        # DuckDB does not find out how a file is written whose head holds quotes or several lines,
        # and blanks around a name do not count in a file of text.
        plain = all(name == name.strip() and not {'"', "\n"} & set(name) for name in drawn.columns)
        return plain and all(map(_is_plainly_written, drawn.columns.values()))
    if library in ("pandas", "mapping"):
        return True
    return all(column.kind in EVERYWHERE for column in drawn.columns.values())


def _folded(name: str) -> str:
    """DuckDB renames one of two names that differ in case; files that hold such are refused."""
    return name.strip().casefold()


def as_mapping(drawn: Drawn) -> dict[str, Any]:
    """Columns as NumPy arrays, which no dataframe library reads."""
    return {name: _as_array(column) for name, column in drawn.columns.items()}


def in_library(drawn: Drawn, library: str, folder: Path) -> Any:
    """The table as one of the libraries holds it, or the path of a file."""
    if library == "mapping":
        return as_mapping(drawn)
    if library == "pandas":
        return as_pandas(drawn)
    if library == "csv":
        return _as_csv(drawn, folder / "table.csv")
    table = as_arrow(drawn)
    if library == "pyarrow":
        return table
    if library == "parquet":
        pq.write_table(table, folder / "table.parquet")
        return str(folder / "table.parquet")
    if library == "duckdb":
        return duckdb.connect().from_arrow(table)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.lazy() if library == "lazy" else frame


def as_pandas(drawn: Drawn) -> pd.DataFrame:
    """A dataframe of pandas; whole numbers with gaps are nullable."""
    return pd.DataFrame({name: _as_series(column) for name, column in drawn.columns.items()})


def as_arrow(drawn: Drawn) -> pa.Table:
    """A table of PyArrow."""
    arrays = {
        name: pa.array(column.values, pa.string()).dictionary_encode()
        if column.kind == "category"
        else pa.array(column.values, _ARROW[column.kind])
        for name, column in drawn.columns.items()
    }
    return pa.table(arrays)


def _as_series(column: Column) -> pd.Series:
    if column.kind == "real":
        return pd.Series([np.nan if v is None else v for v in column.values], dtype="float64")
    return pd.Series(list(column.values), dtype=_PANDAS[column.kind])


def _as_array(column: Column) -> np.ndarray:
    full = all(value is not None for value in column.values)
    if column.kind in ("whole", "big", "flag") and full:
        return np.array(column.values)
    if column.kind == "real":
        return np.array([np.nan if v is None else v for v in column.values])
    array = np.empty(len(column.values), dtype=object)
    array[:] = column.values
    return array


def _is_plainly_written(column: Column) -> bool:
    """Whether a CSV file keeps the values: its cells have no types, and empty ones are missing."""
    known = [value for value in column.values if value is not None]
    if column.kind == "whole":
        return True
    if column.kind == "real":
        return all(math.isfinite(value) and abs(value) < 1e6 for value in known)
    return column.kind == "category" and "" not in known and bool(known)


def _as_csv(drawn: Drawn, file: Path) -> str:
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_MINIMAL)
        writer.writerow(drawn.columns)
        for row in zip(*(column.values for column in drawn.columns.values()), strict=True):
            writer.writerow(["NA" if value is None else value for value in row])
    return str(file)
