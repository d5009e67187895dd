"""Tables held by a dataframe library or an engine; work stays there, and only counts come out.

pandas, polars (eager and lazy), PyArrow, DuckDB, PySpark, Dask and Ibis tables answer the same few
questions.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from misfeat.cohorts.arrays import as_array
from misfeat.cohorts.arrow_types import dictionary_order
from misfeat.cohorts.coders import (
    CodedRows,
    Coder,
    Kind,
    Reading,
    radices,
    split_into_keys,
    unpack_keys,
)
from misfeat.cohorts.dataframes import (
    EAGER_LIBRARIES,
    new_series,
    open_frame,
)
from misfeat.cohorts.expressions import one_where
from misfeat.cohorts.products import GroupSums, Variable, group_sums, sums_wanted
from misfeat.cohorts.table import ValueCounts, tally
from misfeat.cohorts.values import check_values
from misfeat.cohorts.weighing import Weighing, WeightRange, quantiles_of_counts
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.files import OpenedFiles

_COUNT = "n_rows"
_WEIGHT = "weight"
_MASS, _SQUARE = "mass", "square"
PRODUCTS_A_QUERY = 64
"""Sums that are asked for at once: some libraries hold a column for each."""
_DASK_GRID = 1001
"""Dask merges the quantiles of its partitions, the better the more of them are asked for."""


class DataFrameTable:
    """A table held by a dataframe library or an engine.

    Parameters
    ----------
    native : dataframe, lazy frame or relation
        Anything that narwhals wraps.
    files : OpenedFiles, default=None
        The files that it is read from, where it is; they know the names of the columns.
    """

    def __init__(self, native: Any, files: OpenedFiles | None = None) -> None:
        self._files = files
        self._weighing: Weighing | None = None
        frame, self._columns = open_frame(native, None if files is None else files.names)
        self._implementation = frame.implementation
        self._lazy: nw.LazyFrame[Any] = frame.lazy()
        given = nw.from_native(native)
        self._eager = given if isinstance(given, nw.DataFrame) else None

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self._columns.inner)

    @property
    def frame_backend(self) -> str | None:
        """The library that results should come back in; None where the engine has no frames."""
        name = "pandas" if self._implementation.is_dask() else str(self._implementation)
        return name if name in EAGER_LIBRARIES else None

    def with_column(self, name: str, values: Any, what: str) -> DataFrameTable:
        """Add a column of given values, row by row; messages say what they are."""
        if self._eager is None:
            raise MisfeatError(
                "{what} must be the name of a column when the table is lazy or lives in an engine, "
                "because rows have no order there; add it to the table, and pass its name {place}.",
                what=Setting(what),
                place="to SubgroupSelector" if what == "groups" else f"as {what}",
            )
        if nw.dependencies.is_into_series(values):
            values = nw.from_native(values, series_only=True).to_numpy()
        column = as_array(values, what)
        if column.shape != (len(self._eager),):
            raise MisfeatError(
                "{what} has shape {shape}, but X has {rows:,} rows; pass one value per row.",
                what=Setting(what),
                shape=column.shape,
                rows=len(self._eager),
            )
        series = new_series(name, column, self._eager)
        if series is None:
            raise MisfeatError(
                "{what} holds values that cannot be scored; pass numbers, text or flags.",
                what=Setting(what),
            )
        return DataFrameTable(self._eager.with_columns(series).to_native())

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        return self._columns.kind(column)

    def order(self, column: str) -> tuple[str, ...] | None:
        """The categories of a column in their order, where its type gives them one."""
        if self._eager is not None and self._implementation.is_pyarrow():
            return dictionary_order(self._eager.to_native(), column)
        return self._columns.order(column)

    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self._one(self._repeated(nw.lit(1)).sum() if self._repeats else nw.len()))

    def value_counts(self, column: str, limit: int) -> ValueCounts | None:
        """The distinct values and their counts, or None where there are more than `limit`."""
        kind = self.kind(column)
        of_frequencies = self._weighing if self._repeats else None
        try:
            counted = self._collected(
                self._counted_by({"value": self._columns.value(column)}, of_frequencies).head(
                    limit + 1
                )
            )
        except UnicodeEncodeError as error:  # pandas, whose objects hold any text
            check_values([str(error.object)], column)
            raise
        if len(counted) > limit:
            return None
        values, counts = counted["value"], _as_counts(counted[_COUNT])
        null = values.is_null().to_numpy().astype(bool)
        present = values.filter(~values.is_null())
        listed = present.to_numpy() if kind in (Kind.INTEGER, Kind.NUMBER) else present.to_list()
        found = tally(listed, counts[~null], kind)
        return ValueCounts(found.values, found.counts, found.missing + int(counts[null].sum()))

    def count_missing(self, reading: Reading) -> int:
        """How many rows are missing."""
        missing = one_where(self._columns.is_missing(reading))
        return int(self._one(self._repeated(missing).sum()))

    def quantiles(self, reading: Reading, probabilities: Sequence[float]) -> list[float]:
        """Quantiles of a numeric column, as the engine computes them, missing rows left out."""
        present = self._lazy.filter(~self._columns.is_missing(reading)).select(
            self._columns.read(reading).alias("value"), *self._frequencies()
        )
        if self._repeats:
            counted = self._collected(present.group_by("value").agg(nw.col(_WEIGHT).sum()))
            values = counted["value"].to_numpy().astype(np.float64)
            return quantiles_of_counts(values, _as_counts(counted[_WEIGHT]), probabilities)
        if self._implementation.is_dask():  # narwhals does not forward quantiles to Dask
            grid = np.union1d(np.linspace(0, 1, _DASK_GRID), probabilities)
            native = nw.to_native(present)["value"].astype("float64").quantile(list(grid)).compute()
            return [float(v) for v in native.to_numpy()[np.searchsorted(grid, probabilities)]]
        quantiles = self._collected(
            present.select(
                nw.col("value").quantile(p, interpolation="linear").alias(f"q{i}")
                for i, p in enumerate(probabilities)
            )
        )
        return [float(quantiles[name][0]) for name in quantiles.columns]

    def count_codes(self, coders: Sequence[Coder]) -> CodedRows:
        """Code every row and collapse equal ones, in one group-by inside the engine."""
        bases = radices(coders)
        runs = split_into_keys(bases)
        names = [f"key_{i}" for i in range(len(runs))]
        keys = {
            name: self._columns.key(coders[run], bases[run])
            for name, run in zip(names, runs, strict=True)
        }
        counted = self._collected(self._counted_by(keys, self._weighing))
        packed = [counted[name].to_numpy().astype(np.int64, copy=False) for name in names]
        weights = _as_counts(counted[_COUNT])
        more = [_as_counts(counted[one]) for one in (_MASS, _SQUARE) if one in counted.columns]
        del counted  # with millions of rows, one copy of them is enough
        return unpack_keys(packed, weights, bases, more)

    def weight_range(self, column: str) -> WeightRange:
        """What is to be known of a numeric column before its values are taken for weights."""
        missing = self.count_missing(Reading(column))
        if missing:
            return WeightRange(missing, np.nan, np.nan, whole=False)
        value = nw.col(_WEIGHT)
        found = self._collected(
            self._lazy.select(self._columns.value(column).cast(nw.Float64).alias(_WEIGHT)).select(
                value.min().alias("least"),
                value.max().alias("greatest"),
                one_where(value != value.floor()).sum().alias("fractions"),
                nw.when(value > 0).then(value).otherwise(None).min().alias("lightest"),
            )
        )
        least, greatest, fractions, lightest = (found[name][0] for name in found.columns)
        lightest = np.inf if lightest is None else float(lightest)
        return WeightRange(0, float(least), float(greatest), int(fractions) == 0, lightest)

    def weighed(self, weighing: Weighing) -> DataFrameTable:
        """The same table, whose rows count as a column says."""
        table = copy(self)
        table._weighing = weighing
        table._lazy = self._lazy.filter(self._columns.value(weighing.column) > 0)
        return table

    def _weighted(self, number: nw.Expr) -> nw.Expr:
        """A number of every row times its weight."""
        return number if self._weighing is None else number * nw.col(_WEIGHT)

    @property
    def _repeats(self) -> bool:
        """Whether a column says how often rows occur."""
        return self._weighing is not None and self._weighing.frequency

    def _frequencies(self) -> list[nw.Expr]:
        """How often rows occur, where a column says it."""
        if self._weighing is None or not self._weighing.frequency:
            return []
        return [self._columns.value(self._weighing.column).cast(nw.Int64).alias(_WEIGHT)]

    def _repeated(self, number: nw.Expr) -> nw.Expr:
        """A number of every row, as often as the row occurs."""
        return number * self._frequencies()[0] if self._repeats else number

    def _counted_by(
        self, keys: Mapping[str, nw.Expr], weighing: Weighing | None
    ) -> nw.LazyFrame[Any]:
        """Distinct values of some columns, how many rows hold them, and what these weigh."""
        named = [key.alias(name) for name, key in keys.items()]
        if weighing is None:
            return self._lazy.select(*named).group_by(list(keys)).agg(nw.len().alias(_COUNT))
        added = {_COUNT: self._columns.value(weighing.column)}
        if not weighing.frequency:
            weight = self._columns.value(weighing.column).cast(nw.Float64)
            added = {
                _COUNT: one_where(weight > 0.0),
                _MASS: (weight * weighing.scale).ceil(),
                _SQUARE: (weight * weight * weighing.square_scale).ceil(),
            }
        whole = [number.cast(nw.Int64).alias(name) for name, number in added.items()]
        rows = self._lazy.select(*named, *whole)
        return rows.group_by(list(keys)).agg(*(nw.col(name).sum() for name in added))

    def sum_products(self, groups: Sequence[Coder], variables: Sequence[Variable]) -> GroupSums:
        """Sum products of variables over the rows of each combination of group codes."""
        bases = radices(groups)
        if len(split_into_keys(bases)) > 1:
            raise MisfeatError(
                "The {n} groupings have too many combinations for {measure}; group by fewer "
                "columns.",
                n=len(groups),
                measure=Setting("measure", "r2"),
            )
        rows = self._numbers_by_key(groups, bases, variables)
        wanted = sums_wanted(variables)
        found: dict[tuple[str, int, int], NDArray[np.float64]] = {}
        for start in range(0, len(wanted), PRODUCTS_A_QUERY):
            batch = wanted[start : start + PRODUCTS_A_QUERY]
            products = [
                self._weighted(_product(kind, i, j)).alias(f"s{n}")
                for n, (kind, i, j) in enumerate(batch)
            ]
            if self._weighing is not None:
                products.append(nw.col(_WEIGHT))
            summed = self._collected(
                rows.select("key", *products)
                .group_by("key")
                .agg(
                    (nw.len() if self._weighing is None else nw.col(_WEIGHT).sum()).alias(_COUNT),
                    *(nw.col(f"s{n}").sum() for n in range(len(batch))),
                )
            )
            keys = summed["key"].to_numpy().astype(np.int64)
            order = np.argsort(keys)
            counts = summed[_COUNT].to_numpy().astype(np.float64)[order]
            for n, which in enumerate(batch):
                found[which] = summed[f"s{n}"].to_numpy().astype(np.float64)[order]
        codes: NDArray[np.integer] = np.zeros((0, len(counts)), dtype=np.int64)
        if groups:
            codes = unpack_keys([keys[order]], np.zeros_like(keys), bases).codes
        return group_sums(codes, counts, variables, found)

    def _numbers_by_key(
        self, groups: Sequence[Coder], bases: Sequence[int], variables: Sequence[Variable]
    ) -> nw.LazyFrame[Any]:
        """Rows with a target: the key of their group, numbers x0, x1, ..., and flags u0, u1, ..."""
        columns = self._columns
        numbers = [columns.number(v).alias(f"x{i}") for i, v in enumerate(variables)]
        recorded = [
            one_where(~columns.is_missing(v.reading)).cast(nw.Float64).alias(f"u{i}")
            for i, v in enumerate(variables)
            if v.has_gaps
        ]
        made = [f"x{i}" for i in range(len(variables))]
        made += [f"u{i}" for i, v in enumerate(variables) if v.has_gaps]
        if self._weighing is not None:
            weight = columns.value(self._weighing.column).cast(nw.Float64)
            numbers.append(weight.alias(_WEIGHT))
            made.append(_WEIGHT)
        # A literal alone would make a column of one row in some libraries.
        rows = self._lazy.filter(~columns.is_missing(variables[-1].reading))
        rows = rows.with_columns(columns.key(groups, bases).alias("key"))
        return rows.with_columns(*numbers, *recorded).select("key", *made)

    def close(self) -> None:
        """Give back what was opened to read the table; it is not read again."""
        if self._files is not None:
            self._files.close()

    def _collected(self, rows: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        """Have the engine work; what it makes of the bytes of a file, the file is to blame for."""
        if self._files is None:
            return rows.collect()
        try:
            return rows.collect()
        except Exception as error:
            raise self._files.unreadable(error) from error

    def _one(self, expression: nw.Expr) -> Any:
        collected = self._collected(self._lazy.select(expression.alias("one")))
        value = collected["one"][0]
        return 0 if value is None else value


def _product(kind: str, i: int, j: int) -> nw.Expr:
    """One of the products that `sums_wanted` names."""
    if kind == "first" and i == j:
        return nw.col(f"x{i}") * 1.0
    left, right = {"product": ("x", "x"), "first": ("x", "u"), "both": ("u", "u")}[kind]
    return nw.col(f"{left}{i}") * nw.col(f"{right}{j}")


def _as_counts(series: nw.Series[Any]) -> NDArray[np.int64]:
    return np.asarray(series.to_numpy(), dtype=np.int64)
