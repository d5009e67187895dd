import datetime as dt

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings

from misfeat import MisfeatError, SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.target_coding import MOST_CLASSES
from tests.reading.holders import HOLDERS


def table(n_classes):
    towns = [f"town {i}" for i in range(n_classes)] * 3
    return pl.DataFrame({"x": [0, 1, 2] * n_classes, "town": towns})


@pytest.mark.parametrize("holder", HOLDERS)
def test_hundreds_of_classes_are_refused_whatever_holds_the_table(holder):
    held = HOLDERS[holder](table(MOST_CLASSES + 1))
    with pytest.raises(MisfeatError, match="'town' has 101 classes; at most 100") as refused:
        build_cohorts(held, "town")
    assert refused.value.column == "town"
    assert refused.value.remedy.startswith("Merge classes")


def test_as_many_as_are_allowed_are_not():
    assert len(build_cohorts(table(MOST_CLASSES), "town").classes) == MOST_CLASSES


def test_numbers_are_cut_into_bins_and_no_more_of_them_than_that():
    numbers = {"z": [0, 1] * 300, "y": list(range(600))}
    assert len(build_cohorts(numbers, "y").classes) == 5
    with pytest.raises(MisfeatError, match="'y' has 150 classes") as refused:
        SubgroupSelector(size=1, coding=Coding(bins={"y": 150})).fit(numbers, "y")
    assert "bins={'y': 5}" in refused.value.remedy
    few = {"z": [0, 1] * 300, "y": [n % 30 for n in range(600)]}
    assert len(build_cohorts(few, "y", coding=Coding(bins=250)).classes) == 30


def numbers(**more):
    rng = np.random.default_rng(1)
    return pl.DataFrame({"x": rng.normal(size=300), "y": rng.normal(size=300).round(2), **more})


def test_the_first_grid_of_a_number_is_what_its_classes_would_be():
    number = build_cohorts(numbers(), "y")
    classes = build_cohorts(numbers(), "y", coding=Coding(target="classes"))
    assert number.classes == classes.classes
    assert not classes.is_number
    counts = [np.bincount(one.target_codes, weights=one.weights) for one in (number, classes)]
    np.testing.assert_array_equal(*counts)
    target = next(audit for audit in number.columns if audit.role == "target")
    assert target.treatment == "a number, 4 grids of 5 quantile bins"
    assert target.categories == number.classes


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 90), min_size=40, max_size=120), st.integers(2, 9))
def test_grids_keep_the_order_of_the_numbers(values, bins):
    coding = Coding(target="number", bins=bins)
    assume(len(set(values)) > 1)
    x = [place % 4 for place in range(len(values))]
    cohorts = build_cohorts({"x": x, "y": values}, "y", coding=coding)
    for grid in cohorts.by_grid():
        assert len(np.unique(grid.target_codes)) == len(grid.classes)
    for line in cohorts.grids:
        assert line[0] == 0
        assert set(np.diff(line)) <= {0, 1}
    if cohorts.is_number:
        np.testing.assert_array_equal(cohorts.grids[0][cohorts.ranks], cohorts.target_codes)


def test_few_values_are_classes_unless_they_are_called_a_number():
    few = numbers().with_columns(y=pl.Series([n % 12 for n in range(300)]))
    assert len(build_cohorts(few, "y").classes) == 12
    taken = build_cohorts(few, "y", coding=Coding(target="number"))
    assert taken.is_number
    assert len(taken.classes) == 5


def test_bins_of_the_target_make_classes_of_it_unless_it_is_called_a_number():
    cut = build_cohorts(numbers(), "y", coding=Coding(bins={"y": [0]}))
    assert not cut.is_number
    taken = build_cohorts(numbers(), "y", coding=Coding(bins={"y": [0]}, target="number"))
    assert taken.classes == cut.classes == ("<=0", ">0")
    assert [int(grid.max()) for grid in taken.grids] == [1, 2, 2, 2]


def test_dates_are_numbers_too():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=n) for n in range(300)]
    assert build_cohorts(numbers(y=pl.Series(days)), "y").is_number


def test_words_are_no_number():
    with pytest.raises(MisfeatError, match=r"'town' holds text values .* target='classes'"):
        build_cohorts(table(3), "town", coding=Coding(target="number"))


def test_a_number_with_one_common_value_may_have_a_single_grid():
    mostly = {"x": [0, 1] * 50, "y": [0] * 95 + list(range(1, 6))}
    cohorts = build_cohorts(mostly, "y", coding=Coding(target="number"))
    assert not cohorts.is_number
    assert cohorts.classes == ("<=0", ">0")
