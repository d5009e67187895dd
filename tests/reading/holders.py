"""The same table, held by every library that starts quickly."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import duckdb
import narwhals as nw
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

HOLDERS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "pandas": lambda table: table.to_pandas(),
    "pandas-arrow": lambda table: table.to_pandas(use_pyarrow_extension_array=True),
    "polars": lambda table: table,
    "polars-lazy": lambda table: table.lazy(),
    "pyarrow": lambda table: table.to_arrow(),
    "duckdb": lambda table: duckdb.from_arrow(table.to_arrow()),
    "arrays": lambda table: table.to_dict(as_series=False),
}


def as_rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of any result frame, tuples and lists alike, None for NaN, for comparison."""
    rows = nw.from_native(frame, eager_only=True).rows(named=True)
    return [{name: _comparable(value) for name, value in row.items()} for row in rows]


def _comparable(value: Any) -> Any:
    if isinstance(value, tuple | list | np.ndarray):
        return list(value)
    return None if isinstance(value, float) and isnan(value) else value
