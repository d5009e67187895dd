"""Results of PostgreSQL, packed by the server: a column comes as one run of bytes.

Ibis fetches rows, and psycopg makes a Python object of every value; of a million values that takes
longer than the server takes to count them. A cursor, which Ibis uses for that, also keeps the
server from working in parallel. Here the server strings the values of each column together as
bytes, and NumPy reads them as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NUMBERS = {
    "integer": ("int8send(COALESCE({column}, 0)::int8)", np.dtype(">i8")),
    "number": ("float8send(COALESCE({column}, 0)::float8)", np.dtype(">f8")),
    "flag": ("boolsend(COALESCE({column}, FALSE))", np.dtype("?")),
}
# Of texts, CONCAT keeps the blanks at the end that a cast would take from fixed lengths.
_BYTES = "convert_to(CONCAT({column}), 'UTF8')"
_LENGTH = f"int4send(octet_length({_BYTES}))"
_NULL = "boolsend({column} IS NULL)"


def collected(rows: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Have an engine work, and fetch what it found in the fastest way there is."""
    if rows.implementation.is_ibis():
        packed = _packed(rows.to_native())
        if packed is not None:
            return nw.from_native(packed, eager_only=True)
    return rows.collect()


def _packed(query: Any) -> Any:
    """The result of a query as a PyArrow table; None where it has to be fetched row by row."""
    types = query.schema()
    kinds = [kind for dtype in types.values() if (kind := _kind(dtype)) is not None]
    engine = query.get_backend()
    if engine.name != "postgres" or len(kinds) < len(types):
        return None
    import psycopg

    sql = _packing(engine.compile(query), kinds)
    try:
        with engine.con.transaction(), engine.con.cursor(binary=True) as cursor:
            runs = cursor.execute(sql).fetchone()
    except psycopg.Error:
        # More than the gigabyte that a value may have, or what Ibis has to send ahead; if it is
        # something else, Ibis runs into it as well.
        return None
    return _table([run or b"" for run in runs], kinds, types.to_pyarrow())


def _kind(dtype: Any) -> str | None:
    """What a column of a result holds; None for what is not packed."""
    if dtype.is_integer():
        return "integer"
    if dtype.is_floating():
        return "number"
    if dtype.is_boolean():
        return "flag"
    return "text" if dtype.is_string() else None


def _packing(query: str, kinds: Sequence[str]) -> str:
    """SQL that strings the columns of a query together: nulls, then values, of each."""
    wanted = []
    for number, kind in enumerate(kinds):
        sent = [_LENGTH, _BYTES] if kind == "text" else [_NUMBERS[kind][0]]
        column = f"c{number}"
        wanted += [f"STRING_AGG({one}, ''::bytea)".format(column=column) for one in (_NULL, *sent)]
    names = ", ".join(f"c{number}" for number in range(len(kinds)))
    return f"SELECT {', '.join(wanted)} FROM ({query}) AS packed({names})"  # noqa: S608


def _table(runs: list[bytes], kinds: Sequence[str], schema: Any) -> Any:
    import pyarrow as pa

    left = iter(runs)
    columns = []
    for kind, field in zip(kinds, schema, strict=True):
        null = np.frombuffer(next(left), dtype=bool)
        if kind == "text":
            made = _texts(np.frombuffer(next(left), dtype=">i4"), next(left), null)
        else:
            values = np.frombuffer(next(left), dtype=_NUMBERS[kind][1])
            made = pa.array(values.astype(values.dtype.newbyteorder("=")), mask=null)
        columns.append(made.cast(field.type))
    return pa.Table.from_arrays(columns, names=schema.names)


def _texts(lengths: NDArray[np.integer], text: bytes, null: NDArray[np.bool_]) -> Any:
    """Texts that stand one behind the other, as a PyArrow array."""
    import pyarrow as pa

    ends = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths, out=ends[1:])
    bits = np.packbits(~null, bitorder="little")
    held = [pa.py_buffer(one) for one in (ends, text, bits)]
    return pa.StringArray.from_buffers(len(lengths), *held)
