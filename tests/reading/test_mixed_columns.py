"""Columns of anything: either an answer, or an error that names the column."""

from __future__ import annotations

import datetime as dt
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
from misfeat.cohorts import Cohorts, build_cohorts

ROWS = 24
FEATURE, TARGET = "Spalte 1", "Ziel 2"
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


def objects(values: list) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def in_polars(table: dict[str, np.ndarray]) -> pl.DataFrame:
    def series(name: str, values: list) -> pl.Series:
        try:
            return pl.Series(name, values)
        except (Exception, pl.exceptions.PanicException):  # polars makes no series of just anything
            return pl.Series(name, values, dtype=pl.Object)

    return pl.DataFrame([series(name, values.tolist()) for name, values in table.items()])


HOLDERS = {
    "pandas": pd.DataFrame,
    "polars": in_polars,
    "arrays": dict,
}


def answer_or_error(held, ask) -> Cohorts | MisfeatError:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfeatWarning)
        try:
            return ask(held)
        except MisfeatError as error:
            found = error
    assert FEATURE in str(found) or TARGET in str(found)
    return found


@pytest.mark.parametrize("holder", HOLDERS)
@settings(max_examples=150)
@given(values=columns())
def test_a_feature_of_anything_is_coded_left_out_or_named(holder, values):
    table = {FEATURE: objects(values), TARGET: np.arange(ROWS) % 2}
    found = answer_or_error(HOLDERS[holder](table), lambda held: build_cohorts(held, TARGET))
    if isinstance(found, Cohorts):
        (audit,) = [one for one in found.columns if one.column == FEATURE]
        assert audit.role in ("feature", "left out")
        assert audit.treatment
        assert found.weights.sum() == ROWS


@pytest.mark.parametrize("holder", HOLDERS)
@settings(max_examples=150)
@given(values=columns())
def test_a_target_of_anything_gives_classes_or_is_named(holder, values):
    table = {FEATURE: np.arange(ROWS) % 3, TARGET: objects(values)}
    found = answer_or_error(HOLDERS[holder](table), lambda held: build_cohorts(held, TARGET))
    if isinstance(found, Cohorts):
        assert found.target_codes.max() < len(found.classes)


@pytest.mark.parametrize("holder", HOLDERS)
@settings(max_examples=100)
@given(values=columns())
def test_a_group_of_anything_makes_subgroups_or_is_named(holder, values):
    table = {FEATURE: objects(values), TARGET: np.arange(ROWS) % 2, "x": np.arange(ROWS) % 3}
    answer_or_error(
        HOLDERS[holder](table), lambda held: build_cohorts(held, TARGET, groups=FEATURE)
    )


@pytest.mark.parametrize("holder", HOLDERS)
@settings(max_examples=25)
@given(values=columns(), target=columns())
def test_a_table_of_anything_is_answered_or_its_column_is_named(holder, values, target):
    table = {FEATURE: objects(values), TARGET: objects(target), "x": np.arange(ROWS) % 3}
    found = answer_or_error(
        HOLDERS[holder](table), lambda held: SubgroupSelector(size=1).fit(held, TARGET).cohorts_
    )
    assert isinstance(found, Cohorts | MisfeatError)


@pytest.mark.parametrize(
    "values",
    [
        [[1, 2], [3], None],
        [{"a": 1}, {"a": 2}, None],
        [Decimal("1.5"), "x", None],
        [b"a", b"b", None],
        [dt.date(2020, 1, 1), 3, "x"],
    ],
)
@pytest.mark.parametrize("hold", [pd.DataFrame, dict])
def test_nested_and_mixed_columns_stand_in_the_audit(values, hold):
    table = {FEATURE: objects(values * 8), TARGET: np.arange(ROWS) % 2, "x": np.arange(ROWS) % 3}
    cohorts = build_cohorts(hold(table), TARGET)
    (audit,) = [one for one in cohorts.columns if one.column == FEATURE]
    nested = isinstance(values[0], list | dict)
    assert audit.treatment == ("its type cannot be scored" if nested else "as it is")
    assert nested == any("lists, structures" in note for note in cohorts.notes)


def test_nested_columns_of_arrow_are_named():
    table = pa.table({FEATURE: [[1], [2]] * 12, TARGET: [0, 1] * 12, "x": [0, 1, 2] * 8})
    cohorts = build_cohorts(table, TARGET)
    assert any(f"{FEATURE!r} is left out" in note for note in cohorts.notes)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, None], "number"),
        ([2**60, 2**60 + 1], "number"),
        ([1.5, 2.5, Decimal("3.5")], "number"),
        ([True, False, None], "flag"),
        ([dt.date(2020, 1, 1), dt.datetime(2021, 1, 1, 12), pd.NaT], "date"),
        (["a", "b", None], "category"),
        ([b"a", b"b"], "category"),
        (["a", 1], "category"),
        ([[1], [2], None], ""),
    ],
)
@pytest.mark.parametrize("first", [None, float("nan"), pd.NA, "text"], ids=repr)
def test_objects_are_what_all_their_values_are(first, values, kind):
    column = objects([first] * 200 + values * 40)
    table = {FEATURE: column, TARGET: np.arange(len(column)) % 2, "x": np.arange(len(column)) % 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfeatWarning)
        found = build_cohorts(pd.DataFrame(table), TARGET)
        assert found.equals(build_cohorts(table, TARGET))
    (audit,) = [one for one in found.columns if one.column == FEATURE]
    assert audit.taken_for == ("category" if isinstance(first, str) and kind else kind)
