"""Columns in memory: whatever they hold, there is an answer, or an error that names the column."""

import datetime as dt
import enum
import uuid
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat import MisfeatError, MisfeatWarning, SubgroupSelector
from misfeat.cohorts import Coding, Cohorts, build_cohorts
from misfeat.reading.inputs import open_columns
from misfeat.reading.memory_table import ArrayTable
from misfeat.reading.values import MissingCodes
from tests.cohorts.tables import audit, table

ROWS = 24
FEATURE, TARGET = "Spalte 1", "Ziel 2"
HALF = "a\ud800"


def in_memory(held) -> ArrayTable:
    opened = open_columns(held, MissingCodes())
    assert isinstance(opened, ArrayTable)
    return opened


def test_a_moment_before_1970_is_rounded_down_as_elsewhere():
    moments = pa.array([-1001, -1, 1, None], pa.timestamp("ns"))
    counts = in_memory(pa.table({"t": moments})).value_counts("t", 9)
    assert [value.microsecond for value in counts.values] == [999_998, 999_999, 0]
    frame = pd.DataFrame(table(t=pd.to_datetime([1_500, 1_900, 3_500] * 20, unit="ns")))
    assert len(audit(build_cohorts(frame, "y"), "t").categories) == 2


def test_dictionaries_of_pyarrow_keep_their_order_and_may_hold_numbers():
    positions = pa.array([0, 1, 2, None] * 15, pa.int8())
    for values, ordered, expected in (
        (["b", "a", "c"], True, ("b", "a", "c", "missing")),
        (["b", "a", "c"], False, ("a", "b", "c", "missing")),
        ([7, 5, 6], False, ("5", "6", "7", "missing")),
    ):
        column = pa.DictionaryArray.from_arrays(positions, pa.array(values), ordered=ordered)
        held = pa.table({"c": column, "y": [0, 1] * 30})
        for X in (held, held.to_pandas(types_mapper=pd.ArrowDtype)):
            assert SubgroupSelector(size=1).fit(X, "y").cohorts_.categories[0] == expected


def test_offsets_without_a_name_are_zones_too():
    east = dt.timezone(dt.timedelta(hours=5, minutes=30))
    moments = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"] * 20)
    frame = pd.DataFrame(table(t=moments.tz_localize(east)))
    for held in (frame, pa.Table.from_pandas(frame)):
        assert len(audit(build_cohorts(held, "y"), "t").categories) == 3


def test_hundreds_of_subgroups_can_be_made_of_numbers():
    data = {"g": np.arange(2100) // 3, "x": np.arange(2100) % 3, "y": np.arange(2100) % 2}
    for hold in (dict, pd.DataFrame, pl.DataFrame):
        assert len(build_cohorts(hold(data), "y", groups="g")) == 700


def test_categories_that_are_spelled_alike_are_one_value():
    kind = pd.Categorical.from_codes([0, 1, 2, 0, 1, 2] * 4, categories=["1", 1, "b"])
    frame = pd.DataFrame({"kind": kind, "x": [0, 1] * 12, "y": [0, 0, 1, 1] * 6})
    cohorts = build_cohorts(frame, "y")
    assert cohorts.categories[cohorts.features.index("kind")] == ("1", "b")


# --- columns of Python objects ------------------------------------------------------------------

SCALARS = st.one_of(
    st.none(),
    st.just(float("nan")),
    st.just(pd.NA),
    st.just(pd.NaT),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.decimals(),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(dt.UTC)),
    st.times(),
    st.timedeltas(),
    st.binary(max_size=4),
    st.text(max_size=4),
    st.sampled_from(["$1,200", "3%", "(5)", "03/02/2019 14:05", "Dec-2015", "1.234,5", "< 1 year"]),
    st.complex_numbers(),
)
NESTED = st.one_of(
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.tuples(st.integers(), st.text(max_size=2)),
    st.sets(st.integers(), max_size=2),
    st.builds(np.array, st.lists(st.integers(-9, 9), max_size=2)),
)


@st.composite
def columns(draw) -> list:
    """Values of one kind or of several, repeated over the rows, so that most can be scored."""
    kinds = [SCALARS] if draw(st.booleans()) else [SCALARS, NESTED]
    held = draw(st.lists(st.one_of(*kinds), min_size=1, max_size=8))
    places = draw(st.lists(st.integers(0, len(held) - 1), min_size=ROWS, max_size=ROWS))
    return [held[place] for place in places]


def as_objects(values: list) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):  # arrays among them would be spread out at once
        array[position] = value
    return array


def in_polars(table: dict[str, np.ndarray]) -> pl.DataFrame:
    def series(name: str, values: list) -> pl.Series:
        try:
            return pl.Series(name, values)
        except (Exception, pl.exceptions.PanicException):  # polars makes no series of just anything
            return pl.Series(name, values, dtype=pl.Object)

    return pl.DataFrame([series(name, values.tolist()) for name, values in table.items()])


