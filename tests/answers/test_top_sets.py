from __future__ import annotations

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.answers.cautions import list_cautions
from misfeat.answers.feature_contributions import feature_worths
from misfeat.answers.options import shown_scores
from misfeat.answers.top_sets import as_columns, best_sets, scored_sets
from misfeat.datasets import load_heart, make_cohorts


@pytest.fixture(scope="module")
def heart():
    columns = load_heart().columns
    return {**columns, "copy": np.asarray(columns["num"]) * 2}


@pytest.mark.parametrize("estimate", ["population", "above_chance", "sample"])
def test_a_list_holds_one_set_with_a_copy_of_the_target(heart, estimate):
    selector = SubgroupSelector("site", size=2, k=6, estimate=estimate).fit(heart, "num")
    for name in selector.cohorts_.names:
        found = best_sets(selector.selection_, subgroup=name)
        assert ["copy" in one.features for one in found] == [True, *[False] * 5]
        ranks = [one.rank for one in found]  # among all sets, so that those left out are seen
        assert ranks == sorted(set(ranks))
        assert ranks[0] == 1 < ranks[1] - 1
        assert "copy" in best_sets(selector.selection_, size=1, k=1, subgroup=name)[0].features


def test_two_sufficient_features_have_a_set_each_or_one_together(heart):
    table = {**heart, "again": np.asarray(heart["num"]) + 7}
    selector = SubgroupSelector(size=2, k=3, estimate="sample").fit(table, "num")
    held = [set(one.features) & {"copy", "again"} for one in best_sets(selector.selection_)]
    assert sum(map(len, held)) == 2
    assert held[-1] == set()


def test_a_pair_that_is_sufficient_together_stands_for_its_supersets():
    rng = np.random.default_rng(0)
    a, b, *others = rng.integers(0, 2, (6, 400))
    table = {"a": a, "b": b, **{f"x{n}": x for n, x in enumerate(others)}, "y": a ^ b}
    selector = SubgroupSelector(size=3, k=3).fit(table, "y")
    assert [{"a", "b"} <= set(one.features) for one in best_sets(selector.selection_)] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("measure", ["mutual_info", "r2"])
def test_a_subgroup_with_one_class_has_no_ranking(measure):
    rng = np.random.default_rng(0)
    site = np.repeat(["a", "b"], 100)
    table = {"site": site, "x": rng.integers(0, 3, 200), "z": rng.integers(0, 3, 200)}
    table["y"] = np.where(site == "b", 1, rng.integers(0, 2, 200))
    with pytest.warns(UserWarning, match="single value"):
        selector = SubgroupSelector("site", size=1, measure=measure).fit(table, "y")
    assert {one.subgroup for one in best_sets(selector.selection_)} == {"site=a"}
    assert len(selector.top_k(subgroup="site=b")) == 0
    assert len(selector.scores(subgroup="site=b")) == 2
    assert not feature_worths(selector.selection_, subgroup="site=b")
    (caution,) = [one for one in list_cautions(selector.selection_) if one.kind == "one class"]
    assert caution.subgroups == ("site=b",)
    assert "no set is listed" in selector.report(validate=False).html()


@pytest.mark.parametrize("settings", [{}, {"estimate": "sample"}, {"include": ["f1"]}])
@pytest.mark.parametrize("tested", [False, True])
def test_columns_hold_what_the_sets_hold_one_by_one(settings, tested):
    data = make_cohorts(n_cohorts=3, n_rows=120, n_features=5, hide=0.3, random_state=0)
    selection = SubgroupSelector(data.groups, size=2, **settings).fit(data.columns, data.target)
    found = selection.selection_
    if tested:
        found.significance(permutations=19)
    sets = scored_sets(found, shown_scores(found, 2), found.cohorts.names)
    wanted = {name: values for name, values in as_columns(sets).items() if name != "rank"}
    frame = selection.scores()
    assert list(frame.columns) == list(wanted)
    for name, values in wanted.items():
        if isinstance(values[0], float):
            np.testing.assert_array_equal(frame[name].to_numpy(), np.array(values))
        else:
            assert frame[name].tolist() == values
