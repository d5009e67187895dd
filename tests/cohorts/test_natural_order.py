from __future__ import annotations

import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.natural_order import natural_order
from tests.cohorts.holders import HOLDERS


def ordered(labels):
    return [labels[position] for position in natural_order(labels)]


@pytest.mark.parametrize(
    "expected",
    [
        ["c1", "c2", "c10", "d1"],
        ["ward 2a", "ward 2b", "ward 10a"],
        ["-10", "-2", "0.5", "3", "20"],
        ["<18", "18-39", "40-99", "100+"],
        ["under 5", "5 to 9", "10 to 14", "15 and over"],
        ["(-inf, 4.5]", "(4.5, 10]", "(10, inf]"],
        ["<=40", "40", "40-60", ">60"],
        ["A", "B", "a", "b"],
        ["", "9 lives", "10"],
    ],
)
def test_names_come_as_people_expect_them(expected):
    assert ordered(sorted(expected)) == expected
    shuffled = expected.copy()
    random.Random(0).shuffle(shuffled)
    assert ordered(shuffled) == expected


@given(st.lists(st.text(max_size=8), unique=True))
def test_the_order_does_not_depend_on_that_of_the_labels(labels):
    assert ordered(labels) == ordered(sorted(labels)) == ordered(labels[::-1])
    assert sorted(natural_order(labels)) == list(range(len(labels)))


@given(st.lists(st.integers(-(10**30), 10**30), unique=True), st.sampled_from(["", "c"]))
def test_numbers_in_names_are_ordered_as_numbers(numbers, before):
    if before:
        numbers = [abs(number) for number in dict.fromkeys(map(abs, numbers))]
    assert ordered([f"{before}{n}" for n in numbers]) == [f"{before}{n}" for n in sorted(numbers)]


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_subgroups_come_in_it_from_every_library(hold):
    sites = ["c10", "c9", "c1", "c100", "c2"] * 12
    ages = ["100+", "18-39", "<18"] * 20
    table = pl.DataFrame({"site": sites, "age": ages, "x": [0, 1] * 30, "y": [0] * 30 + [1] * 30})
    coding = Coding(min_rows=1)
    assert build_cohorts(hold(table), "y", groups="site", coding=coding).names == (
        "site=c1",
        "site=c2",
        "site=c9",
        "site=c10",
        "site=c100",
    )
    groups = [{"site": {"c9": "first", "c1": "c1", "c10": "c10", "c2": "c2"}}, "age"]
    both = build_cohorts(hold(table), "y", groups=groups, coding=coding)
    assert both.names[:4] == (
        "site=first & age=<18",
        "site=first & age=18-39",
        "site=first & age=100+",
        "site=c1 & age=<18",
    )
    assert both.names[-1] == "site=c100 & age=100+"
