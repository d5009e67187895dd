"""Frames of every type, drawn by the strategies of hypothesis, polars and PyArrow themselves.

A frame is fitted as its library holds it and as others do: the codes are the same, or an error of
ours comes out. A column that a library cannot take over is left out of the comparison.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from hypothesis.extra import pandas as pdst
from polars.testing import parametric

from misfeat.cohorts import Coding, build_cohorts
from tests.attacks.tally import Tally
from tests.fuzz.cases import a_case
from tests.fuzz.promises import hold
from tests.fuzz.tables import GROUP, TARGET

AUDITED = ("columns", "notes")
"""What may differ: libraries lose the order of categories on the way, and their types."""
SIZES = (1, 5, 30, 60, 150, 400, 5000)
LATE = (1, 2.5, True, "x", "1.5", dt.date(2020, 1, 1), Decimal("2.50"), 2**60, [1], b"x")
ARROW = (
    *(
        pa.int8(),
        pa.uint64(),
        pa.float16(),
        pa.float32(),
        pa.decimal128(38, 9),
        pa.decimal128(5, 2),
    ),
    *(pa.decimal256(50, 3), pa.date32(), pa.date64(), pa.timestamp("ns"), pa.timestamp("s", "UTC")),
    *(pa.timestamp("ms", "Europe/Berlin"), pa.time32("s"), pa.time64("ns"), pa.duration("ms")),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.bool_(), pa.null()),
    *(pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int8(), pa.int64())),
    *(pa.list_(pa.int32()), pa.struct([("a", pa.int8())])),
)
NUMPY = (
    npst.boolean_dtypes() | npst.integer_dtypes() | npst.unsigned_integer_dtypes(),
    npst.floating_dtypes() | npst.complex_number_dtypes(),
    npst.datetime64_dtypes(min_period="ns", max_period="s"),
    npst.timedelta64_dtypes(min_period="ns", max_period="s"),
    npst.unicode_string_dtypes() | npst.byte_string_dtypes(),
)
PANDAS = ("Int8", "UInt64", "Float32", "boolean", "string", "category", "object", "datetime64[s]")


def with_roles(draw: Any, n_rows: int) -> dict[str, np.ndarray]:
    """A group in blocks and a target."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    group = np.sort(rng.integers(0, draw(st.integers(1, 3)), n_rows))
    return {GROUP: group, TARGET: rng.integers(0, draw(st.integers(2, 4)), n_rows)}


@st.composite
def of_polars(draw: Any) -> pl.DataFrame:
    """Columns of any type of polars."""
    about = {"min_cols": 1, "max_cols": 4, "min_size": 1, "max_size": 60}
    frame = draw(parametric.dataframes(**about, excluded_dtypes=[pl.Enum]))
    return frame.with_columns(**with_roles(draw, len(frame)))


@st.composite
def of_arrow(draw: Any) -> pa.Table:
    """A random schema of PyArrow, with gaps, here and there or in blocks."""
    n_rows = draw(st.sampled_from(SIZES))
    roles = with_roles(draw, n_rows)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = {}
    for name, kind in enumerate(draw(st.lists(st.sampled_from(ARROW), min_size=1, max_size=4))):
        numbers = rng.integers(0, rng.choice((2, 5, 100)), n_rows)
        gaps = roles[GROUP] == 0 if rng.random() < 0.3 else rng.random(n_rows) < 0.2
        values = [None if g else _of_type(kind, int(n)) for n, g in zip(numbers, gaps, strict=True)]
        columns[f"x{name}"] = pa.array(values, kind)
    return pa.table({**columns, **roles})


def _of_type(kind: pa.DataType, number: int) -> Any:
    """A value of a type, made of a number."""
    if pa.types.is_dictionary(kind):
        return _of_type(kind.value_type, number)
    if pa.types.is_decimal(kind):
        return Decimal(number) / 100
    if pa.types.is_temporal(kind):
        moment = dt.datetime(1999, 12, 31) + dt.timedelta(hours=7 * number)
        if pa.types.is_duration(kind):
            return dt.timedelta(hours=number)
        return moment.time() if pa.types.is_time(kind) else moment
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return bool(number % 2) if pa.types.is_boolean(kind) else None
    if pa.types.is_list(kind) or pa.types.is_struct(kind):
        return [number] if pa.types.is_list(kind) else {"a": number}
    if "string" in str(kind) or "binary" in str(kind):
        return str(number) if "string" in str(kind) else b"%d" % number
    return np.float16(number) if kind == pa.float16() else number


@st.composite
def of_pandas(draw: Any) -> pd.DataFrame:
    """Columns of NumPy's types, of pandas' own, and of objects whose kind changes late."""
    columns = [
        pdst.column(f"x{at}", dtype=draw(st.one_of(NUMPY))) for at in range(draw(st.integers(1, 3)))
    ]
    frame = draw(pdst.data_frames(columns, index=pdst.range_indexes(min_size=1, max_size=40)))
    frame = pd.concat([frame] * draw(st.sampled_from((1, 1, 4, 100))), ignore_index=True)
    n_rows = len(frame)
    roles = with_roles(draw, n_rows)
    first, late = (draw(st.sampled_from((None, float("nan"), *LATE))) for _ in range(2))
    changed = np.arange(n_rows) >= draw(st.sampled_from((n_rows // 3, 101, n_rows - 1)))
    objects = np.empty(n_rows, dtype=object)
    objects[:] = [late if change else first for change in changed]
    frame["late"] = objects
    kind = draw(st.sampled_from(PANDAS))
    frame["own"] = pd.Series(roles[TARGET] % 2).where(roles[GROUP] != 1).astype(kind)
    return frame.assign(**roles)


def holders_of(frame: Any) -> dict[str, Callable[[], Any]]:
    """How each library holds a frame, where it can."""
    if isinstance(frame, pd.DataFrame):
        mapping = {name: frame[name].to_numpy() for name in frame}
        return {
            "pandas": lambda: frame,
            "rows twice": lambda: frame.iloc[::-1],
            "": lambda: mapping,
        }

    def table() -> pa.Table:
        return frame if isinstance(frame, pa.Table) else frame.to_arrow()

    return {
        "as drawn": lambda: frame,
        "pyarrow": table,
        "polars": lambda: pl.from_arrow(table()),
        "pandas": lambda: table().to_pandas(types_mapper=pd.ArrowDtype),
        "duckdb": lambda: duckdb.connect().from_arrow(table()),
    }


def drawn_frame(strategy: st.SearchStrategy[Any], tally: Tally, held: Any) -> Callable[[], None]:
    """A test that fits frames of a strategy in every library."""

    @settings(held)
    @given(strategy)
    def check(frame: Any) -> None:
        first, refused = None, False
        about = repr(frame.to_dict("list") if isinstance(frame, pd.DataFrame) else frame)[:2000]
        for name, make in holders_of(frame).items():
            try:
                table = make()
            except (Exception, pl.exceptions.PanicException):  # noqa: S112 (it lacks a type)
                continue
            answered = first is not None
            with a_case(f"frame, {name}", tally, about, answered=answered) as case:
                own = build_cohorts(table, TARGET, groups=GROUP, coding=Coding(min_rows=1))
                first = first or own
                hold(not refused, "refused as others", name)
                others = {one: getattr(first, one) for one in AUDITED}
                hold(replace(own, **others).equals(first), "the same codes", name, own, first)
            refused = case.refused is not None

    return check
