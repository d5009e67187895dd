"""What the rest of the package asks of a table, and how any input becomes one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from misfeat.cohorts.coding import Kind
from misfeat.cohorts.values import canonical, sort_key
from misfeat.exceptions import MisfeatError, no_such_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.coding import CodedRows, Coder, Reading
    from misfeat.cohorts.products import GroupSums, Variable
    from misfeat.cohorts.values import MissingCodes, Value


@dataclass(frozen=True)
class ValueCounts:
    """The distinct values of a column, ascending, with how often each occurs.

    Attributes
    ----------
    values : ndarray
        Numbers for numeric columns, canonical Python values (dtype object) otherwise.
    counts : ndarray of int64
        As long as `values`.
    missing : int
        Rows with null, NaN, None or NaT.
    """

    values: NDArray[Any]
    counts: NDArray[np.int64]
    missing: int

    def without(self, is_code: NDArray[np.bool_]) -> ValueCounts:
        """Count the flagged values as missing."""
        missing = self.missing + int(self.counts[is_code].sum())
        return ValueCounts(self.values[~is_code], self.counts[~is_code], missing)


class Table(Protocol):
    """A table of named columns that can count values and coded rows, wherever it lives."""

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        ...

    @property
    def frame_backend(self) -> str | None:
        """The dataframe library that results should come back in; None: any installed one."""
        ...

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        ...

    def n_rows(self) -> int:
        """How many rows there are."""
        ...

    def value_counts(self, column: str, limit: int) -> ValueCounts | None:
        """The distinct values and their counts, or None where there are more than `limit`."""
        ...

    def count_missing(self, reading: Reading) -> int:
        """How many rows are missing."""
        ...

    def quantiles(self, reading: Reading, probabilities: Sequence[float]) -> list[float]:
        """Quantiles of a numeric column, as the engine computes them, missing rows left out."""
        ...

    def count_codes(self, coders: Sequence[Coder]) -> CodedRows:
        """Code every row and collapse equal ones, in one group-by."""
        ...

    def sum_products(self, groups: Sequence[Coder], variables: Sequence[Variable]) -> GroupSums:
        """Sum products of variables over the rows of each combination of group codes.

        Rows in which the last variable, the target, is missing are left out.
        """
        ...

    def close(self) -> None:
        """Give back what was opened to read the table; it is not read again."""
        ...


def tally(values: Iterable[Any], counts: NDArray[np.int64], kind: Kind) -> ValueCounts:
    """Bring raw values and their counts to canonical, sorted, merged form."""
    if isinstance(values, np.ndarray) and kind in (Kind.INTEGER, Kind.NUMBER):
        return _tally_numbers(values, counts)
    totals: Counter[Value] = Counter()
    missing = 0
    for value, count in zip(map(canonical, values), counts.tolist(), strict=True):
        if value is None:
            missing += count
        else:
            # The type keeps True and 1 apart, which are equal as dictionary keys.
            totals[type(value), value] += count
    ordered = sorted(totals.items(), key=lambda item: sort_key(item[0][1]))
    distinct = np.empty(len(ordered), dtype=object)
    distinct[:] = [value for (_, value), _ in ordered]
    return ValueCounts(distinct, np.array([n for _, n in ordered], dtype=np.int64), missing)


def _tally_numbers(values: NDArray[Any], counts: NDArray[np.int64]) -> ValueCounts:
    absent = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    distinct, position = np.unique(values[~absent], return_inverse=True)
    totals = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(totals, position, counts[~absent])
    return ValueCounts(distinct, totals, int(counts[absent].sum()))


def open_table(X: object, y: object, codes: MissingCodes) -> tuple[Table, str]:
    """Open whatever the user gave as one table, the target a column of it.

    Parameters
    ----------
    X : dataframe, lazy frame, relation, array, mapping of columns, or path
        The table. Paths may be CSV, TSV or Parquet files, a folder or a glob of Parquet files.
    y : str, array or series
        The target: the name of a column of `X`, or its values.
    codes : MissingCodes
        User-given codes for missing values; CSV files are read with them as nulls.

    Returns
    -------
    table : Table
    target : str
        The name of the target's column in `table`.
    """
    from misfeat.cohorts.arrays import ArrayTable, as_columns
    from misfeat.cohorts.dataframes import DataFrameTable
    from misfeat.cohorts.files import open_path

    if y is None:
        raise MisfeatError("No target was given; pass y as a column name or an array of values.")
    if isinstance(X, str | os.PathLike):
        if not isinstance(y, str):
            raise MisfeatError("The target of a file is one of its columns; pass its name as y.")
        relation, connection = open_path(os.fspath(X), codes)
        table = DataFrameTable(relation, on_close=connection.close)
        return table, _existing(y, table.names)
    if isinstance(X, Mapping | np.ndarray | list | tuple):
        columns = as_columns(X)
        if isinstance(y, str):
            return ArrayTable(columns), _existing(y, columns)
        target = _free_name(y, columns)
        return ArrayTable({**columns, **as_columns({target: y})}), target
    table = DataFrameTable(X)
    if isinstance(y, str):
        return table, _existing(y, table.names)
    target = _free_name(y, table.names)
    return table.with_column(target, y), target


def _existing(target: str, names: Iterable[str]) -> str:
    if target not in names:
        raise no_such_column(target, names, "the target")
    return target


def _free_name(y: object, names: Iterable[str]) -> str:
    """Name the target column: the series' own name, or one that no column has."""
    given = getattr(y, "name", None)
    taken = set(names)
    if isinstance(given, str) and given:
        if given in taken:
            raise MisfeatError(
                f"The target {given!r} is also a column of X and would be found to predict "
                f"itself; drop it from X, or pass y={given!r}."
            )
        return given
    name = "target"
    while name in taken:
        name += "_"
    return name
