from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from misfeat import Coding, SubgroupSelector
from misfeat.answers.cautions import list_cautions
from misfeat.answers.column_cautions import SEVERITIES, Caution
from misfeat.cli.errors import in_options


@pytest.fixture(scope="module")
def heart(heart_path):
    return pd.read_csv(heart_path)


def cautions(table, target, **settings):
    return [one.words for one in caution_list(table, target, **settings)]


def caution_list(table, target, **settings):
    return list_cautions(SubgroupSelector(**settings).fit(table, target).selection_)


def test_a_value_that_may_stand_for_missing_is_pointed_out(heart):
    cautioned = caution_list(heart, "num", groups="site", size=2)
    (found,) = [one for one in cautioned if "chol" in one.columns]
    assert found.sentence == (
        "Feature 'chol' is 0 in 172 rows, and from 85 to 603 in all others: that looks like a code "
        "for missing values."
    )
    assert found.remedy == "If it is one, say so: missing_values={'chol': [0]}."
    assert in_options(found.remedy).endswith("say so: --missing 'chol=0'.")
    coding = Coding(missing_values={"chol": [0]})
    coded = cautions(heart, "num", groups="site", size=2, coding=coding)
    assert not [one for one in coded if "chol" in one]


def test_a_single_value_in_one_subgroup_is_pointed_out(heart):
    table = heart.assign(chol=heart["chol"].replace(0, 90))
    cautioned = caution_list(table, "num", groups="site", size=1)
    (found,) = [one for one in cautioned if "chol" in one.columns]
    assert found.sentence.startswith("Feature 'chol' has a single value in 'site=switzerland'")
    assert found.remedy.endswith("say so: missing_values={'chol': ...}.")
    assert found.subgroups == ("site=switzerland",)
    (setting,) = found.remedy.settings
    assert (setting.parameter, setting.column) == ("missing_values", "chol")


def test_a_single_value_in_a_handful_of_rows_is_no_surprise(heart):
    with pytest.warns(UserWarning, match="has a single value"):
        found = cautions(heart, "num", groups="age", size=1, coding=Coding(min_rows=1))
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
    found = caution_list(table, "y", groups="site", size=1, estimate="sample")
    by_kind = {one.kind: one for one in found}
    assert set(by_kind) == {"leak", "tells little"}
    assert by_kind["leak"].subgroups == ("site=a",)
    assert by_kind["tells little"].words == (
        "No set tells more than 2 % of the target 'y' in 'site=b'; the order of sets there may be "
        "chance."
    )
    by_correlation = cautions(table, "y", groups="site", size=1, measure="r2", estimate="sample")
    assert len(by_correlation) == 2


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


def test_the_worst_comes_first_and_a_frame_says_the_same(heart):
    table = heart.assign(copy=heart["num"] * 2)
    selector = SubgroupSelector("site", size=1).fit(table, "num")
    found = list_cautions(selector.selection_)
    assert found[0].kind == "leak"
    places = [SEVERITIES.index(one.severity) for one in found]
    assert places == sorted(places)
    frame = selector.cautions()
    assert list(frame) == list(Caution.__dataclass_fields__)
    assert frame["sentence"].tolist() == [str(one.sentence) for one in found]
    assert frame["columns"].tolist() == [one.columns for one in found]


def test_subgroups_with_too_few_rows_are_kept_and_pointed_out():
    rows = {"site": ["a"] * 12 + ["b"] * 12, "x": [0, 1] * 12, "y": [0, 0, 1, 1] * 6}
    found = caution_list(rows, "y", groups="site", size=1)
    (few,) = [one for one in found if one.kind == "few rows"]
    assert few.subgroups == ("site=a", "site=b")
    assert few.sentence.startswith("Fewer than 18 rows in 'site=a', 'site=b'")


def unlike_table(beta_of_small, n_small=120, seed=0):
    rng = np.random.default_rng(seed)
    parts = []
    for site, n_rows in (("a", 1200), ("b", 1200), ("c", 1200), ("small", n_small)):
        features = rng.integers(0, 3, (n_rows, 6))
        beta = beta_of_small if site == "small" else [1.2, 0.8, 0.5, 0.3, 0.0, 0.0]
        odds = 1 / (1 + np.exp(-(features - 1) @ np.array(beta)))
        part = pd.DataFrame(features, columns=[f"f{i}" for i in range(6)])
        parts.append(part.assign(site=site, y=(rng.random(n_rows) < odds).astype(int)))
    return pd.concat(parts)


def test_a_small_subgroup_is_named_where_it_contradicts_the_others():
    selector = SubgroupSelector("site", size=2).fit(unlike_table([0, 0, 0, 0, 2.2, 0]), "y")
    (caution,) = (one for one in list_cautions(selector.selection_) if one.kind == "unlike")
    assert caution.subgroups == ("site=small",)
    assert caution.columns == ("f4",)
    assert "where all subgroups together suggest" in caution.words
    selector = SubgroupSelector("site", size=2).fit(unlike_table([1.2, 0.8, 0.5, 0.3, 0, 0]), "y")
    assert not [one for one in list_cautions(selector.selection_) if one.kind == "unlike"]
