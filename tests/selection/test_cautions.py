from __future__ import annotations

import pandas as pd
import pytest

from misfeat import Coding, SubgroupSelector


@pytest.fixture(scope="module")
def heart(heart_path):
    return pd.read_csv(heart_path)


def cautions(table, target, **settings):
    return SubgroupSelector(**settings).fit(table, target).cautions()


def test_a_value_that_may_stand_for_missing_is_pointed_out(heart):
    (found,) = [one for one in cautions(heart, "num", groups="site", size=2) if "chol" in one]
    assert found.startswith("Feature 'chol' has a single value in 'site=switzerland'")
    assert found.endswith("say so: missing_values={'chol': ...}.")
    (setting,) = found.settings
    assert (setting.parameter, setting.column) == ("missing_values", "chol")
    coding = Coding(missing_values={"chol": [0]})
    coded = cautions(heart, "num", groups="site", size=2, coding=coding)
    assert not [one for one in coded if "chol" in one]


def test_a_single_value_in_a_handful_of_rows_is_no_surprise(heart):
    with pytest.warns(UserWarning, match="has a single value"):
        found = cautions(heart, "num", groups="age", size=1)
    assert not [one for one in found if one.startswith("Feature") and "'age=28'" in one]
    (single,) = [one for one in found if one.startswith("The target 'num' has a single value")]
    assert "'age=28'" in single
    assert not [one for one in found if one.startswith("No set tells") and "'age=28'" in one]


def test_few_rows_for_many_combinations_are_pointed_out(heart):
    for size, pointed_out in ((3, True), (1, False)):
        found = cautions(heart, "num", groups="site", size=size, estimate="sample")
        assert any(one.startswith("Few rows in 'site=clevel") for one in found) is pointed_out


def test_sets_that_tell_nothing_are_pointed_out():
    rows = [(site, x, y) for site in "ab" for x in (0, 1) for y in (0, 1)] * 30
    table = {
        "site": [site for site, _, _ in rows],
        "x": [x for _, x, _ in rows],
        "y": [x if site == "a" else y for site, x, y in rows],
    }
    (found,) = cautions(table, "y", groups="site", size=1, estimate="sample")
    assert found == (
        "No set tells more than 2 % of the target 'y' in 'site=b'; the order of sets there may be "
        "chance."
    )
    by_correlation = cautions(table, "y", groups="site", size=1, measure="r2", estimate="sample")
    assert len(by_correlation) == 1


def test_few_subgroups_to_pool_are_pointed_out(heart):
    two = heart[heart["site"].isin(["cleveland", "hungarian"])]
    for table, groups, words in (
        (heart, "site", None),
        (two, "site", "With 2 subgroups one learns little"),
        (two, None, "There is one subgroup only"),
    ):
        found = cautions(table, "num", groups=groups, size=1)
        said = [one for one in found if "subgroups one learns" in one or "one subgroup" in one]
        assert [one.startswith(words) for one in said] == ([] if words is None else [True])
        assert not [
            one
            for one in cautions(table, "num", groups=groups, size=1, estimate="above_chance")
            if "subgroups one learns" in one or "one subgroup" in one
        ]


def test_few_cases_are_pointed_out_where_there_are_two_classes():
    table = {"a": [0, 1] * 100, "b": [0, 0, 1, 1] * 50}
    rare, common, many = [1] * 20 + [0] * 180, [0, 1] * 100, [0, 1, 2, 2] * 50

    def said(y):
        found = cautions(table, y, size=1)
        return [one for one in found if one.startswith("Few rows of the rarer class")]

    assert said(common) == said(many) == []
    (found,) = said(rare)
    assert "20 at the fewest, in 'all rows'; take" in found
