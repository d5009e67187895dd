import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.recording_gains import feature_worths
from misfeat.answers.top_sets import best_sets
from misfeat.datasets import load_heart


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
