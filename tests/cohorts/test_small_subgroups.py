import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cli.errors import in_options
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.subgroups import sufficient_rows
from misfeat.exceptions import MisfeatError, MisfeatWarning
from misfeat.messages import Setting
from tests.information.generated import above_chance


def table(**rows):
    """So many rows of each site, two features of two values each: 18 rows tell a pair."""
    site = np.repeat(list(rows), list(rows.values()))
    n_rows = len(site)
    return {
        "site": site,
        "x": np.arange(n_rows) % 2,
        "z": np.arange(n_rows) // 2 % 2,
        "y": np.arange(n_rows) // 4 % 2,
    }


def test_subgroups_that_tell_no_pair_from_chance_are_merged_or_left_out_with_a_note():
    columns = table(other=100, b=10, c=9)
    cohorts = build_cohorts(columns, "y", groups="site")
    assert cohorts.names == ("site=other", "small subgroups")
    (note,) = cohorts.notes
    assert note.startswith("Subgroups with fewer than min_rows=18 rows are merged into 'small ")
    assert "site=b (10), site=c (9)" in note
    assert note.endswith("min_rows=1 keeps them.")
    with pytest.raises(MisfeatError, match="'site=b' has too few rows, and was merged"):
        cohorts.position("b")
    dropped = build_cohorts(columns, "y", groups="site", coding=Coding(small_groups="drop"))
    assert dropped.weights.sum() == 100
    assert "left out: site=b (10), site=c (9)" in dropped.notes[0]
    with pytest.raises(MisfeatError, match="has too few rows"):
        dropped.position("c")
    kept = build_cohorts(columns, "y", groups="site", coding=Coding(min_rows=1))
    assert kept["b"].size == 10


def test_what_is_merged_left_out_or_kept():
    drop, merge = Coding(small_groups="drop"), Coding(small_groups="merge")
    for coding, rows, expected in (
        (drop, {"a": 100, "b": 10, "c": 9}, ("site=a",)),
        (drop, {"a": 100, "b": 10}, ("site=a",)),
        (merge, {"a": 100, "b": 10}, ("site=a", "site=b")),  # there is nothing to merge it with
        (drop, {"a": 10, "b": 9, "c": 8}, ("site=a", "site=b", "site=c")),
        (merge, {"a": 10, "b": 9, "c": 8}, ("site=a", "site=b", "site=c")),
        (Coding(min_rows=1), {"a": 100, "b": 12, "c": 9}, ("site=a", "site=b", "site=c")),
        (Coding(min_rows=50), {"a": 100, "b": 40, "c": 30}, ("site=a", "small subgroups")),
    ):
        assert build_cohorts(table(**rows), "y", groups="site", coding=coding).names == expected


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"<5": 9, "5-10": 90, "40-54": 99, "55+": 8}, ("<5 to 5-10", "40-54 to 55+")),
        ({"55+": 9, "<5": 60}, ("<5", "55+")),  # two are left at least
        ({"1990": 90, "1995": 9, "2000": 50}, ("1990", "1995 to 2000")),
    ],
)
def test_small_subgroups_of_an_ordered_column_join_their_smaller_neighbour(sizes, expected):
    cohorts = build_cohorts(table(**sizes), "y", groups="site")
    assert cohorts.names == tuple(f"site={name}" for name in expected)


def test_merged_cuts_are_named_by_their_ends_and_by_the_other_columns():
    columns = table(a=112, b=112)
    columns["age"] = np.repeat([30, 35, 50, 70, 80], [8, 100, 100, 9, 7])
    cuts = {"age": [33, 40, 60, 75]}
    cohorts = build_cohorts(columns, "y", groups=cuts, coding=Coding(min_rows=12))
    assert cohorts.names == ("age<=40", "40<age<=60", "age>60")
    assert cohorts.full_name("<=40") == "age<=40"
    both = build_cohorts(columns, "y", groups=["site", cuts], coding=Coding(min_rows=20))
    assert both.names == ("site=a & age<=60", "site=b & age>40")
    whole = build_cohorts(columns, "y", groups=cuts, coding=Coding(min_rows=200))
    assert whole.names == ("any age",)


def test_neighbours_that_recorded_the_same_are_preferred():
    columns = lacking("lab", "1998", "2000")(table(**{"1998": 90, "2000": 9, "2002": 30}))
    cohorts = build_cohorts(columns, "y", groups="site")
    assert cohorts.names == ("site=1998 to 2000", "site=2002")


def test_a_note_has_the_rows_of_the_table_and_what_they_are_worth():
    columns = table(**{"<5": 40, "5-10": 90, "55+": 90})
    weight = np.where((columns["site"] == "<5") & (np.arange(220) % 4 > 0), 0.01, 1.0)
    cohorts = build_cohorts(columns, "y", groups="site", sample_weight=weight)
    assert "site=<5 (40 rows, worth 11 of equal weight)" in cohorts.notes[-1]
    assert "fewer than min_rows=18 rows of equal weight are merged" in cohorts.notes[-1]
    assert cohorts.names == ("site=<5 to 5-10", "site=55+")


