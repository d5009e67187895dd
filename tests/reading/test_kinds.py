"""What a column holds follows from all of its values, whichever library holds them and how."""

import datetime as dt
import random
import warnings
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat import MisfeatError, MisfeatWarning, SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from misfeat.reading.values import MissingCodes, canonical, label, read_number
from tests.cohorts.tables import audit

MONDAY = dt.datetime(2024, 1, 1, 9)
IN_UTC = [dt.datetime(2024, 1, day, tzinfo=dt.UTC) for day in (1, 2, 3)]
KINDS = {
    "integer": (pa.int8(), lambda r: r.choice([0, 1, 2, 7, -4])),
    "large": (pa.int64(), lambda r: r.choice([2**53, 2**53 + 1, -(2**62), 5])),
    "unsigned": (pa.uint64(), lambda r: r.choice([2**53 + 1, 2**63, 2**64 - 1, 1])),
    "float": (pa.float64(), lambda r: r.choice([0.5, -1e10, 0.1, 3.0, float("inf"), -0.0])),
    "short float": (pa.float32(), lambda r: r.choice([0.5, -1.25, 3.0])),
    "flag": (pa.bool_(), lambda r: r.random() < 0.5),
    "text": (pa.string(), lambda r: r.choice(["a", "c d", "é", "$3", "12%"])),
    "view of text": (pa.string_view(), lambda r: r.choice(["u", "v", "a longer text than fits"])),
    "date": (pa.date32(), lambda r: MONDAY.date() + dt.timedelta(r.randrange(5))),
    "category": (pa.dictionary(pa.int32(), pa.string()), lambda r: r.choice(["b", "a", "c 10"])),
    "moment": (pa.timestamp("us"), lambda r: MONDAY + dt.timedelta(hours=r.randrange(9))),
    "nanoseconds": (pa.timestamp("ns"), lambda r: MONDAY + dt.timedelta(hours=r.randrange(9))),
    "zone": (pa.timestamp("ms", "Asia/Tokyo"), lambda r: r.choice(IN_UTC)),
    "decimal": (pa.decimal128(12, 2), lambda r: Decimal(r.randrange(-999, 999)) / 100),
    "whole decimal": (pa.decimal128(38, 0), lambda r: Decimal(r.randrange(10**25))),
    "time of day": (
        pa.time64("us"),
        lambda r: dt.time(r.randrange(24), 5, 0, r.choice([0, 10**5])),
    ),
    "duration": (pa.duration("us"), lambda r: dt.timedelta(seconds=r.randrange(99))),
    "bytes": (pa.binary(), lambda r: r.choice([b"a", b"\xff"])),
    "list": (pa.list_(pa.int64()), lambda r: [1] * r.randrange(3)),
}
GAPS = (None, float("nan"), pd.NA, pd.NaT)


