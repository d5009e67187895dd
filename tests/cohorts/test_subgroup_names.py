from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.model import subgroup_named
from misfeat.cohorts.subgroups import natural_order
from misfeat.exceptions import MisfeatError
from tests.reading.holders import HOLDERS

SITES_AND_AGES = tuple(
    f"site={site} & {age}"
    for site in ("va", "ch", "New York")
    for age in ("age<=40", "40<age<=60", "age>60")
)
SENIORS = ("senior", "not senior", "senior is missing")


NAMED_IN_SHORT = {
    "site=va & age<=40": "site=va & age<=40",
    "va & age<=40": "site=va & age<=40",
    "age <= 40 & va": "site=va & age<=40",
    "<=40 & VA": "site=va & age<=40",
    "site == New York & 40 < age <= 60": "site=New York & 40<age<=60",
    "new york&>60": "site=New York & age>60",
}


def test_terms_values_and_ranges_name_a_subgroup():
    assert {name: subgroup_named(name, SITES_AND_AGES) for name in NAMED_IN_SHORT} == NAMED_IN_SHORT


def test_a_name_of_several_lists_them():
    for asked in ("va", "site=va", "age<=40", "<=40"):
        with pytest.raises(MisfeatError, match=r"may mean 3 subgroups: .*; write more") as error:
            subgroup_named(asked, SITES_AND_AGES)
        assert error.value.value == asked
        assert all(repr(name) in str(error.value) for name in SITES_AND_AGES if asked in name)


def test_a_number_alone_names_no_side_of_a_cut():
    with pytest.raises(MisfeatError, match="There is no subgroup '40'"):
        subgroup_named("40", ("age<=40", "age>40"))
    assert subgroup_named(40, ("n=40", "n=41")) == "n=40"
    assert subgroup_named(41.0, ("n=40", "n=41")) == "n=41"


def test_a_predicate_is_not_named_by_its_opposite():
    assert [subgroup_named(name.upper(), SENIORS) for name in SENIORS] == list(SENIORS)


def test_letters_as_written_come_before_others():
    names = ("grade=a", "grade=A")
    assert [subgroup_named(one, names) for one in "aA"] == list(names)
    with pytest.raises(MisfeatError, match="may mean 2 subgroups: 'grade=a', 'grade=A'"):
        subgroup_named("GRADE=a", (*names, "other"))


def test_the_nearest_names_are_offered():
    names = ("site=cleveland", "site=hungarian", "site=va")
    for asked, near in (("clevland", "site=cleveland"), ("site=hungaria", "site=hungarian")):
        with pytest.raises(MisfeatError, match=f"no subgroup '{asked}'; did you mean '{near}'"):
            subgroup_named(asked, names)


def test_where_nothing_is_near_all_are_listed():
    with pytest.raises(MisfeatError, match="no subgroup '12'; there are 'site=a', 'site=b'"):
        subgroup_named("12", ("site=a", "site=b"))


def test_a_subgroup_that_was_merged_is_told_to_be():
    site = np.repeat(["a", "b", "c"], [100, 10, 9])
    table = {"site": site, "x": np.arange(119) % 2, "z": np.arange(119) // 2 % 2}
    table["y"] = np.arange(119) // 4 % 2
    cohorts = build_cohorts(table, "y", groups="site")
    with pytest.raises(MisfeatError, match="'site=b' has too few rows, and was merged"):
        cohorts.position("b")
    with pytest.raises(MisfeatError, match="has too few rows"):
        build_cohorts(table, "y", groups="site", coding=Coding(small_groups="drop"))["c"]
    assert build_cohorts(table, "y", groups="site", coding=Coding(min_rows=1))["b"].size == 10


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


@given(st.lists(st.integers(-(10**30), 10**30), unique=True), st.sampled_from(["", "c"]))
def test_numbers_in_names_are_ordered_as_numbers(numbers, before):
    if before:
        numbers = [abs(number) for number in dict.fromkeys(map(abs, numbers))]
    assert ordered([f"{before}{n}" for n in numbers]) == [f"{before}{n}" for n in sorted(numbers)]


def test_subgroups_come_in_it_from_every_library():
    sites = ["c10", "c9", "c1", "c100", "c2"] * 12
    ages = ["100+", "18-39", "<18"] * 20
    table = pl.DataFrame({"site": sites, "age": ages, "x": [0, 1] * 30, "y": [0] * 30 + [1] * 30})
    groups = [{"site": {"c9": "first", "c1": "c1", "c10": "c10", "c2": "c2"}}, "age"]
    for hold in HOLDERS.values():
        by_site = build_cohorts(hold(table), "y", groups="site", coding=Coding(min_rows=1)).names
        assert [name.removeprefix("site=") for name in by_site] == ["c1", "c2", "c9", "c10", "c100"]
        both = build_cohorts(hold(table), "y", groups=groups, coding=Coding(min_rows=1)).names
        assert both[:3] == tuple(f"site=first & age={age}" for age in ("<18", "18-39", "100+"))
        assert (both[3], both[-1]) == ("site=c1 & age=<18", "site=c100 & age=100+")
