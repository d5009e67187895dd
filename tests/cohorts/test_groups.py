from __future__ import annotations

import datetime as dt
import logging

import numpy as np
import pandas as pd
import polars as pl
import pytest

from misfeat import MisfeatError
from misfeat.cohorts import Coding, build_cohorts
from tests.cohorts.tables import table

SENIORS = {"senior": "age > 40", "first": "site == 'a'"}
NAMED = [
    ({"age": [25, 40]}, ("age<=25", "25<age<=40", "age>40")),
    ({"day": [dt.date(2024, 3, 1)]}, ("day<=2024-03-01", "day>2024-03-01")),
    ({"site": {"b": "B", "*": "other"}}, ("site=B", "site=other")),
    ({"site": {"a": "ab", "b": "ab"}}, ("site=ab", "site=c")),
    (
        SENIORS,
        ("not senior & not first", "not senior & first", "senior & not first", "senior & first"),
    ),
    (["z", {"z": [0]}], ("z=0 & z<=0", "z=1 & z>0")),
]


@pytest.mark.filterwarnings("ignore:Column 'age' is left out as an identifier")
def test_cuts_merged_values_and_predicates_make_readable_names_in_order():
    days = np.array(["2024-01-01", "2024-06-01"] * 30, dtype="datetime64[D]")
    data = table(age=np.arange(60), day=days)
    found = {}
    for groups, names in NAMED:
        found[names] = build_cohorts(data, "y", groups=groups, coding=Coding(min_rows=1))
        assert found[names].names == names
    sizes = [[cohort.size for cohort in found[names]] for _, names in NAMED[:3]]
    assert sizes == [[26, 15, 19], [30, 30], [20, 40]]
    assert "age" not in found[NAMED[0][1]].features
    assert {"age", "site"}.isdisjoint(found[NAMED[4][1]].features)


def test_rows_with_a_missing_group_value_form_a_subgroup_or_go_and_are_counted(caplog):
    data = table()
    data["site"][:5] = None
    caplog.set_level(logging.INFO, logger="misfeat")
    own = build_cohorts(data, "y", groups="site")
    assert own.names[-1] == "site is missing"
    assert own["site is missing"].size == 5
    assert "5 rows with a missing group value form subgroups of their own." in caplog.messages
    dropped = build_cohorts(data, "y", groups="site", coding=Coding(missing_groups="drop"))
    assert "site is missing" not in dropped.names
    assert dropped.weights.sum() == 55
    assert "5 rows with a missing group value are dropped." in caplog.messages


def test_small_subgroups_are_merged_or_left_out_and_named_in_the_notes():
    data = table()
    data["site"][:3] = ["d", "e", "e"]
    merged = build_cohorts(data, "y", groups="site", coding=Coding(min_rows=3))
    assert merged.names == ("site=a", "site=b", "site=c", "other")
    assert merged["other"].size == 3
    assert "site=d (1), site=e (2)" in merged.notes[0]
    dropped = build_cohorts(
        data, "y", groups="site", coding=Coding(min_rows=3, small_groups="drop")
    )
    assert dropped.names == ("site=a", "site=b", "site=c")
    assert dropped.weights.sum() == 57
    assert "left out: site=d (1), site=e (2)" in dropped.notes[0]


def test_dropping_every_subgroup_is_refused():
    with pytest.raises(MisfeatError, match="Every subgroup has fewer than min_rows=100"):
        build_cohorts(table(), "y", groups="site", coding=Coding(min_rows=100, small_groups="drop"))


def test_groups_may_be_named_in_an_array_or_an_index():
    expected = build_cohorts(table(), "y", groups="site")
    for groups in (np.array(["site"]), pd.Index(["site"]), ("site",)):
        assert build_cohorts(table(), "y", groups=groups).equals(expected)


def test_values_of_rows_are_sent_to_fit():
    site = table()["site"]
    series = pd.Series(site), pl.Series(site.tolist()), pd.DataFrame({"site": site})
    for groups in (*series, np.arange(60), np.array([["site"]])):
        with pytest.raises(MisfeatError, match=r"the subgroup of every row to fit\(X, y") as error:
            build_cohorts(table(), "y", groups=groups)
        assert len(str(error.value)) < 150


def test_what_is_named_twice_in_groups_is_refused():
    site = table()["site"]
    twice = (["site", "site"], ["z", {"site": None}, "site"], [{"x": [1]}, {"x": [1]}])
    for groups in (*twice, [{"old": "x > 1"}, {"old": "x > 0"}], site, site.tolist()):
        with pytest.raises(MisfeatError, match=r"twice; name it once\. The subgroup of every row"):
            build_cohorts(table(), "y", groups=groups)


def test_dates_cannot_stand_in_a_predicate():
    days = np.array(["2024-01-01", "2024-06-01"] * 30, dtype="datetime64[D]")
    with pytest.raises(MisfeatError, match="reads 'day', which holds time values"):
        build_cohorts(table(day=days), "y", groups={"late": "day > 3"})


def test_a_group_with_too_many_values_must_be_cut():
    ids = np.repeat(np.arange(5500), 2)
    with pytest.raises(MisfeatError, match="more than 5,000 distinct values"):
        build_cohorts({"g": ids, "x": ids % 2, "y": ids % 3}, "y", groups="g")
    with pytest.raises(MisfeatError, match="a type that cannot define subgroups"):
        build_cohorts(pl.DataFrame({"g": [[1], [2]], "x": [0, 1], "y": [0, 1]}), "y", groups="g")
