"""Tables held by a dataframe library or an engine; work stays there, and only counts come out.

pandas, polars (eager and lazy), PyArrow, DuckDB, PySpark, Dask and Ibis tables answer the same few
questions.
"""

from __future__ import annotations

from copy import copy
from math import prod
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from misfeat.exceptions import MisfeatError, Setting
from misfeat.reading.arrays import as_array
from misfeat.reading.coders import (
    CodedRows,
    Coder,
    Kind,
    Reading,
    radices,
    split_into_keys,
    unpack_keys,
)
from misfeat.reading.dataframes import EAGER_LIBRARIES, dictionary_order, new_series, open_frame
from misfeat.reading.engine_queries import (
    TIMES,
    VALUE,
    Drawing,
    EngineColumn,
    is_looked_at,
    kept_of,
    likely_kept,
    one_looked_at_in,
    values_at,
)
from misfeat.reading.expressions import one_where
from misfeat.reading.table import (
    GroupSums,
    ValueCounts,
    Variable,
    Weighing,
    WeightRange,
    group_sums,
    not_scored,
    sums_wanted,
    tally,
    wrong_shape,
)
from misfeat.reading.values import check_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from misfeat.reading.files import OpenedFiles


LONG = 200_000
"""Tables of fewer rows are read fast enough column by column."""
LOOKED_AT = 50_000
"""Rows whose values say how many a column has, about."""
FEW_VALUES = 100
"""Columns with at most so many values in these rows are counted together with others."""
MOST_COMBINATIONS = 20_000
"""Combinations of the values of columns that are counted together, about."""
FEWER_COMBINATIONS = 200_000
"""Where there are more after all, each column is counted by itself."""
FIRST_PART = 4
"""A column with more values than are counted is looked for in so many times as many rows first."""
_COUNT = "n_rows"
_WEIGHT = "weight"
_MASS, _SQUARE = "mass", "square"
PRODUCTS_A_QUERY = 64
"""Sums that are asked for at once: some libraries hold a column for each."""