@st.composite
def tables(draw):
    """A column of objects, of one kind or of two; and the same in libraries that have the type."""
    r = random.Random(draw(st.integers(0, 2**32)))
    n, kind = draw(st.sampled_from([1, 7, 60, 250, 1200])), draw(st.sampled_from(sorted(KINDS)))
    dtype, make = KINDS[kind]
    pool = [make(r) for _ in range(draw(st.sampled_from([1, 3, 200])))]
    values, start = [r.choice(pool) for _ in range(n)], r.choice([0, 120, n // 2])
    before = draw(st.sampled_from([None, None, *sorted(KINDS)]))
    gap = draw(st.sampled_from(GAPS))
    for row in range(min(start, n)):
        values[row] = gap if before is None else KINDS[before][1](r)
    objects = np.empty(n, dtype=object)
    objects[:] = values
    rest = {"g": np.sort(np.arange(n) % 3), "y": np.arange(n) % 2, "z": np.arange(n) % 5}
    held = [{"x": objects, **rest}, pd.DataFrame({"x": pd.Series(objects, dtype=object), **rest})]
    if before is None:
        typed = pa.array([None if value is gap else value for value in values], dtype)
        table = pa.table({"x": typed, **rest})
        frame = pl.from_arrow(table)
        held += [table, frame, frame.lazy(), table.to_pandas(types_mapper=pd.ArrowDtype)]
        held += [duckdb.from_arrow(table), pa.concat_tables([table[:7], table[7:]])]
    return held


def answer(X, target, groups):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfeatWarning)
        try:
            coding = Coding(min_rows=1, bins=3, max_categories=4)
            return build_cohorts(X, target, groups=groups, coding=coding)
        except MisfeatError as error:
            return str(error)


@settings(max_examples=40, deadline=None)
@given(held=tables(), role=st.sampled_from([("y", "g"), ("y", "x"), ("x", "g")]))
def test_a_column_is_the_same_as_objects_and_in_every_library(held, role):
    first, *others = (answer(X, *role) for X in held)
    for other in others:
        assert other == first if isinstance(first, str) else first.equals(other)
    assert not isinstance(first, str) or "'x'" in first or "'y'" in first


def test_decimals_are_the_nearest_floats():
    values = [Decimal("3.30"), Decimal("-3.30"), Decimal("1.10"), Decimal("10.07")] * 20
    table = pa.table({"x": pa.array(values, pa.decimal128(12, 2)), "y": [0, 1, 1, 0, 1] * 16})
    frame = pl.from_arrow(table)
    for X in (table, frame, frame.lazy(), table.to_pandas(), duckdb.from_arrow(table)):
        cut = build_cohorts(X, "y", groups={"x": [3.3]})
        assert [cohort.weights.sum() for cohort in cut] == [60, 20]
        assert build_cohorts(X, "y", groups="x").names == ("x=-3.3", "x=1.1", "x=3.3", "x=10.07")


def test_moments_that_microseconds_cannot_hold_are_refused_by_their_column():
    days = np.array(["363070-07-09", "NaT", "2020-01-01"] * 20, dtype="datetime64[ms]")
    table = {"x": days, "y": [0, 1, 1] * 20}
    for X in (table, pd.DataFrame(table), pl.DataFrame(table)):
        with pytest.raises(MisfeatError, match="'x' has moments 290,000 years from 1970"):
            build_cohorts(X, "y")


def test_integers_stay_apart_where_floats_would_merge_them():
    for first in (9007199254740992, 4000000000000000, -(2**63), 10**30):
        integers = [first + i % 2 for i in range(60)]
        held = [pd.Series([str(one) for one in integers])]
        if first < 2**63:
            held += [pd.Series([*integers[:-1], None], dtype=kind) for kind in (object, "Int64")]
        for x in held:
            found = build_cohorts(pd.DataFrame({"x": x, "y": [0, 1, 1] * 20}), "y")
            assert {*found.categories[0][:2]} == {str(first), str(first + 1)}


@pytest.mark.filterwarnings("ignore::misfeat.MisfeatWarning")
def test_a_column_that_is_left_out_is_a_feature_by_its_gaps_where_they_explain(rng):
    y = rng.integers(0, 2, 600)
    columns = {
        "ten values": [f"v{n}" for n in rng.integers(0, 10, 600)],
        "number": list(range(600)),
        "text": [f"seen by doctor {n} again" for n in range(600)],
    }
    for name, values in columns.items():
        for kept, recorded in ((True, np.where(rng.random(600) < 0.05, 1 - y, y)), (False, y * 0)):
            gaps = recorded if kept else rng.integers(0, 2, 600)
            given = [v if there else None for v, there in zip(values, gaps, strict=True)]
            frame = pl.DataFrame({name: given, "z": rng.integers(0, 3, 600), "y": y})
            found = SubgroupSelector(size=1).fit(frame, "y").cohorts_
            assert found.equals(build_cohorts(frame.lazy(), "y"))
            if name == "ten values":
                assert found.categories[0] == (*(f"v{n}" for n in range(10)), "missing")
            elif kept:
                assert found.categories[0] == ("recorded", "missing")
                assert audit(found, name).treatment.startswith("recorded or not (")
                assert any("by whether it is recorded or not" in note for note in found.notes)
            else:
                assert audit(found, name).role == "left out"


def test_moments_become_naive_datetimes_in_utc():
    noon, east = dt.datetime(2024, 3, 1, 12), dt.timezone(dt.timedelta(hours=2))
    assert canonical(dt.date(2024, 3, 1)) == dt.datetime(2024, 3, 1)
    assert canonical(pd.Timestamp(noon)) == noon
    assert type(canonical(pd.Timestamp(noon))) is dt.datetime
    assert canonical(noon.replace(hour=14, tzinfo=east)) == noon


def test_labels_show_dates_without_midnight():
    assert label(dt.datetime(2024, 3, 1)) == "2024-03-01"
    assert label(dt.datetime(2024, 3, 1, 12)) == "2024-03-01 12:00:00"
    assert label("as it is") == "as it is"


def test_numbers_are_read_from_text():
    assert (read_number("1.5"), read_number("-3")) == (1.5, -3)
    for text in (" 3", "1_000", "٣", "x", "nan", True, None):
        assert read_number(text) is None


def test_numbers_too_large_for_a_float_are_codes_too():
    assert MissingCodes.parse(10**400).numbers("any") == (10**400,)


@pytest.mark.parametrize("wrong", [len, [["?"]], {"x": {"a": 1}}, {"x": [len]}])
def test_what_can_be_no_code_is_refused(wrong):
    with pytest.raises(MisfeatError, match="a value that means missing is a text") as refused:
        MissingCodes.parse(wrong)
    assert refused.value.parameter == "missing_values"


@pytest.mark.parametrize("dtype", [object, "str", pd.StringDtype("python")])
def test_text_after_a_nul_counts(dtype):
    texts = pd.Series(["a\0b", "a\0c", "a", "a\0"] * 5, dtype=dtype)
    table = pd.DataFrame({"x": texts, "y": [0, 1] * 10})
    for rows in (table, table[::-1]):
        assert build_cohorts(rows, "y").categories == (("a", "a\0", "a\0b", "a\0c"),)


def test_half_characters_are_refused_in_any_order_of_rows():
    texts = ["a", "b\udf2d", "b", "\ud8a2", ""] * 4
    table = pd.DataFrame({"x": texts, "y": [0, 1] * 10}, dtype=object)
    for rows in (table, table[::-1], table.sample(frac=1, random_state=0)):
        with pytest.raises(MisfeatError, match=r"'x': the text .* holds half a character"):
            build_cohorts(rows, "y")
