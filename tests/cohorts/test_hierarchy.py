from __future__ import annotations

from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.cohorts import Coding, build_cohorts

KEEP = Coding(min_rows=1)
SIZES = {"n1": 20, "n2": 20, "n3": 20, "s1": 20, "s2": 20}


def table(sizes=None, region=None):
    """So many rows of each hospital, whose region is its first letter."""
    sizes = SIZES if sizes is None else sizes
    hospital = np.repeat(list(sizes), list(sizes.values()))
    n_rows = len(hospital)
    return {
        "region": np.array([name[0] for name in hospital]) if region is None else region,
        "hospital": hospital,
        "x": np.arange(n_rows) // 2 % 2,
        "z": np.arange(n_rows) // 4 % 2,
        "y": np.arange(n_rows) % 2,
    }


def parents(data, groups=("region", "hospital"), coding=KEEP):
    found = build_cohorts(data, "y", groups=list(groups), coding=coding).parents
    return None if found is None else found.tolist()


def test_a_column_that_lies_within_another_is_found_and_said():
    cohorts = build_cohorts(table(), "y", groups=["region", "hospital"], coding=KEEP)
    assert cohorts.parents.tolist() == [0, 0, 0, 1, 1]
    (note,) = cohorts.notes
    assert note == (
        "'hospital' lies within 'region': where subgroups borrow from others, they do so from "
        "their own 'region' first."
    )


def test_the_order_of_columns_does_not_matter():
    assert parents(table(), ("hospital", "region")) == [0, 0, 0, 1, 1]


def test_cohorts_with_and_without_a_hierarchy_are_not_the_same():
    one = build_cohorts(table(), "y", groups=["region", "hospital"], coding=KEEP)
    other = replace(one, parents=None)
    assert not one.equals(other)
    assert not other.equals(one)


def test_one_column_alone_has_no_hierarchy():
    assert parents(table(), ("hospital",)) is None


def test_regions_that_share_a_hospital_are_no_hierarchy():
    data = table()
    data["region"][:4] = "s"
    assert parents(data) is None


@pytest.mark.filterwarnings("ignore:The target 'y' has a single value")
def test_a_row_that_is_in_the_way_of_a_hierarchy_is_named():
    data = table()
    data["region"][0] = "s"
    (note, *_) = build_cohorts(data, "y", groups=["region", "hospital"], coding=KEEP).notes
    assert note.startswith(
        "'hospital' would lie within 'region' but for one row that 'region=s & hospital=n1' holds"
    )


def test_more_rows_than_mistakes_make_are_not_named():
    data = table()
    data["region"][:4] = "s"
    notes = build_cohorts(data, "y", groups=["region", "hospital"], coding=KEEP).notes
    assert not any("would lie" in note for note in notes)


def test_a_column_that_lies_within_two_names_both():
    data = table({f"{region}{chain}{n}": 10 for region in "ns" for chain in "ab" for n in (1, 2)})
    data["chain"] = np.array([name[1] for name in data["hospital"]])
    groups = ["region", "chain", "hospital"]
    cohorts = build_cohorts(data, "y", groups=groups, coding=KEEP)
    assert cohorts.parents.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert cohorts.notes[0].startswith("'hospital' lies within 'region' and 'chain'")


@pytest.mark.parametrize(
    "region",
    [
        pytest.param(["all"] * 100, id="one region"),
        pytest.param(np.repeat(["a", "b", "c", "d", "e"], 20), id="as many as hospitals"),
        pytest.param(np.repeat(["a", "b"], [80, 20]), id="one region with several"),
    ],
)
def test_several_regions_must_have_several_hospitals(region):
    assert parents(table(region=np.array(region))) is None