class DataFrameTable:
    """A table held by a dataframe library or an engine: anything that narwhals wraps.

    Where it is read from files, these know the names of the columns.
    """

    def __init__(self, native: Any, files: OpenedFiles | None = None) -> None:
        self._files = files
        self._weighing: Weighing | None = None
        self._forget()
        frame, self._columns = open_frame(native, None if files is None else files.names)
        self._implementation = frame.implementation
        self._lazy: nw.LazyFrame[Any] = frame.lazy()
        given = nw.from_native(native)
        self._eager = given if isinstance(given, nw.DataFrame) else None

    def _forget(self) -> None:
        """Nothing is known of the rows."""
        self._n_rows: int | None = None
        self._lots: dict[str, list[str]] | None = None
        self._looked: dict[str, int] = {}
        self._numbers: dict[Reading, EngineColumn] = {}
        self._counted: dict[str, nw.DataFrame[Any] | None] = {}

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
            raise wrong_shape(what, column.shape, len(self._eager))
        series = new_series(name, column, self._eager)
        if series is None:
            raise not_scored(what)
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
        if self._n_rows is None:
            ones = self._repeated(nw.lit(1)).sum() if self._repeats else nw.len()
            self._n_rows = int(self._one(ones))
        return self._n_rows

    def value_counts(self, column: str, limit: int) -> ValueCounts | None:
        """The distinct values and their counts, or None where there are more than `limit`."""
        kind = self.kind(column)
        if (counted := self._counted_ahead(column)) is None:
            if self._surely_has_more(column, limit):
                return None
            try:
                counted = self._counted_values([column], limit)
            except UnicodeEncodeError as error:  # pandas, whose objects hold any text
                check_values([str(error.object)], column)
                raise
        if len(counted) > limit:
            return None
        values, counts = counted[self._columns.inner[column]], _as_counts(counted[_COUNT])
        null = values.is_null().to_numpy().astype(bool)
        present = values.filter(~values.is_null())
        listed = present.to_numpy() if kind in (Kind.INTEGER, Kind.NUMBER) else present.to_list()
        found = tally(listed, counts[~null], kind)
        return ValueCounts(found.values, found.counts, found.missing + int(counts[null].sum()))

    def _counted_values(self, columns: Sequence[str], limit: int) -> nw.DataFrame[Any]:
        """Combinations of the values of some columns and their counts, one more than a limit."""
        values = {self._columns.inner[name]: self._columns.value(name) for name in columns}
        of_frequencies = self._weighing if self._repeats else None
        return self._collected(self._counted_by(values, of_frequencies).head(limit + 1))

    def _counted_ahead(self, column: str) -> nw.DataFrame[Any] | None:
        """The values of a column and their counts, where it is counted together with others."""
        if self._lots is None:
            self._lots = self._lots_of_columns() if self.n_rows() >= LONG else {}
        lot = self._lots.pop(column, None)
        if lot is None:
            return None
        if lot[0] not in self._counted:
            counted = self._counted_values(lot, FEWER_COMBINATIONS)
            self._counted[lot[0]] = counted if len(counted) <= FEWER_COMBINATIONS else None
        together = self._counted[lot[0]]
        if together is None:
            return None
        return together.group_by(self._columns.inner[column]).agg(nw.col(_COUNT).sum())

    def _lots_of_columns(self) -> dict[str, list[str]]:
        """For each column that is counted together with others, all of these."""
        known = [name for name in self.names if self.kind(name) is not Kind.UNSUPPORTED]
        if self._weighing is not None:
            known.remove(self._weighing.column)
        self._looked = {name: self._distinct_in(name, LOOKED_AT) for name in known}
        lots = counted_together(self._looked)
        return {name: lot for lot in lots if len(lot) > 1 for name in lot}

    def _surely_has_more(self, column: str, limit: int) -> bool:
        """Whether the first rows of a long table have more values than a limit."""
        few = self._looked.get(column, LOOKED_AT) < LOOKED_AT // 10
        if few or self.n_rows() <= 2 * FIRST_PART * limit:
            return False
        return self._distinct_in(column, FIRST_PART * limit) > limit + 1  # one may be missing

    def _distinct_in(self, column: str, n_rows: int) -> int:
        rows = self._lazy.select(self._columns.value(column).alias("value")).head(n_rows)
        distinct = rows.group_by("value").agg(nw.len().alias(_COUNT))
        return int(self._collected(distinct.select(nw.len().alias("one")))["one"][0])

    def count_missing(self, reading: Reading) -> int:
        """How many rows are missing."""
        missing = one_where(self._columns.is_missing(reading))
        return int(self._one(self._repeated(missing).sum()))

    def quantiles(self, reading: Reading, shares: Sequence[float | Fraction]) -> list[float]:
        """The smallest values of a numeric column with such shares of the rows at or below them."""
        if reading not in self._numbers:
            present = self._lazy.filter(~self._columns.is_missing(reading)).select(
                self._columns.read(reading).alias(VALUE), *self._frequencies(TIMES)
            )
            self._numbers[reading] = EngineColumn(present, self._collected)
        return values_at(shares, self._numbers[reading])

    def count_codes(self, coders: Sequence[Coder]) -> CodedRows:
        """Code every row and collapse equal ones, in one group-by inside the engine."""
        bases = radices(coders)
        counted = self._collected(self._counted_by(self._keys(coders, bases), self._weighing))
        return _unpacked(counted, bases)

    def draw_codes(
        self, coders: Sequence[Coder], n_groups: int, most: int
    ) -> tuple[CodedRows, Drawing | None]:
        """The same, rows drawn at random inside the engine where more would come back."""
        bases = radices(coders)
        first = split_into_keys(bases)[0].stop
        if self.n_rows() <= most or prod(bases) <= most or n_groups > first:
            return self.count_codes(coders), None
        below = prod(bases[n_groups:first])
        keys = self._keys(coders, bases)
        one_in = one_looked_at_in(self.n_rows())
        part = copy(self)
        part._lazy = self._lazy.filter(is_looked_at([*keys.values()], one_in))
        found = self._collected(part._counted_by(keys, self._weighing))
        groups = found["key_0"].to_numpy().astype(np.int64, copy=False) // below
        drawing = Drawing.planned(groups, _as_counts(found[_COUNT]), one_in, most)
        if drawing is None:
            return self.count_codes(coders), None
        counted = self._counted_by(keys, self._weighing)
        likely = self._collected(likely_kept(counted, [*keys], below, drawing, _COUNT))
        return kept_of(_unpacked(likely, bases), bases, n_groups, drawing), drawing

    def _keys(self, coders: Sequence[Coder], bases: Sequence[int]) -> dict[str, nw.Expr]:
        """The codes of a row as one whole number, or several where they do not fit one."""
        return {
            f"key_{number}": self._columns.key(coders[run], bases[run])
            for number, run in enumerate(split_into_keys(bases))
        }

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
        table._forget()
        table._lazy = self._lazy.filter(self._columns.value(weighing.column) > 0)
        return table

    def _weighted(self, number: nw.Expr) -> nw.Expr:
        """A number of every row times its weight."""
        return number if self._weighing is None else number * nw.col(_WEIGHT)

    @property
    def _repeats(self) -> bool:
        return self._weighing is not None and self._weighing.frequency

    def _frequencies(self, name: str = _WEIGHT) -> list[nw.Expr]:
        """How often rows occur, where a column says it, under a name."""
        if self._weighing is None or not self._weighing.frequency:
            return []
        return [self._columns.value(self._weighing.column).cast(nw.Int64).alias(name)]

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
                self._weighted(_product(*which)).alias(f"s{n}") for n, which in enumerate(batch)
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


def _unpacked(counted: nw.DataFrame[Any], bases: Sequence[int]) -> CodedRows:
    names = [f"key_{number}" for number in range(len(split_into_keys(bases)))]
    packed = [counted[name].to_numpy().astype(np.int64, copy=False) for name in names]
    weights = _as_counts(counted[_COUNT])
    more = [_as_counts(counted[one]) for one in (_MASS, _SQUARE) if one in counted.columns]
    del counted  # with millions of rows, one copy of them is enough
    return unpack_keys(packed, weights, bases, more)


def _as_counts(series: nw.Series[Any]) -> NDArray[np.int64]:
    return np.asarray(series.to_numpy(), dtype=np.int64)


def counted_together(distinct: Mapping[str, int]) -> list[list[str]]:
    """Columns with few values, put together so that each lot has few combinations.

    `distinct` is how many values each column has in some of the rows, about.
    """
    lots: list[list[str]] = []
    combinations: list[int] = []
    few = {name: many + 1 for name, many in distinct.items() if many <= FEW_VALUES}
    for name, many in few.items():  # one more for missing
        for place, so_far in enumerate(combinations):
            if so_far * many <= MOST_COMBINATIONS:
                lots[place].append(name)
                combinations[place] *= many
                break
        else:
            lots.append([name])
            combinations.append(many)
    return lots
