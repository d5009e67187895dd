from __future__ import annotations

import numpy as np
import pytest

from misfeat.cohorts import Coding, build_cohorts


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


def names(coding=None, **rows):
    return build_cohorts(table(**rows), "y", groups="site", coding=coding).names


def test_subgroups_that_tell_no_pair_from_chance_are_merged_with_a_note():
    cohorts = build_cohorts(table(a=100, b=10, c=9), "y", groups="site")
    assert cohorts.names == ("site=a", "other")
    (note,) = cohorts.notes
    assert note.startswith("Subgroups with fewer than min_rows=18 rows are merged into 'other'")
    assert note.endswith("min_rows=1 keeps them.")


def test_they_are_left_out_where_small_ones_are():
    assert names(Coding(small_groups="drop"), a=100, b=10, c=9) == ("site=a",)
    assert names(Coding(small_groups="drop"), a=100, b=10) == ("site=a",)


def test_a_single_small_subgroup_is_not_merged_with_nothing():
    assert names(a=100, b=10) == ("site=a", "site=b")


@pytest.mark.parametrize("small_groups", ["merge", "drop"])
def test_where_all_are_small_all_are_kept(small_groups):
    coding = Coding(small_groups=small_groups)
    assert names(coding, a=10, b=9, c=8) == ("site=a", "site=b", "site=c")


def test_a_number_is_taken_at_its_word():
    assert names(Coding(min_rows=1), a=100, b=12, c=9) == ("site=a", "site=b", "site=c")
    assert names(Coding(min_rows=50), a=100, b=40, c=30) == ("site=a", "other")


def test_sites_of_the_heart_table_are_large_enough(heart_path):
    cohorts = build_cohorts(heart_path, "num", groups="site")
    assert len(cohorts.names) == 4
    assert cohorts.notes == ()


def test_a_merged_subgroup_of_parts_that_recorded_other_features_is_kept_in_mind():
    columns = table(a=100, b=12, c=12)
    columns["late"] = np.where(columns["site"] == "c", np.nan, columns["x"] + columns["z"])
    columns["early"] = np.where(columns["site"] == "a", np.nan, columns["x"] + columns["z"])
    cohorts = build_cohorts(columns, "y", groups="site")
    assert cohorts.joined == (("other", "late"),)
    mapped = build_cohorts(columns, "y", groups={"site": {"a": "a", "*": "rest"}})
    assert mapped.joined == (("site=rest", "late"),)
    apart = build_cohorts(columns, "y", groups="site", coding=Coding(min_rows=1))
    assert apart.joined == ()
