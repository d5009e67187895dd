"""Tables in memory: every column, of whatever library, is read once into NumPy arrays.

A query for every column would cost far more than the work itself where tables are small. Text and
flags are kept as positions among their distinct values. Columns of Python objects get their kind
from all of their values: numbers, dates, flags, text, or nothing that can be scored.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import narwhals as nw
import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.messages import Message, Setting, shortened
from misfeat.reading import table_statistics as answers
from misfeat.reading.coders import (
    CodedRows,
    Coder,
    EdgeCoder,
    Kind,
    Reading,
    code_dtype,
    collapse,
    pack_keys,
    radices,
    replaced,
    unpack_keys,
)
from misfeat.reading.table_statistics import GroupSums, ValueCounts, Variable, Weighing, WeightRange
from misfeat.reading.values import COLUMN_NAME, INT64, Value, canonical, check_text, label
from misfeat.runtime.array_types import Array, Flags, Floats, Indices, Integers

FEW_EDGES = 16  # Comparing all values with so few edges is faster than looking each of them up
UNSCORED = (list, dict, set, np.ndarray, bytes, bytearray, memoryview, complex, dt.timedelta)
"""What no library's columns are scored of, whether they have a type for it or hold objects."""
WIDE = (nw.UInt64, nw.Int128, nw.UInt128)  # Integers that 64 bits may not hold
FINER = {("ns", 1): 10**3, ("ps", 1): 10**6, ("fs", 1): 10**9, ("as", 1): 10**12}
MOST_YEARS = 290_000  # From 1970 that 64 bits hold in microseconds
_MISSING = -1  # The position of a text or flag that is missing
_INTEGERS = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32)


@dataclass(frozen=True)
class Column:
    """One column in a form that is quick to code."""

    kind: Kind
    values: Array  # Numbers or datetime64[us]; for text and flags the position in `distinct`
    missing: Flags  # Which rows are missing; what `values` holds there means nothing
    distinct: Array | None = None  # The distinct canonical values of text and flags
    order: tuple[str, ...] | None = None  # The categories in their order, where the type has one

    @classmethod
    def of_numbers(cls, kind: Kind, values: Array) -> "Column":
        """Numbers or moments, missing where they are NaN or NaT."""
        if values.dtype.kind == "i":
            return cls(kind, values, np.zeros(len(values), dtype=bool))
        return cls(kind, values, np.isnat(values) if kind is Kind.TIME else np.isnan(values))

    @classmethod
    def of_positions(
        cls,
        kind: Kind,
        positions: Integers,
        distinct: Sequence[Value],
        order: tuple[str, ...] | None = None,
    ) -> "Column":
        """Texts or flags by their positions among distinct ones, -1 where there is none."""
        known = np.empty(len(distinct), dtype=object)
        known[:] = distinct
        return cls(kind, positions, positions < 0, known, order)

    def read(self, reading: Reading) -> "Column":
        """Leave out what means missing, and read text as numbers where asked to."""
        if self.distinct is None and not reading.missing:
            return self
        if self.distinct is None:
            codes = np.array(reading.missing, dtype=self.values.dtype)
            return Column(self.kind, self.values, self.missing | np.isin(self.values, codes))
        mean_missing = set(reading.missing)
        is_code = np.array([*(value in mean_missing for value in self.distinct), True])
        missing = is_code[self.values]
        if reading.texts:
            stands_for = dict(zip(reading.texts, reading.values, strict=True))
            kind, meant = Kind.NUMBER, [*map(stands_for.get, self.distinct), None]
            if isinstance(reading.values[0], dt.datetime):
                kind = Kind.TIME
            dtype = "datetime64[us]" if kind is Kind.TIME else "float64"
            return Column(kind, np.array(meant, dtype=dtype)[self.values], missing)
        if not reading.as_number:
            return Column(self.kind, self.values, missing, self.distinct)
        numbers = [
            np.nan if is_missing else float(replaced(text, reading.pieces))
            for text, is_missing in zip(self.distinct, is_code, strict=False)
        ]
        return Column(Kind.NUMBER, np.array([*numbers, np.nan])[self.values], missing)

    def present(self) -> Array:
        """What `values` holds where nothing is missing."""
        return self.values[~self.missing] if self.missing.any() else self.values

    def of_rows(self, rows: Flags) -> "Column":
        """Some rows of the column."""
        return Column(self.kind, self.values[rows], self.missing[rows], self.distinct, self.order)


