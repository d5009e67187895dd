"""Tables that are seldom tested and often met."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from misfeat import MisfeatError, MisfeatWarning
from misfeat.cohorts import Coding, build_cohorts
from tests.cohorts.tables import audit, table


@pytest.mark.parametrize(
    "name", ["blood.pressure", "*", "`bt`", "^a$", "", "a b", "n_rows", "[red]x"]
)
@pytest.mark.parametrize("hold", [pd.DataFrame, pl.DataFrame, pa.table])
def test_any_text_is_a_column_name(name, hold):
    data = table()
    data[name] = data.pop("x")
    cohorts = build_cohorts(hold(data), "y", groups="site")
    assert name in cohorts.features
    assert cohorts.equals(build_cohorts(data, "y", groups="site"))


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
    column = np.empty(60, dtype=object)
    column[:] = values * 20
    expected = build_cohorts(table(c=column), "y")
    assert build_cohorts(pd.DataFrame(table(c=column)), "y").equals(expected)
    c = expected.features.index("c")
    sizes = [expected.weights[expected.codes[c] == code].sum() for code in range(3)]
    assert sorted(sizes) in ([20, 20, 20], [0, 20, 40])


def test_codes_in_columns_of_several_types_mean_missing():
    column = np.array([-1, "a", "b"] * 20, dtype=object)
    for hold in (dict, pd.DataFrame):
        cohorts = build_cohorts(hold(table(c=column)), "y", coding=Coding(missing_values=-1))
        assert cohorts.categories[cohorts.features.index("c")] == ("a", "b", "missing")


def test_codes_above_the_exact_floats_are_exact():
    column = np.array([2**53 + 1, 2**53, 2**53 + 2] * 20)
    for hold in (dict, pd.DataFrame, pl.DataFrame):
        cohorts = build_cohorts(hold(table(c=column)), "y", coding=Coding(missing_values=2**53 + 1))
        assert audit(cohorts, "c").missing == 20


@pytest.mark.parametrize("hold", [dict, pd.DataFrame, pl.DataFrame])
def test_flags_and_dates_can_be_codes(hold):
    flags = np.array([True, False, True] * 20)
    days = np.array(["1900-01-01", "2024-01-01", "2024-01-02"] * 20, dtype="datetime64[us]")
    codes = {"flag": [False], "day": ["1900-01-01"]}
    cohorts = build_cohorts(
        hold(table(flag=flags, day=days)), "y", coding=Coding(missing_values=codes)
    )
    assert audit(cohorts, "flag").missing == audit(cohorts, "day").missing == 20


def test_subgroups_that_would_share_a_name_are_told_apart():
    data = table(a=np.array([1] * 57 + [0] * 3))
    with pytest.warns(MisfeatWarning):
        cohorts = build_cohorts(data, "y", groups={"other": "a > 0"}, coding=Coding(min_rows=10))
    assert cohorts.names == ("other", "other (2)")
    assert [cohort.size for cohort in cohorts] == [57, 3]


def test_hundreds_of_subgroups_can_be_made_of_numbers():
    data = {"g": np.arange(2100) // 3, "x": np.arange(2100) % 3, "y": np.arange(2100) % 2}
    for hold in (dict, pd.DataFrame, pl.DataFrame):
        assert len(build_cohorts(hold(data), "y", groups="g")) == 700


def test_moments_within_a_microsecond_are_one():
    moments = pd.to_datetime([1_500, 1_900, 3_500] * 20, unit="ns")
    cohorts = build_cohorts(pd.DataFrame(table(t=moments)), "y")
    assert len(audit(cohorts, "t").categories) == 2


def test_offsets_without_a_name_are_zones_too():
    east = dt.timezone(dt.timedelta(hours=5, minutes=30))
    moments = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"] * 20)
    frame = pd.DataFrame(table(t=moments.tz_localize(east)))
    assert len(audit(build_cohorts(frame, "y"), "t").categories) == 3
    assert len(audit(build_cohorts(pa.Table.from_pandas(frame), "y"), "t").categories) == 3


def test_masked_values_are_missing():
    column = np.ma.masked_array(np.arange(60) % 3, mask=np.arange(60) % 3 == 0)
    assert audit(build_cohorts(table(c=column), "y"), "c").missing == 20


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, {"a": 2}], [{1}, {2}]])
def test_containers_are_left_out(values):
    column = np.empty(60, dtype=object)
    column[:] = values * 30
    for hold in (dict, pd.DataFrame):
        cohorts = build_cohorts(hold(table(c=column)), "y")
        assert audit(cohorts, "c").treatment == "its type cannot be scored"


def test_durations_and_complex_numbers_are_left_out():
    durations = np.arange(60).astype("timedelta64[s]")
    for column in (durations, np.ones(60, dtype=complex)):
        assert audit(build_cohorts(table(c=column), "y"), "c").role == "left out"
    assert audit(build_cohorts(pd.DataFrame(table(c=durations)), "y"), "c").role == "left out"


def test_a_target_of_several_types_is_text():
    y = np.array([1, "a", None] * 20, dtype=object)
    data = {name: column for name, column in table().items() if name != "y"}
    for hold in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        assert build_cohorts(hold(data), y).classes == ("1", "a")


def test_a_target_that_cannot_be_scored_is_refused_in_words():
    data = {name: column for name, column in table().items() if name != "y"}
    with pytest.raises(MisfeatError, match="y holds values that cannot be scored"):
        build_cohorts(pd.DataFrame(data), np.array([{}] * 60, dtype=object))
    with pytest.raises(MisfeatError, match="different lengths"):
        build_cohorts([[1, 2], [3]], [0, 1])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"coding": Coding(bins={"site": [1, 2]})}, "'site', which holds text values"),
        ({"groups": {"g": "x > site"}}, "compares 'x', which holds number values, with 'site'"),
        ({"groups": {"g": "not " * 3000 + "x > 1"}}, "nested too deeply"),
        ({"coding": Coding(min_rows="5")}, "min_rows='5'"),
        ({"coding": Coding(max_categories=3.5)}, r"max_categories=3\.5"),
        ({"coding": Coding(missing_threshold="half")}, "missing_threshold='half'"),
        ({"coding": Coding(bins=10**9)}, "from 2 to 250"),
    ],
)
def test_parameters_that_cannot_work_are_refused(arguments, complaint):
    with pytest.raises(MisfeatError, match=complaint):
        build_cohorts(table(), "y", **arguments)


def test_quotes_may_hold_backticks_and_any_name_may_be_a_column():
    data = table(s=np.array(["a`b`c", "d", "e"] * 20, dtype=object), _column0=np.arange(60) % 30)
    cohorts = build_cohorts(data, "y", groups={"ticks": "s == 'a`b`c'"})
    assert cohorts["ticks"].size == 20
    cohorts = build_cohorts(data, "y", groups={"g": "_column0 < 6 and `x` >= 0"})
    assert cohorts["g"].size == 12


def test_numbers_near_the_largest_float_have_uniform_bins():
    values = np.linspace(-1, 1, 60) * 1.7e308
    edges = audit(build_cohorts(table(v=values), "y", coding=Coding(binning="uniform")), "v").edges
    assert np.isfinite(edges).all()


def test_nan_among_texts_of_a_list_is_missing():
    data = {
        "g": ["a", "b", float("nan"), "a"] * 10,
        "x": [0, 1] * 20,
        "y": [0, 0, 0, 0, 1, 1, 1, 1] * 5,
    }
    cohorts = build_cohorts(data, "y", groups="g", coding=Coding(min_rows=1))
    assert cohorts.names == ("g=a", "g=b", "g is missing")