def answer(ask) -> Cohorts | None:
    """The cohorts, or None where an error names the column."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfeatWarning)
        try:
            return ask()
        except MisfeatError as error:
            message = str(error)
    assert FEATURE in message or TARGET in message
    return None


@pytest.mark.parametrize("role", ["feature", "target", "group"])
@settings(max_examples=100)
@given(hold=st.sampled_from([pd.DataFrame, in_polars, dict]), values=columns())
def test_a_column_of_anything_gives_an_answer_or_is_named(role, hold, values):
    plain = np.arange(ROWS)
    held = {FEATURE: as_objects(values), TARGET: plain % 2, "x": plain % 3}
    if role == "target":
        held |= {FEATURE: plain % 3, TARGET: as_objects(values)}
    groups = FEATURE if role == "group" else None
    found = answer(lambda: build_cohorts(hold(held), TARGET, groups=groups))
    if found is not None and role == "feature":
        assert audit(found, FEATURE).role in ("feature", "left out")
        assert audit(found, FEATURE).treatment
        assert found.weights.sum() == ROWS
    if found is not None and role == "target":
        assert found.target_codes.max() < len(found.classes)


class Shade(enum.Enum):
    LIGHT = 1
    DARK = 2


@pytest.mark.parametrize(
    "values",
    [
        [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")],
        [uuid.UUID(int=1), uuid.UUID(int=2), None],
        [Shade.LIGHT, Shade.DARK, None],
        [dt.time(8), dt.time(9), dt.time(10)],
        [(1, 2), (3, 4), None],
        [True, 1, "1"],
        [dt.date(2024, 1, 1), dt.date(2024, 1, 2), None],
        [pd.Period("2024-01"), pd.Period("2024-02"), pd.Period("2024-03")],
    ],
)
def test_columns_of_objects_keep_their_values_apart_in_pandas_as_in_arrays(values):
    column = as_objects(values * 20)
    expected = build_cohorts(table(c=column), "y")
    assert build_cohorts(pd.DataFrame(table(c=column)), "y").equals(expected)
    c = expected.features.index("c")
    sizes = [expected.weights[expected.codes[c] == code].sum() for code in range(3)]
    assert sorted(sizes) in ([20, 20, 20], [0, 20, 40])


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_gaps_among_given_texts_are_not_a_class_of_their_own(gap):
    held, values = {"a": [0, 1] * 6, "b": [0, 0, 1] * 4}, ["low", "high", gap] * 4
    for X in (held, pd.DataFrame(held), pl.DataFrame(held)):
        for y in (values, np.array(values, dtype=object), pd.Series(values)):
            cohorts = build_cohorts(X, y)
            assert cohorts.classes == ("high", "low")
            assert cohorts.weights.sum() == 8
    cohorts = build_cohorts({"g": ["a", "b", gap, "a"] * 10, "y": [0, 0, 1, 1] * 10}, "y")
    assert cohorts.categories == (("a", "b", "missing"),)


def test_what_a_mask_hides_is_missing():
    column = np.ma.masked_array(np.arange(60) % 3, mask=np.arange(60) % 3 == 0)
    assert audit(build_cohorts(table(c=column), "y"), "c").missing == 20
    held, values = {"a": [0, 1] * 6}, np.ma.MaskedArray([0, 1, 9] * 4, [False, False, True] * 4)
    for X in (held, pd.DataFrame(held)):
        assert build_cohorts(X, values).classes == ("0", "1")


@pytest.mark.parametrize("hold", [dict, pd.DataFrame, pl.DataFrame])
def test_flags_dates_and_large_integers_can_be_codes(hold):
    flags = np.array([True, False, True] * 20)
    days = np.array(["1900-01-01", "2024-01-01", "2024-01-02"] * 20, dtype="datetime64[us]")
    large = np.array([2**53 + 1, 2**53, 2**53 + 2] * 20)
    codes = {"flag": [False], "day": ["1900-01-01"], "large": [2**53 + 1]}
    cohorts = build_cohorts(
        hold(table(flag=flags, day=days, large=large)), "y", coding=Coding(missing_values=codes)
    )
    assert [audit(cohorts, column).missing for column in codes] == [20, 20, 20]


def test_codes_in_columns_of_several_types_mean_missing():
    column = np.array([-1, "a", "b"] * 20, dtype=object)
    for hold in (dict, pd.DataFrame):
        cohorts = build_cohorts(hold(table(c=column)), "y", coding=Coding(missing_values=-1))
        assert cohorts.categories[cohorts.features.index("c")] == ("a", "b", "missing")


def test_names_and_values_with_half_a_character_are_refused_by_their_column():
    with pytest.raises(MisfeatError, match=r"column 'a\\ud800' holds half a character"):
        build_cohorts({HALF: [0, 1] * 10, "y": [0, 1] * 10}, "y")
    # pandas 3 would make texts of PyArrow of values, which hold no such text.
    for hold in (dict, lambda held: pd.DataFrame(held, dtype=object)):
        for place in ("x", "g", "y"):
            held = {name: ["b", HALF if name == place else "c"] * 10 for name in ("x", "g", "y")}
            with pytest.raises(MisfeatError, match=rf"Column '{place}': the text 'a\\ud800'"):
                build_cohorts(hold(held), "y", groups="g")


def test_names_that_a_user_makes_up_with_half_a_character_are_refused():
    held = {"x": [0, 1] * 10, "z": [0, 0, 1, 1] * 5, "g": ["b", "c"] * 10, "y": [0, 1, 1, 0] * 5}
    for asked in (
        {"groups": {"g": {"b": HALF}}},
        {"blocks": {HALF: ["x", "z"]}},
        {"include": [HALF]},
    ):
        with pytest.raises(MisfeatError) as caught:
            SubgroupSelector(size=1, **asked).fit(held, "y")
        assert str(caught.value).isprintable()