def read_column(values: Array | nw.Series[Any], name: str) -> Column:
    """The column that an array or a series of any library is."""
    if not isinstance(values, np.ndarray):
        return _of_series(values, name)
    match values.dtype.kind:
        case "i":
            return Column.of_numbers(Kind.INTEGER, values)
        case "u" if int(values.max(initial=0)) in INT64:
            return Column.of_numbers(Kind.INTEGER, values.astype(np.int64))
        case "u" | "f":
            return Column.of_numbers(Kind.NUMBER, values.astype(np.float64))
        case "M":
            return _of_moments(values, name)
        case "b":
            return Column.of_positions(Kind.FLAG, values.astype(np.int64), [False, True])
        case "U" | "T" | "O" | "S":
            return _of_objects(values.tolist(), name)
        case "m" if np.isnat(values).all():
            return _of_distinct(Kind.TEXT, [None] * len(values))
    return _unsupported(len(values))


def _of_moments(values: Array, name: str) -> Column:
    """Moments in microseconds; NumPy lets those that these cannot hold stand for others."""
    factor = FINER.get(np.datetime_data(values.dtype))
    if factor is not None:  # by hand: NumPy 2.5 refuses the earliest of them
        numbers = values.astype(np.int64)
        values = np.where(np.isnat(values), numbers, numbers // factor).view("datetime64[us]")
    years = values[~np.isnat(values)].astype("datetime64[Y]").astype(np.int64)
    if len(years) and np.abs(years).max() > MOST_YEARS:
        problem = f"Column {name!r} has moments {MOST_YEARS:,} years from 1970 and more; "
        raise MisfeatError(
            problem + "take them for missing, or make a number of them.", column=name
        )
    return Column.of_numbers(Kind.TIME, values.astype("datetime64[us]", copy=False))


def _unsupported(n_rows: int) -> Column:
    return Column(Kind.UNSUPPORTED, np.zeros(n_rows), np.ones(n_rows, dtype=bool))


def _of_objects(values: list[Any], name: str) -> Column:
    """The column of Python objects: numbers, dates, flags, or labels where types are mixed."""
    kinds = {*map(type, values)}
    if kinds in ({str}, {str, type(None)}):
        check_text(dict.fromkeys(values), f"Column {name!r}: the text", name)
        return _of_distinct(Kind.TEXT, values)
    if kinds in ({float}, {float, type(None)}):
        return Column.of_numbers(Kind.NUMBER, np.array(values, dtype=np.float64))
    if any(isinstance(value, UNSCORED) for value in values):
        return _unsupported(len(values))
    try:
        plain = [canonical(value) for value in values]
    except Exception as error:
        raise MisfeatError(
            f"Column {name!r} holds objects that cannot be read ({type(error).__name__} in "
            "spelling one of them); make numbers, text or flags of them.",
            column=name,
        ) from error
    known = [value for value in plain if value is not None]
    types = {*map(type, known)}
    given = {type(value) for value, one in zip(values, plain, strict=True) if one is not None}
    whole = types == {int} and all(issubclass(one, int | np.integer) for one in given)
    if whole and all(value in INT64 for value in known):
        missing = np.array([value is None for value in plain], dtype=bool)
        return Column(Kind.INTEGER, np.array([v or 0 for v in plain], dtype=np.int64), missing)
    if types and types <= {int, float}:
        return Column.of_numbers(Kind.NUMBER, np.array(plain, dtype=np.float64))
    if types and all(issubclass(t, dt.datetime) for t in types):
        return Column.of_numbers(Kind.TIME, np.array(plain, dtype="datetime64[us]"))
    if types == {bool}:
        return _of_distinct(Kind.FLAG, plain)
    texts = [None if value is None else label(value) for value in plain]
    check_text(texts, f"Column {name!r}: the text", name)
    return _of_distinct(Kind.TEXT, texts)


def _of_distinct(kind: Kind, values: list[Value]) -> Column:
    """Texts or flags, None where there is none."""
    seen = dict.fromkeys(values)
    seen.pop(None, None)
    position = {value: number for number, value in enumerate(seen)} | {None: _MISSING}
    positions = np.fromiter(map(position.__getitem__, values), np.int64, len(values))
    return Column.of_positions(kind, positions, list(seen))


def _of_series(series: nw.Series[Any], name: str) -> Column:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        if hasattr(native.dtype, "pyarrow_dtype"):
            held = native.array.__arrow_array__()
            return _of_series(nw.from_native(held, series_only=True), name)
        if native.dtype == object:  # of which narwhals looks at the first hundred values alone
            from pandas.api.types import infer_dtype

            if infer_dtype(native) not in ("string", "empty"):
                return _of_objects(native.tolist(), name)
    if series.dtype in (nw.Object, nw.Unknown, nw.Time):
        if series.dtype == nw.Time and series.implementation.is_pyarrow():
            # Of nanoseconds, Python's times of day hold no part.
            return _of_objects(native.cast("time64[us]", safe=False).to_pylist(), name)
        return _of_objects(series.to_list(), name)
    match kind := kind_of_type(series.dtype):
        case Kind.TEXT:
            return _of_text(series)
        case Kind.FLAG:
            flags, missing = _without_nulls(series, False)
            positions = np.where(missing, _MISSING, flags.astype(np.int64))
            return Column.of_positions(kind, positions, [False, True])
        case Kind.INTEGER:
            whole, missing = _without_nulls(series, 0)
            return Column(kind, whole.astype(np.int64, copy=False), missing)
        case Kind.NUMBER:
            if series.dtype in WIDE and holds_integers(series.min(), series.max()):
                return _of_series(series.cast(nw.Int64), name)
            if series.dtype == nw.Decimal:  # PyArrow rounds the quotient, not the number
                series = series.cast(nw.String)
            # PyArrow casts no integer that a float would round.
            numbers = series if series.dtype == nw.UInt64 else series.cast(nw.Float64)
            return Column.of_numbers(kind, numpy_of(numbers).astype(np.float64, copy=False))
        case Kind.TIME:
            moments = numpy_of(series)  # in UTC, rounded down to the microsecond
            if moments.dtype == object:
                known = [canonical(value) for value in series.to_list()]
                moments = np.array(known, dtype="datetime64[us]")
            return _of_moments(moments, name)
    if series.null_count() == len(series):  # whatever type a column of nothing has
        return _of_distinct(Kind.TEXT, [None] * len(series))
    return _unsupported(len(series))


def holds_integers(least: Any, greatest: Any) -> bool:
    """Whether 64 bits hold all integers of a column, from its extremes; None where it has none."""
    return all(one is None or one in INT64 for one in map(canonical, (least, greatest)))


def _without_nulls(series: nw.Series[Any], instead: int) -> tuple[Array, Flags]:
    if not series.null_count():
        return numpy_of(series), np.zeros(len(series), dtype=bool)
    if series.implementation.is_pyarrow() and (found := arrow_numbers(series.to_native())):
        return np.where(found[1], instead, found[0]), found[1]
    return series.fill_null(instead).to_numpy(), series.is_null().to_numpy().astype(bool)


def _of_text(series: nw.Series[Any]) -> Column:
    native, dtype = series.to_native(), series.dtype
    order = None
    if series.implementation.is_polars():
        import polars as pl

        texts = native.cast(pl.String)
        values = texts.drop_nulls().unique()
        encoded = texts.cast(pl.Enum(values)).to_physical().cast(pl.Int64)
        positions, distinct = encoded.fill_null(_MISSING).to_numpy(), values.to_list()
        order = tuple(dtype.categories) if isinstance(dtype, nw.Enum) else None
    elif series.implementation.is_pyarrow():
        import pyarrow as pa

        if str(native.type) == "string_view":  # some versions of PyArrow cannot cast it
            native = pa.chunked_array([pa.array(native.to_pylist(), pa.large_string())])
        positions, distinct = np.empty(0, dtype=np.int64), []
        if native.num_chunks:
            is_encoded = pa.types.is_dictionary(native.type)
            encoded = native if is_encoded else native.dictionary_encode()
            encoded = encoded.unify_dictionaries().combine_chunks()
            distinct = encoded.dictionary.to_pylist()
            found = arrow_numbers(encoded.indices.cast(pa.int64()))
            assert found is not None  # noqa: S101
            positions = np.where(found[1], _MISSING, found[0])
        if getattr(native.type, "ordered", False) and all(isinstance(v, str) for v in distinct):
            order = tuple(distinct)
    elif hasattr(native.dtype, "categories"):
        positions, distinct = native.cat.codes.to_numpy(), native.cat.categories.tolist()
        if isinstance(dtype, nw.Enum):
            order = tuple(label(canonical(value)) for value in distinct)
    else:
        # pandas 3.0 factorizes text up to a NUL character, and half characters by chance.
        return _of_distinct(Kind.TEXT, native.to_numpy(dtype=object, na_value=None).tolist())
    if any(isinstance(value, UNSCORED) for value in distinct):
        return _unsupported(len(series))
    labels = [value if isinstance(value, str) else label(canonical(value)) for value in distinct]
    return Column.of_positions(Kind.TEXT, positions.astype(np.int64, copy=False), labels, order)


def as_columns(X: object) -> dict[str, Array]:
    """Name the columns of an array ``x0``, ``x1``, …; keep a mapping's names."""
    if isinstance(X, Mapping):
        if not X:
            raise MisfeatError(answers.NO_COLUMNS)
        for name in X:
            if not isinstance(name, str):
                problem = f"Column names must be text; {shortened(name)} is not."
                raise MisfeatError(problem, remedy="Rename it.", column=name)
        check_text(X, COLUMN_NAME)
        columns = {name: as_array(column, f"Column {name!r}", name) for name, column in X.items()}
        for name, array in columns.items():
            if array.ndim != 1:
                raise MisfeatError(
                    f"Column {name!r} has {array.ndim} dimensions; pass one value per row.",
                    column=name,
                )
        return columns
    array = as_array(X, "X")
    if array.ndim != 2:
        raise MisfeatError(
            f"X has {array.ndim} dimension(s); a table needs two, rows and columns. Put a single "
            "feature into a column of its own."
        )
    return {f"x{i}": array[:, i] for i in range(array.shape[1])}


def as_array(values: Any, what: str, column: str | None = None) -> Array:
    """An array of what was given; what a masked array masks is missing. Messages say what it is."""
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        values = np.ma.getdata(values).astype(object)
        values[mask] = None
    try:
        array = np.asarray(values)
        if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
            # NumPy would spell None and NaN among texts as texts.
            return np.asarray(values, dtype=object)
        return array
    except ValueError as error:
        raise MisfeatError(
            f"{what} has rows of different lengths; make them equal.", column=column
        ) from error


class ArrayTable:
    """A table in memory: arrays or series by name, each read when it is first asked for."""

    def __init__(
        self, sources: Mapping[str, Array | nw.Series[Any]], frame_backend: str | None = None
    ) -> None:
        self.frame_backend = frame_backend
        self.notes: list[Message] = []  # What users should know of how it was read
        self._sources = dict(sources)
        self._read: dict[str, Column] = {}
        self._weighing: Weighing | None = None
        self._rows: Flags | None = None
        lengths = {name: len(source) for name, source in sources.items()}
        self._n_lines = max(lengths.values(), default=0)
        if len({*lengths.values()}) > 1:
            first, *others = lengths
            other = next(name for name in others if lengths[name] != lengths[first])
            raise MisfeatError(
                f"The columns differ in length: {first!r} has {lengths[first]:,}, {other!r} has "
                f"{lengths[other]:,}.",
                remedy="Pass equal lengths.",
                column=other,
            )

    def _column(self, name: str) -> Column:
        if name not in self._read:
            column = read_column(self._sources[name], name)
            self._read[name] = column if self._rows is None else column.of_rows(self._rows)
        return self._read[name]

    def with_column(self, name: str, values: Any, what: str) -> "ArrayTable":
        """Add a column of given values, row by row; messages say what they are."""
        series = nw.dependencies.is_into_series(values)
        source = nw.from_native(values, series_only=True) if series else as_array(values, what)
        if len(source.shape) != 1 or (self._sources and len(source) != self._n_lines):
            raise MisfeatError(
                f"{Setting(what)} has shape {tuple(source.shape)}, but X has {self.n_rows():,} "
                "rows; pass one value per row."
            )
        wider = copy(self)
        wider._n_lines = len(source)
        wider._sources = {**self._sources, name: source}
        wider._read = dict(self._read)
        if wider.kind(name) is Kind.UNSUPPORTED:
            raise MisfeatError(
                f"{Setting(what)} holds values that cannot be scored; pass numbers, text or flags."
            )
        return wider

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self._sources)

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        return self._column(column).kind

    def order(self, column: str) -> tuple[str, ...] | None:
        """The categories of a column in their order, where its type gives them one."""
        return self._column(column).order

    def n_rows(self) -> int:
        """How many rows there are."""
        times = self._frequencies
        return self._n_lines if times is None else int(times.sum())

    def value_counts(self, column: str, limit: int) -> ValueCounts | None:
        """The distinct values and their counts, or None where there are more than `limit`."""
        read = self._column(column)
        values, counts, missing = self._occurring(read)
        if len(counts) > limit:
            return None
        if read.distinct is None and read.kind is not Kind.TIME:
            return ValueCounts(values, counts, missing)
        spelled = values if read.distinct is None else read.distinct[values]
        counted = answers.tally(spelled, counts, read.kind)
        return ValueCounts(counted.values, counted.counts, missing)

    def _occurring(self, column: Column) -> tuple[Array, Integers, int]:
        """Distinct values of a column, how often each occurs, and how often none."""
        times, present = self._frequencies, column.present()
        if times is None:
            n_missing = int(column.missing.sum())
            if present.dtype.kind == "i" and len(present):
                lowest, highest = int(present.min()), int(present.max())
                if highest - lowest < len(present):  # counting is faster than sorting
                    counts = np.bincount(present.astype(np.int64) - lowest)
                    occurring = np.flatnonzero(counts)
                    return occurring + lowest, counts[occurring], n_missing
            values, counts = np.unique(present, return_counts=True)
            return values, counts.astype(np.int64, copy=False), n_missing
        values, position = np.unique(present, return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, position, times[~column.missing])
        return values, counts, int(times[column.missing].sum())

    def count_missing(self, reading: Reading) -> int:
        """How many rows are missing."""
        missing = self._column(reading.column).read(reading).missing
        times = self._frequencies
        return int(missing.sum() if times is None else times[missing].sum())

    def quantiles(self, reading: Reading, shares: Sequence[float | Fraction]) -> list[float]:
        """The smallest values of a numeric column with such shares of the rows at or below them."""
        values, counts, _ = self._occurring(self._column(reading.column).read(reading))
        return answers.quantiles_of_counts(values, counts, shares)

    def count_codes(self, coders: Sequence[Coder]) -> CodedRows:
        """Code every row and collapse equal ones."""
        weights, *more = self._counts()
        return collapse([self._codes(coder) for coder in coders], weights, radices(coders), more)

    def _counts(self) -> list[Integers]:
        """What every line counts: rows, and with sampling weights these and their squares."""
        weighing, times = self._weighing, self._frequencies
        if weighing is None:
            return [np.ones(self._n_lines, dtype=np.int64)]
        if times is not None:
            return [times]
        weight = self._column(weighing.column).values.astype(np.float64)
        sums = [weight > 0.0, weight * weighing.scale, weight * weight * weighing.square_scale]
        return [np.ceil(one).astype(np.int64) for one in sums]

    @property
    def _frequencies(self) -> Integers | None:
        if self._weighing is None or not self._weighing.frequency:
            return None
        return self._column(self._weighing.column).values.astype(np.int64)

    def weight_range(self, column: str) -> WeightRange:
        """What is to be known of a numeric column before its values are taken for weights."""
        read = self._column(column)
        if read.missing.any():
            return WeightRange(int(read.missing.sum()), np.nan, np.nan, whole=False)
        values = read.values.astype(np.float64)
        whole = bool((values == np.floor(values)).all())
        lightest = float(values[values > 0].min(initial=np.inf))
        return WeightRange(0, float(values.min()), float(values.max()), whole, lightest)

    def weighed(self, weighing: Weighing) -> "ArrayTable":
        """The same table, whose rows count as a column says."""
        table = copy(self)
        table._weighing = weighing
        weighted = self._column(weighing.column).values > 0
        if not weighted.all():
            table._rows, table._n_lines = weighted, int(weighted.sum())
            table._read = {name: column.of_rows(weighted) for name, column in self._read.items()}
        return table

    def sum_products(self, groups: Sequence[Coder], variables: Sequence[Variable]) -> GroupSums:
        """Sum products of variables over the rows of each combination of group codes."""
        held = self.number_rows(groups, variables)
        bases = [1, *radices(groups)]  # the first for a table without groups
        codes, weight = [np.zeros(len(held.weights), np.int8), *held.codes], held.weights
        distinct, group = np.unique(pack_keys(codes, bases), axis=1, return_inverse=True)
        rows = np.bincount(group.ravel(), weight, distinct.shape[1]).astype(np.float64)
        u = (~np.isnan(held.values)).astype(np.float64)
        x = np.nan_to_num(held.values, posinf=np.inf, neginf=-np.inf)
        factors = {"product": (x, x), "first": (x, u), "both": (u, u)}
        with np.errstate(over="ignore"):  # a column whose squares are too large is refused later
            sums = {
                (kind, i, j): np.bincount(
                    group.ravel(), weights=weight * factors[kind][0][i] * factors[kind][1][j]
                ).astype(np.float64)
                for kind, i, j in answers.sums_wanted(variables)
            }
        no_counts = np.zeros(len(rows), dtype=np.int64)
        codes_of = unpack_keys(list(distinct), no_counts, bases).codes[1:]
        return answers.group_sums(codes_of, rows, variables, sums)

    def number_rows(
        self, groups: Sequence[Coder], variables: Sequence[Variable]
    ) -> answers.NumberRows:
        """The rows with a target: the codes of their groups, weights, and variables as numbers."""
        target = variables[-1].reading
        present = ~self._column(target.column).read(target).missing
        codes = [self._codes(coder)[present] for coder in groups]
        weights = np.ones(int(present.sum()))
        if self._weighing is not None:
            weights = self._column(self._weighing.column).values[present].astype(np.float64)
        values = np.array([self._numbers(variable)[present] for variable in variables])
        return answers.NumberRows(
            np.array(codes, np.int64).reshape(len(groups), len(weights)), weights, values
        )

    def close(self) -> None:
        """Nothing was opened."""

    def _numbers(self, variable: Variable) -> Floats:
        """The values of a variable, NaN where missing."""
        read = self._column(variable.reading.column).read(variable.reading)
        values = read.values if variable.coder is None else self._codes(variable.coder)
        return np.where(read.missing, np.nan, values.astype(np.float64) - variable.centre)

    def _codes(self, coder: Coder) -> Indices:
        codes = np.full(self._n_lines, len(coder.labels), dtype=code_dtype(radices([coder])))
        column = self._column(coder.reading.column).read(coder.reading)
        values = column.present()
        rows = ~column.missing if len(values) < len(codes) else slice(None)
        if isinstance(coder, EdgeCoder):
            # Edges between integers may be fractions; dates are compared as such.
            dtype = values.dtype if values.dtype.kind == "M" else None
            edges = np.array(coder.edges, dtype=dtype)
            if len(edges) > FEW_EDGES:
                codes[rows] = np.searchsorted(edges, values, side="left")
            else:
                below = np.zeros(len(values), dtype=np.uint8)
                for edge in edges:
                    below += values > edge
                codes[rows] = below
        elif column.distinct is not None:
            other = len(coder.labels) - 1
            position = {value: code for code, value in enumerate(coder.values)}
            code_of = [position.get(value, other) for value in column.distinct]
            codes[rows] = np.array(code_of, dtype=codes.dtype)[values]
        return codes


