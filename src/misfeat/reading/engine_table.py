"""Tables in an engine: work stays there, and only counts come out.

Lazy frames of polars, relations of DuckDB, and tables of PySpark, Dask and Ibis answer the same
questions as a table in memory, with the same bits.

Quantiles are exact. The range of a column is cut into many equal parts, and the engine counts the
values in each. Parts that hold a wanted rank are cut again until they hold few values, which are
then counted one by one. Ranks are integers and values are only compared.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from fractions import Fraction
from math import inf, isfinite, prod
from typing import Any

import narwhals as nw
import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.reading import engine_samples as samples
from misfeat.reading import table_statistics as answers
from misfeat.reading.coders import (
    CodedRows,
    Coder,
    Kind,
    Reading,
    joined,
    pack_keys,
    radices,
    sorting_order,
    split_into_keys,
    unpack_keys,
)
from misfeat.reading.engine_expressions import ColumnExpressions, one_where
from misfeat.reading.files import Relation
from misfeat.reading.memory_table import WIDE, ArrayTable, holds_integers, kind_of_type, numpy_of
from misfeat.reading.table_statistics import GroupSums, ValueCounts, Variable, Weighing, WeightRange
from misfeat.reading.values import COLUMN_NAME, check_text
from misfeat.runtime.array_types import Array, Floats, Integers

MOST_HELD = 2**23  # Values of a file that are held in memory, where asking is quicker
FIRST_PART = 4  # Whether a column has too many values is seen in so many times as many rows
PRODUCTS_A_QUERY = 64  # Sums that are asked for at once: some libraries hold a column for each
_WEIGHT, _MASS, _SQUARE = "weight", "mass", "square"
LOOKED_AT = 1_000_000  # Different rows that say how many of each subgroup there are, at most
_HASH = "hash"
Collect = Callable[[nw.LazyFrame[Any]], nw.DataFrame[Any]]
N_PARTS = 2**14  # Parts that a range is cut into at once: few counts for an engine to hold
FEW_VALUES = 200_000  # Parts with at most so many rows are counted value by value
WIDEST = 8e307  # Ranges beyond this would overflow; what lies outside is a part of its own
VALUE, TIMES, COUNT = "value", "times", "n_rows"
_BUCKET, _LOW, _HIGH = "bucket", "low", "high"


class EngineTable:
    """A table in an engine, lazy in narwhals; `relation` knows it where misfeat opened it."""

    def __init__(self, native: Any, relation: Relation | None = None) -> None:
        self._relation = relation
        self.notes = [] if relation is None else relation.notes
        self._weighing: Weighing | None = None
        self._n_rows: int | None = None
        self._held: ArrayTable | None = None
        self._ranked: dict[Reading, RankedColumn] = {}
        frame: nw.LazyFrame[Any] = nw.from_native(native)
        given = frame.collect_schema().names()
        names = given if relation is None else relation.names
        if not names:
            raise MisfeatError(answers.NO_COLUMNS)
        check_text(names, COLUMN_NAME)
        # Some engines read a dot, a star or a pattern in a name, so none of the user's is used.
        inner = inner_names(names)
        if frame.implementation.is_duckdb():
            typed = enumerate(zip(inner, map(str, native.types), strict=True), 1)
            renamed = (_of_duckdb(f"#{at}", kind) + f" AS {name}" for at, (name, kind) in typed)
            frame = nw.from_native(native.project(", ".join(renamed)))
        elif frame.implementation.is_spark_like():
            frame = nw.from_native(native.toDF(*inner))
        else:
            frame = frame.rename(dict(zip(given, inner, strict=True)))
        for name, dtype in frame.collect_schema().items():
            if dtype == nw.Time and frame.implementation.is_polars():
                text = nw.col(name).dt.to_string("%H:%M:%S%.6f").str.replace(r"\.0{6}$", "")
                frame = frame.with_columns(text)
            if dtype in WIDE:
                column = nw.col(name)
                ends = frame.select(column.min().alias("low"), column.max().alias("high"))
                if holds_integers(*self._collected(ends).row(0)):
                    frame = frame.with_columns(column.cast(nw.Int64))
            # A column of nothing may have a type that no engine compares with anything.
            if kind_of_type(dtype) is not Kind.UNSUPPORTED:
                continue
            if not int(self._collected(frame.select(nw.col(name).count()))[name][0]):
                frame = frame.with_columns(nw.lit(None).cast(nw.String).alias(name))
        self._lazy = frame
        self._columns = ColumnExpressions(
            dict(zip(names, inner, strict=True)), frame.collect_schema(), frame.implementation
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self._columns.inner)

    @property
    def frame_backend(self) -> str | None:
        """The library that results should come back in; None where the engine has no frames."""
        implementation = self._columns.implementation
        name = "pandas" if implementation.is_dask() else str(implementation)
        return name if name in answers.EAGER_LIBRARIES else None

    def with_column(self, name: str, values: Any, what: str) -> "EngineTable":  # noqa: ARG002
        """Refuse values that are given row by row."""
        place = "to SubgroupSelector" if what == "groups" else f"as {what}"
        raise MisfeatError(
            f"{Setting(what)} must be the name of a column when the table is lazy or lives in an "
            "engine, because rows have no order there; add it to the table, and pass its name "
            f"{place}."
        )

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        return self._columns.kind(column)

    def order(self, column: str) -> tuple[str, ...] | None:
        """The categories of a column in their order, where its type gives them one."""
        dtype = self._columns.schema[self._columns.inner[column]]
        return tuple(dtype.categories) if isinstance(dtype, nw.Enum) else None

    def n_rows(self) -> int:
        """How many rows there are."""
        if self._n_rows is None:
            times = self._times()
            self._n_rows = int(self._one(nw.len() if times is None else times.sum()))
        return self._n_rows

    def _rows_for(self, column: str) -> ArrayTable | None:
        """The rows in memory where a file has few: they answer before an engine has begun."""
        small = self.n_rows() * len(self.names) <= MOST_HELD and self.kind(column) is not Kind.TIME
        if self._relation is None or not small or not self._columns.implementation.is_duckdb():
            return None
        if self._held is None:
            frame = self._collected(self._lazy)
            held = ArrayTable({name: frame[inner] for name, inner in self._columns.inner.items()})
            self._held = held if self._weighing is None else held.weighed(self._weighing)
        return self._held

    def value_counts(self, column: str, limit: int) -> ValueCounts | None:
        """The distinct values and their counts, or None where there are more than `limit`."""
        if (held := self._rows_for(column)) is not None:
            return held.value_counts(column, limit)
        if self.n_rows() > 2 * FIRST_PART * limit:  # the first rows may have more than enough
            rows = self._lazy.select(self._columns.value(column).alias(VALUE))
            distinct = rows.head(FIRST_PART * limit).group_by(VALUE).agg(nw.len().alias(COUNT))
            n_values = self._collected(distinct.select(nw.len().alias("one")))["one"][0]
            if int(n_values) > limit + 1:  # one may be missing
                return None
        kind = self.kind(column)
        weighing = None if self._times() is None else self._weighing
        value = {VALUE: self._columns.value(column)}
        counted = self._collected(self._counted_by(value, weighing).head(limit + 1))
        if len(counted) > limit:
            return None
        values, counts = counted[VALUE], as_counts(counted[COUNT])
        null = numpy_of(values.is_null()).astype(bool)
        present = values.filter(~values.is_null())
        listed = numpy_of(present) if kind in (Kind.INTEGER, Kind.NUMBER) else present.to_list()
        found = answers.tally(listed, counts[~null], kind)
        return ValueCounts(found.values, found.counts, found.missing + int(counts[null].sum()))

    def count_missing(self, reading: Reading) -> int:
        """How many rows are missing."""
        if (held := self._rows_for(reading.column)) is not None:
            return held.count_missing(reading)
        missing, times = one_where(self._columns.is_missing(reading)), self._times()
        return int(self._one((missing if times is None else missing * times).sum()))

    def quantiles(self, reading: Reading, shares: Sequence[float | Fraction]) -> list[float]:
        """The smallest values of a numeric column with such shares of the rows at or below them."""
        if (held := self._rows_for(reading.column)) is not None:
            return held.quantiles(reading, shares)
        if reading not in self._ranked:
            times = self._times()
            present = self._lazy.filter(~self._columns.is_missing(reading))
            columns = [self._columns.read(reading).alias(VALUE)]
            rows = present.select(*columns, *([] if times is None else [times.alias(TIMES)]))
            self._ranked[reading] = RankedColumn(rows, self._collected)
        return self._ranked[reading].quantiles(shares)

    def count_codes(self, coders: Sequence[Coder]) -> CodedRows:
        """Code every row and collapse equal ones, in one group-by inside the engine."""
        bases = radices(coders)
        counted = self._collected(self._counted_by(self._keys(coders, bases), self._weighing))
        return _unpacked(counted, bases)

    def draw_codes(
        self, coders: Sequence[Coder], n_groups: int, most: int
    ) -> "tuple[CodedRows, samples.Drawing | None]":
        """The same, rows drawn at random where more than `most` would come; None where not."""
        bases = radices(coders)
        first = split_into_keys(bases)[0].stop
        if self.n_rows() <= most or prod(bases) <= most or n_groups > first:
            return self.count_codes(coders), None
        below = prod(bases[n_groups:first])
        keys = self._keys(coders, bases)
        one_in = 1 << ((self.n_rows() - 1) // LOOKED_AT).bit_length()
        part = copy(self)
        place: Any = 0  # spread evenly, which engines work out faster than hashes
        for key in keys.values():
            place = (key % samples.PRIME * samples.SPREAD + place) % samples.PRIME
        part._lazy = self._lazy.filter(place < samples.PRIME // one_in)
        seen = self._collected(part._counted_by(keys, self._weighing))
        groups = as_counts(seen["key_0"]) // below
        drawing = samples.Drawing.planned(groups, as_counts(seen[COUNT]), one_in, most)
        if drawing is None:
            return self.count_codes(coders), None
        counted = self._counted_by(keys, self._weighing)
        # Without most of those that are not kept; `drawn` has the last word.
        counted = counted.with_columns((nw.col("key_0") * 0).alias(_HASH))
        for name in keys:
            moved = samples.add_key(nw.col(_HASH), nw.col(name))
            counted = counted.with_columns(moved.alias(_HASH))
            # One by one: engines repeat what is written into one expression.
            for turn in samples.TURNS:
                counted = counted.with_columns(samples.turned(nw.col(_HASH), turn).alias(_HASH))
        first_key = nw.col("key_0")
        of_first = first_key - first_key % below
        of_group = (
            one_where(of_first.is_in([one * below for one in among])) * (rate - 1)
            for rate, among in drawing.by_rate().items()
        )
        rate = joined(operator.add, [nw.lit(1), *of_group]).cast(nw.Float64)
        value, times = nw.col(_HASH).cast(nw.Float64), nw.col(COUNT).cast(nw.Float64)
        kept = value * rate < times * float(samples.PRIME)
        likely = self._collected(counted.filter(kept).drop(_HASH))
        rows = _unpacked(likely, bases)
        codes = list(rows.codes)
        group = np.zeros(len(rows.weights), dtype=np.int64)
        if n_groups:
            (group,) = pack_keys(codes[:n_groups], bases[:n_groups])
        rates = np.ones(len(group), dtype=np.int64)
        for one_in, among in drawing.by_rate().items():
            rates[np.isin(group, among)] = one_in
        return samples.drawn(rows, samples.hashes_of(pack_keys(codes, bases)), rates), drawing

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

    def weighed(self, weighing: Weighing) -> "EngineTable":
        """The same table, whose rows count as a column says."""
        table = copy(self)
        table._weighing, table._n_rows, table._held, table._ranked = weighing, None, None, {}
        table._lazy = self._lazy.filter(self._columns.value(weighing.column) > 0)
        return table

    def _times(self) -> nw.Expr | None:
        """How often a row occurs; None where each occurs once."""
        if self._weighing is None or not self._weighing.frequency:
            return None
        return self._columns.value(self._weighing.column).cast(nw.Int64)

    def _counted_by(
        self, keys: Mapping[str, nw.Expr], weighing: Weighing | None
    ) -> nw.LazyFrame[Any]:
        """Distinct values of some columns, how many rows hold them, and what these weigh."""
        if weighing is None:
            return self._lazy.select(**keys).group_by(list(keys)).agg(nw.len().alias(COUNT))
        added = {COUNT: self._columns.value(weighing.column)}
        if not weighing.frequency:
            weight = self._columns.value(weighing.column).cast(nw.Float64)
            added = {
                COUNT: one_where(weight > 0.0),
                _MASS: (weight * weighing.scale).ceil(),
                _SQUARE: (weight * weight * weighing.square_scale).ceil(),
            }
        whole = {name: number.cast(nw.Int64) for name, number in added.items()}
        rows = self._lazy.select(**keys, **whole)
        return rows.group_by(list(keys)).agg(*(nw.col(name).sum() for name in added))

    def sum_products(self, groups: Sequence[Coder], variables: Sequence[Variable]) -> GroupSums:
        """Sum products of variables over the rows of each combination of group codes."""
        bases = radices(groups)
        keys, rows = self._numbered(groups, variables)
        wanted = answers.sums_wanted(variables)
        sums: dict[tuple[str, int, int], Floats] = {}
        for start in range(0, len(wanted), PRODUCTS_A_QUERY):
            batch = wanted[start : start + PRODUCTS_A_QUERY]
            products = [
                (_product(*which) * nw.col(_WEIGHT)).alias(f"s{n}") for n, which in enumerate(batch)
            ]
            summed = self._collected(
                rows.select(*keys, _WEIGHT, *products)
                .group_by(list(keys))
                .agg(nw.col(_WEIGHT).sum(), *(nw.col(f"s{n}").sum() for n in range(len(batch))))
            )
            packed = [numpy_of(summed[name]).astype(np.int64) for name in keys]
            order = sorting_order(packed)
            counts = numpy_of(summed[_WEIGHT]).astype(np.float64)[order]
            for n, which in enumerate(batch):
                sums[which] = numpy_of(summed[f"s{n}"]).astype(np.float64)[order]
        codes = unpack_keys(packed, np.zeros_like(order), bases).codes
        return answers.group_sums(codes, counts, variables, sums)

    def number_rows(
        self, groups: Sequence[Coder], variables: Sequence[Variable]
    ) -> answers.NumberRows:
        """The rows with a target: the codes of their groups, weights, and variables as numbers."""
        keys, rows = self._numbered(groups, variables)
        held = self._collected(rows)
        packed = [numpy_of(held[name]).astype(np.int64) for name in keys]
        order = sorting_order(packed)
        codes = unpack_keys(packed, np.zeros_like(order), radices(groups)).codes

        def numbers(name: str) -> Floats:
            return numpy_of(held[name]).astype(np.float64)[order]

        values = np.array([numbers(f"x{i}") for i in range(len(variables))])
        for i, variable in enumerate(variables):
            if variable.has_gaps:
                values[i, numbers(f"u{i}") == 0] = np.nan
        return answers.NumberRows(codes, numbers(_WEIGHT), values)

    def _numbered(
        self, groups: Sequence[Coder], variables: Sequence[Variable]
    ) -> tuple[dict[str, nw.Expr], nw.LazyFrame[Any]]:
        """The keys of groups; rows with a target: these, weight, numbers x0, …, and flags u0, …"""
        keys = self._keys(groups, radices(groups))
        columns = self._columns
        numbers = {f"x{i}": columns.number(v) for i, v in enumerate(variables)}
        for i, variable in enumerate(variables):
            if variable.has_gaps:
                recorded = one_where(~columns.is_missing(variable.reading))
                numbers[f"u{i}"] = recorded.cast(nw.Float64)
        # A literal alone would make a column of one row in some libraries.
        rows = self._lazy.filter(~columns.is_missing(variables[-1].reading))
        weight = nw.lit(1.0)
        if self._weighing is not None:
            weight = columns.value(self._weighing.column).cast(nw.Float64)
        rows = rows.with_columns(**keys, **{_WEIGHT: weight})
        return keys, rows.with_columns(**numbers).select(*keys, _WEIGHT, *numbers)

    def close(self) -> None:
        """Give back what was opened to read the table; it is not read again."""
        if self._relation is not None:
            self._relation.close()

    def _collected(self, rows: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        """Have the engine work; what it makes of the bytes of a file, the file is to blame for."""
        try:
            return rows.collect()
        except Exception as error:
            if self._relation is None:
                raise
            raise self._relation.unreadable(error) from error

    def _one(self, expression: nw.Expr) -> Any:
        value = self._collected(self._lazy.select(expression.alias("one")))["one"][0]
        return 0 if value is None else value


def _of_duckdb(column: str, kind: str) -> str:
    """A column of DuckDB in a type that narwhals knows, and with the values of other libraries."""
    if kind in ("TIME", "TIME_NS"):
        written = f"strftime(DATE '2000-01-01' + CAST({column} AS TIME), '%H:%M:%S.%f')"
        return f"regexp_replace({written}, '\\.000000$', '')"
    if kind.startswith("DECIMAL") and kind.endswith(",0)"):  # DuckDB rounds large ones twice
        return f"CAST(CAST({column} AS VARCHAR) AS DOUBLE)"
    known = {"UUID": "VARCHAR", "TIMESTAMPTZ_NS": "TIMESTAMPTZ"}.get(kind)
    return column if known is None else f"CAST({column} AS {known})"


def inner_names(names: Sequence[str]) -> list[str]:
    """Names by position that mean nothing to any engine, for columns of any names."""
    return [f"column_{position}" for position in range(len(names))]


def _product(kind: str, i: int, j: int) -> nw.Expr:
    """One of the products that `sums_wanted` names."""
    if kind == "first" and i == j:
        return nw.col(f"x{i}") * 1.0
    left, right = {"product": ("x", "x"), "first": ("x", "u"), "both": ("u", "u")}[kind]
    return nw.col(f"{left}{i}") * nw.col(f"{right}{j}")


def _unpacked(counted: nw.DataFrame[Any], bases: Sequence[int]) -> CodedRows:
    names = [f"key_{number}" for number in range(len(split_into_keys(bases)))]
    packed = [as_counts(counted[name]) for name in names]
    weights = as_counts(counted[COUNT])
    more = [as_counts(counted[one]) for one in (_MASS, _SQUARE) if one in counted.columns]
    del counted  # with millions of rows, one copy of them is enough
    return unpack_keys(packed, weights, bases, more)


def as_counts(series: nw.Series[Any]) -> Integers:
    """Whole numbers that an engine counted."""
    return numpy_of(series).astype(np.int64, copy=False)


class RankedColumn:
    """A numeric column without missing values, by parts of its range.

    Of every part the smallest and the largest value and the number of rows are known. Parts that
    hold a wanted rank are cut further, and what was counted is kept for further ranks.
    """

    def __init__(self, rows: nw.LazyFrame[Any], collect: Collect) -> None:
        self._rows, self._collect = rows, collect
        repeats = TIMES in rows.collect_schema().names()
        value, count = nw.col(VALUE), nw.col(TIMES).sum() if repeats else nw.len()
        self._sums = [value.min().alias(_LOW), value.max().alias(_HIGH), count.alias(COUNT)]
        self._low: Array = np.empty(0)
        self._high: Array = np.empty(0)
        self._count = np.empty(0, dtype=np.int64)

    def quantiles(self, shares: Sequence[float | Fraction]) -> list[Any]:
        """The smallest values with at least given shares, 0 to 1, of the rows at or below them."""
        if not len(self._count):
            whole = self._collect(self._rows.select(*self._sums))
            if not whole[COUNT][0]:
                return []
            self._low, self._high, self._count = _parts(whole)
        while True:
            ends = np.cumsum(self._count)
            at = np.searchsorted(ends, answers.quantile_ranks(shares, int(ends[-1])), side="left")
            wide = np.unique(at[self._low[at] != self._high[at]]).tolist()
            if not wide:
                quantiles: list[Any] = self._low[at].tolist()
                return quantiles
            self._cut(wide)

    def _cut(self, parts: list[int]) -> None:
        """Cut the first part of many rows into `N_PARTS`, or all parts into their values."""
        value, bucket = nw.col(VALUE), nw.col(VALUE)
        for part in parts:
            low = max(float(self._low[part]), -WIDEST)
            high = min(float(self._high[part]), WIDEST)
            scale = N_PARTS / (high - low) if high > low else inf
            if self._count[part] > FEW_VALUES and isfinite(scale):  # else values lie too close
                number = value.cast(nw.Float64)
                inside = ((number - low) * scale).floor()
                bucket = (
                    nw.when(number > high)
                    .then(nw.lit(float(N_PARTS + 1)))
                    .otherwise(nw.when(number < low).then(nw.lit(-1.0)).otherwise(inside))
                    .cast(nw.Int64)  # PostgreSQL makes decimals of what is rounded down
                )
                parts = [part]
                break
        within = [
            (value >= low) & (value <= high)
            for low, high in zip(self._low[parts].tolist(), self._high[parts].tolist(), strict=True)
        ]
        rows = self._rows.filter(joined(operator.or_, within)).with_columns(bucket.alias(_BUCKET))
        lows, highs, counts = _parts(self._collect(rows.group_by(_BUCKET).agg(*self._sums)))
        lows = np.concatenate([np.delete(self._low, parts), lows])
        order = np.argsort(lows, kind="stable")
        self._low = lows[order]
        self._high = np.concatenate([np.delete(self._high, parts), highs])[order]
        self._count = np.concatenate([np.delete(self._count, parts), counts])[order]


def _parts(counted: nw.DataFrame[Any]) -> tuple[Array, Array, Integers]:
    """The smallest and the largest value of every part, and its rows."""
    return numpy_of(counted[_LOW]), numpy_of(counted[_HIGH]), as_counts(counted[COUNT])