def test_what_else_tells_subgroups_apart_stays_in_the_region():
    data = table() | {"sex": np.array(["f", "m"])[np.arange(100) // 3 % 2]}
    found = build_cohorts(data, "y", groups=["region", "hospital", "sex"], coding=KEEP)
    assert found.names[:2] == (
        "region=n & hospital=n1 & sex=f",
        "region=n & hospital=n1 & sex=m",
    )
    assert found.parents.tolist() == [0, 1, 0, 1, 0, 1, 2, 3, 2, 3]


def test_of_three_columns_the_innermost_lies_within_the_narrowest():
    sizes = {
        f"{country}{region}{hospital}": 10
        for country in "pq"
        for region in "ab"
        for hospital in "xy"
    }
    data = table(sizes) | {"country": np.repeat(list("pq"), 40)}
    data["region"] = np.repeat([name[:2] for name in sizes], 10)
    found = build_cohorts(data, "y", groups=["country", "region", "hospital"], coding=KEEP)
    assert found.parents.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert found.notes[0].startswith("'hospital' lies within 'region'")


def test_cut_points_and_predicates_nest_as_columns_do():
    ages = {"age": np.tile([30, 50, 70, 90], 25), "x": np.arange(100) // 4 % 2}
    data = ages | {"y": np.arange(100) // 8 % 2}
    groups = [{"old": "age > 60"}, {"age": [40, 60, 80]}]
    found = build_cohorts(data, "y", groups=groups, coding=KEEP)
    assert found.parents.tolist() == [0, 0, 1, 1]
    assert found.notes[-1].startswith("'age' lies within 'old'")


def test_rows_without_a_hospital_lie_in_their_region_and_those_without_a_region_in_none():
    data = table()
    data["hospital"] = np.where(np.arange(100) % 20 < 3, None, data["hospital"])
    data["region"] = np.where(np.arange(100) % 20 > 16, None, data["region"])
    found = build_cohorts(data, "y", groups=["region", "hospital"], coding=KEEP)
    told = dict(zip(found.names, found.parents.tolist(), strict=True))
    assert told["region=n & hospital is missing"] == told["region=n & hospital=n1"] == 0
    assert told["region=s & hospital is missing"] == told["region=s & hospital=s2"] == 1
    assert told["region is missing & hospital=n1"] == -1


def test_every_library_finds_the_same():
    data = pd.DataFrame(table())
    relation = duckdb.from_df(data)
    one, *others = (
        build_cohorts(held, "y", groups=["region", "hospital"], coding=KEEP)
        for held in (data, pl.from_pandas(data), relation)
    )
    assert one.parents is not None
    assert all(one.equals(other) for other in others)


def merged(**sizes):
    coding = Coding(min_rows=20)
    return build_cohorts(table(sizes), "y", groups=["region", "hospital"], coding=coding)


def test_small_hospitals_are_merged_within_their_region():
    found = merged(n1=60, n2=12, n3=12, s1=60, s2=15, s3=15, t1=12, u1=30, u2=10)
    assert found.names == (
        "region=n & hospital=n1",
        "region=s & hospital=s1",
        "region=u & hospital=u1",
        "region=n & other",
        "region=s & other",
        "other",
    )
    assert found.parents.tolist() == [0, 1, 2, 0, 1, -1]
    assert found["other"].size == 22


def test_what_is_left_over_and_too_small_joins_the_region_with_the_fewest():
    found = merged(n1=60, n2=12, n3=12, s1=60, s2=15, s3=15, t1=6)
    assert found.names[2:] == ("region=s & other", "other")
    assert found["other"].size == 30
    assert min(cohort.size for cohort in found) >= 20


def test_a_hierarchy_of_which_nothing_is_left_is_none():
    assert merged(n1=60, n2=10, s1=60, s2=10).parents is None
    assert parents(table({"n1": 60, "n2": 10, "s1": 60, "s2": 10})) == [0, 0, 1, 1]


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(5)))
def test_other_names_of_hospitals_change_nothing_but_names(order):
    data = table()
    other = {name: f"h{number}" for name, number in zip(SIZES, order, strict=True)}
    renamed = data | {"hospital": np.array([other[name] for name in data["hospital"]])}
    groups = ["region", "hospital"]
    one, two = (build_cohorts(held, "y", groups=groups, coding=KEEP) for held in (data, renamed))
    assert two.parents.tolist() == one.parents.tolist()
    for name, new in other.items():
        left, right = one[name], two[new]
        assert left.codes.tolist() == right.codes.tolist()