def kind_of_type(dtype: nw.dtypes.DType) -> Kind:
    """What a column of a type holds."""
    if dtype in _INTEGERS:
        return Kind.INTEGER
    if dtype.is_numeric():
        return Kind.NUMBER
    if dtype == nw.Boolean:
        return Kind.FLAG
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return Kind.TEXT
    return Kind.TIME if dtype in (nw.Date, nw.Datetime) else Kind.UNSUPPORTED


def numpy_of(series: nw.Series[Any]) -> Array:
    """A series as an array; numbers of PyArrow without it, which would import pandas for that."""
    found = arrow_numbers(series.to_native()) if series.implementation.is_pyarrow() else None
    if found is None or (found[1].any() and found[0].dtype == bool):
        return np.asarray(series.to_numpy())
    values, missing = found
    return np.where(missing, np.nan, values) if missing.any() else values


def arrow_numbers(native: Any) -> tuple[Array, Flags] | None:
    """Numbers or flags of PyArrow, and where there is none; None of other types."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kinds = pa.types
    fixed = kinds.is_integer(native.type) or kinds.is_boolean(native.type)
    if not fixed and native.type not in (pa.float32(), pa.float64()):
        return None

    def held(array: Any) -> Array:
        parts = []
        for chunk in getattr(array, "chunks", [array]):
            content, first = chunk.buffers()[1], chunk.offset
            if kinds.is_boolean(chunk.type):
                bits = np.frombuffer(content or b"", np.uint8)
                values = np.unpackbits(bits, bitorder="little").astype(bool)
            else:
                values = np.frombuffer(content or b"", chunk.type.to_pandas_dtype())
            parts.append(values[first : first + len(chunk)])
        return np.concatenate(parts) if parts else np.empty(0, array.type.to_pandas_dtype())

    return held(native), held(pc.is_null(native))