@pytest.mark.parametrize(
    ("values", "cuts"), [(np.arange(20, 80), [39, 59]), (np.arange(60) / 4, [4.75, 9.75])]
)
def test_cuts_are_proposed_for_a_number_of_many_values(values, cuts):
    columns = table(a=240)
    columns |= {"site": np.repeat(values, 4), "y": np.arange(240) % 2}
    (note,) = build_cohorts(columns, "y", groups="site").notes
    setting = Setting("groups", cuts, column="site")
    assert note.endswith(f"has 60 values, which make many subgroups; {setting!s} makes 3.")
    assert in_options(note).endswith(f"--by 'site:{cuts[0]},{cuts[1]}' makes 3.")


def test_a_merged_subgroup_of_parts_that_recorded_other_features_is_kept_in_mind():
    columns = table(a=100, b=12, c=12)
    columns["late"] = np.where(columns["site"] == "c", np.nan, columns["x"] + columns["z"])
    columns["early"] = np.where(columns["site"] == "a", np.nan, columns["x"] + columns["z"])
    cohorts = build_cohorts(columns, "y", groups="site")
    assert cohorts.joined == (("small subgroups", "late"),)
    mapped = build_cohorts(columns, "y", groups={"site": {"a": "a", "*": "rest"}})
    assert mapped.joined == (("site=rest", "late"),)
    apart = build_cohorts(columns, "y", groups="site", coding=Coding(min_rows=1))
    assert apart.joined == ()


def lacking(column, *sites, like="x"):
    """A table's column, never recorded at some sites."""
    return lambda columns: {
        **columns,
        column: np.where(np.isin(columns["site"], sites), np.nan, columns[like]),
    }


def test_small_subgroups_that_recorded_the_same_are_merged_with_each_other():
    columns = lacking("lab", "b", "d")(table(a=100, b=12, c=12, d=12, e=12))
    cohorts = build_cohorts(columns, "y", groups="site")
    assert cohorts.names == ("site=a", "small subgroups", "small subgroups without lab")
    assert [cohort.size for cohort in cohorts] == [100, 24, 24]
    assert cohorts.missing_features("small subgroups without lab") == ("lab",)
    assert cohorts.joined == ()
    assert "'small subgroups', 'small subgroups without lab': site=b (12)" in cohorts.notes[0]


def test_those_with_too_few_rows_of_their_kind_join_the_nearest_and_are_told():
    columns = table(a=100, b=12, c=12, d=12, e=12, f=5)
    for column, sites in {"lab": "bdf", "scan": "bdf", "test": "f"}.items():
        columns = lacking(column, *sites)(columns)
    cohorts = build_cohorts(columns, "y", groups="site")
    assert cohorts.names == ("site=a", "small subgroups", "small subgroups without lab, scan")
    assert [cohort.size for cohort in cohorts] == [100, 24, 29]
    assert cohorts.joined == ()  # five rows may lack a test by chance


@given(
    st.lists(st.integers(2, 40), min_size=2, max_size=8),
    st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=8, max_size=8),
    st.integers(2, 60),
)
def test_merging_keeps_every_row_and_leaves_no_subgroup_small(sizes, recorded, min_rows):
    columns = table(**{f"s{i}": size for i, size in enumerate(sizes)})
    for feature in range(3):
        gone = [f"s{i}" for i in range(len(sizes)) if not recorded[i][feature]]
        columns = lacking(f"f{feature}", *gone)(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfeatWarning)
        cohorts = build_cohorts(columns, "y", groups="site", coding=Coding(min_rows=min_rows))
    found = [cohort.size for cohort in cohorts]
    assert sum(found) == sum(sizes)
    merged = [name for name in cohorts.names if name.startswith("small")]
    if len(merged) > 1:
        assert min(found) >= max(min_rows, 10)


@pytest.mark.parametrize(("values", "by_class"), [([], [5, 5]), ([3, 3], [9]), ([3, 3], [9, 0])])
def test_where_there_is_nothing_to_tell_one_row_is_enough(values, by_class):
    assert sufficient_rows(values, by_class) == 1


@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize("values", [2, 3])
def test_chance_seldom_tells_a_fifth_of_the_target_in_so_many_rows(values, share):
    rng = np.random.default_rng(values)
    n_rows = sufficient_rows([values] * 4, [1000 * share, 1000 * (1 - share)])
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    scores = []
    for _ in range(300):
        table = np.zeros((values**2, 2), dtype=int)
        cells, classes = rng.integers(0, values**2, n_rows), rng.random(n_rows) < share
        np.add.at(table, (cells, classes.astype(int)), 1)
        scores.append(above_chance(table))
    assert np.mean(np.array(scores) >= 0.2 * entropy) <= 0.1
