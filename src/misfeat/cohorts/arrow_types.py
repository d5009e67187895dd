"""Columns of PyArrow in types that it holds but hardly computes with, brought to plain ones.

PyArrow filters no views of text, and casts neither whole numbers beyond 2**53 to floats nor
nanoseconds to microseconds, since that rounds. Every other library does, and so do we here.
"""

from __future__ import annotations

import sys
from typing import Any


def with_plain_types(native: Any) -> Any:
    """A table of PyArrow, or of pandas with columns of PyArrow, in types that can be computed with.

    What is of another library is returned as it is.
    """
    pa = sys.modules.get("pyarrow")
    if pa is None:
        return native
    if isinstance(native, pa.Table):
        for position, field in enumerate(native.schema):
            plain = _plain(native.column(position))
            if plain is not None:
                native = native.set_column(position, field.name, plain)
        return native
    pd = sys.modules.get("pandas")
    if pd is None or not isinstance(native, pd.DataFrame):
        return native
    held = {
        position: _plain(native.iloc[:, position].array.__arrow_array__())
        for position, dtype in enumerate(native.dtypes)
        if isinstance(dtype, pd.ArrowDtype)
    }
    changed = {position: plain for position, plain in held.items() if plain is not None}
    if changed:
        native = native.copy(deep=False)
    for position, plain in changed.items():
        native.isetitem(position, pd.arrays.ArrowExtensionArray(plain))
    return native


def dictionary_order(table: Any, column: str) -> tuple[str, ...] | None:
    """The categories of a column of a table of PyArrow in their order, where they have one."""
    import pyarrow as pa

    held = table.column(column)
    if not pa.types.is_dictionary(held.type) or not held.type.ordered or not held.num_chunks:
        return None
    categories = held.unify_dictionaries().chunk(0).dictionary.to_pylist()
    return tuple(categories) if all(isinstance(one, str) for one in categories) else None


def order_of(values: Any) -> tuple[str, ...] | None:
    """The categories of values given by themselves in their order, where they have one."""
    dtype = getattr(values, "dtype", None)
    ordered = getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum"
    return tuple(map(str, dtype.categories)) if ordered and dtype is not None else None


def _plain(column: Any) -> Any | None:
    """A column in a plain type; None where it has one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if str(kind) == "string_view":  # older versions have no such type
        try:
            return column.cast(pa.large_string())
        except pa.ArrowNotImplementedError:  # some of those that have it cannot cast it
            return pa.chunked_array([pa.array(column.to_pylist(), pa.large_string())])
    if pa.types.is_uint64(kind):
        return column.cast(pa.float64(), safe=False)
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        # Rounded down before 1970, too, as in other libraries; a cast rounds to zero. As plain
        # moments, for some versions do not know zones without a name.
        moments = column.cast(pa.int64()).cast(pa.timestamp("ns"))
        floored = pc.floor_temporal(moments, unit="microsecond").cast(pa.timestamp("us"))
        return floored.cast(pa.int64()).cast(pa.timestamp("us", kind.tz))
    return None
