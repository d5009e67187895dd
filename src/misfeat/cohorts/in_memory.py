"""Tables that pandas, polars or PyArrow hold in memory: each column is read once, into an array.

A query for every column would cost far more than the work itself where tables are small. Kinds of
columns, and what their values are compared as, are those of `ColumnExpressions`, so that every
code comes out the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np

from misfeat.cohorts.arrays import ArrayTable
from misfeat.cohorts.arrow_types import dictionary_order, order_of
from misfeat.cohorts.coders import Kind
from misfeat.cohorts.dataframes import EAGER_LIBRARIES, open_frame
from misfeat.cohorts.held import Held
from misfeat.cohorts.values import canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.expressions import ColumnExpressions
    from misfeat.cohorts.weighing import Weighing

_NO_TEXT = -1


def is_in_memory(X: Any) -> bool:
    """Whether something is a dataframe that is read into arrays."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        return False  # two columns share a name, which is refused where it is opened
    return isinstance(frame, nw.DataFrame) and str(frame.implementation) in EAGER_LIBRARIES


class InMemoryTable(ArrayTable):
    """A table that pandas, polars or PyArrow holds in memory."""

    def __init__(self, native: Any) -> None:
        opened, expressions = open_frame(native)
        frame = cast("nw.DataFrame[Any]", opened)
        self._frame, self._expressions = frame, expressions
        self._columns = _ReadOnce(frame, expressions)
        self._n_rows = len(frame)
        self.frame_backend = str(frame.implementation)

    def _n_lines(self) -> int:
        return self._n_rows

    def order(self, column: str) -> tuple[str, ...] | None:
        """The categories of a column in their order, where its type gives them one."""
        if column not in self._expressions.inner:
            return super().order(column)  # it was added
        if self._frame.implementation.is_pyarrow():
            return dictionary_order(self._frame.to_native(), self._expressions.inner[column])
        order, held = self._expressions.order(column), self._columns[column]
        if order is None or held.distinct is None or not self._frame.implementation.is_pandas():
            return order
        return tuple(held.distinct.tolist())  # intervals and numbers as text, too

    def weighed(self, weighing: Weighing) -> ArrayTable:
        """The same table, whose rows count as a column says."""
        table = cast("InMemoryTable", super().weighed(weighing))
        table._n_rows = len(table._columns[weighing.column].values)
        return table

    def with_column(self, name: str, values: Any, what: str) -> ArrayTable:
        """Add a column of given values, row by row; messages say what they are."""
        order = order_of(values)
        if nw.dependencies.is_into_series(values):
            values = nw.from_native(values, series_only=True).to_numpy()
        return super().with_column(name, values, what).with_order(name, order)


class _ReadOnce(Mapping[str, Held]):
    """The columns of a frame, each read when it is first asked for."""

    def __init__(self, frame: nw.DataFrame[Any], expressions: ColumnExpressions) -> None:
        self._frame, self._expressions = frame, expressions
        self._read: dict[str, Held] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._expressions.inner)

    def __len__(self) -> int:
        return len(self._expressions.inner)

    def __getitem__(self, column: str) -> Held:
        if column not in self._read:
            self._read[column] = self._held(column)
        return self._read[column]

    def _held(self, column: str) -> Held:
        match kind := self._expressions.kind(column):
            case Kind.UNSUPPORTED:
                return Held.unsupported(len(self._frame))
            case Kind.TEXT:
                return Held.of_positions(kind, *_text(self._series(column)))
            case Kind.FLAG:
                flags, missing = _without_nulls(self._compared(column), False)
                positions = np.where(missing, _NO_TEXT, flags.to_numpy().astype(np.int64))
                return Held.of_positions(kind, positions, [False, True])
            case Kind.INTEGER:
                whole, missing = _without_nulls(self._compared(column, nw.Int64()), 0)
                return Held(kind, whole.to_numpy().astype(np.int64, copy=False), missing)
            case Kind.NUMBER:
                numbers = self._compared(column, nw.Float64()).to_numpy()
                numbers = numbers.astype(np.float64, copy=False)
                return Held(kind, numbers, np.isnan(numbers))
            case Kind.TIME:
                moments = _moments(self._compared(column, nw.Datetime("us")))
                return Held(kind, moments, np.isnat(moments))

    def _compared(self, column: str, dtype: nw.dtypes.DType | None = None) -> nw.Series[Any]:
        """A column in the type that it is compared in; nothing is done where it is of that type."""
        inner = self._expressions.inner[column]
        if dtype is None or self._expressions.schema[inner] == dtype:
            return self._series(column)
        return self._frame.select(self._expressions.value(column).alias(inner)).get_column(inner)

    def _series(self, column: str) -> nw.Series[Any]:
        return self._frame.get_column(self._expressions.inner[column])


def _without_nulls(series: nw.Series[Any], instead: int) -> tuple[nw.Series[Any], NDArray[Any]]:
    if not series.null_count():
        return series, np.zeros(len(series), dtype=bool)
    return series.fill_null(instead), series.is_null().to_numpy().astype(bool)


def _moments(series: nw.Series[Any]) -> NDArray[np.datetime64]:
    """Dates and times in UTC, to the microsecond."""
    dtype = series.dtype
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    moments = series.to_numpy()
    if moments.dtype == object:
        moments = np.array([canonical(value) for value in series.to_list()], dtype="datetime64[us]")
    return moments.astype("datetime64[us]", copy=False)


def _text(series: nw.Series[Any]) -> tuple[NDArray[np.int64], list[str]]:
    """The position of every text among the distinct ones, -1 where there is none, and these."""
    native = series.to_native()
    if series.implementation.is_polars():
        return _text_of_polars(native)
    if series.implementation.is_pyarrow():
        return _text_of_pyarrow(native)
    if hasattr(native.dtype, "pyarrow_dtype"):
        return _text_of_pyarrow(native.array.__arrow_array__())
    if hasattr(native.dtype, "categories"):
        texts = nw.from_native(native.cat.categories.to_series(), series_only=True)
        return native.cat.codes.to_numpy().astype(np.int64), texts.cast(nw.String).to_list()
    positions, distinct = native.factorize()
    return positions.astype(np.int64, copy=False), distinct.tolist()


def _text_of_polars(native: Any) -> tuple[NDArray[np.int64], list[str]]:
    import polars as pl

    texts = native.cast(pl.String)
    distinct = (texts.drop_nulls() if texts.has_nulls() else texts).unique()
    positions = texts.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64)
    if texts.has_nulls():
        positions = positions.fill_null(_NO_TEXT)
    return positions.to_numpy(), distinct.to_list()


def _text_of_pyarrow(native: Any) -> tuple[NDArray[np.int64], list[str]]:
    import pyarrow as pa

    if pa.types.is_dictionary(native.type):
        native = native.cast(native.type.value_type)
    encoded = native.dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # of no chunks at all
        return np.empty(0, dtype=np.int64), []
    positions = encoded.indices.cast(pa.int64()).fill_null(_NO_TEXT)
    return positions.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()
