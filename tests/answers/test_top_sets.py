from itertools import pairwise

import numpy as np
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.recording_gains import feature_worths
from misfeat.answers.top_sets import alternative_sets, best_sets
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


@pytest.fixture(scope="module")
def selector():
    data = load_heart()
    return SubgroupSelector("site", size=3).fit(data.columns, data.target)


def test_alternatives_cannot_be_told_apart_and_fewest_swaps_come_first(selector):
    best = best_sets(selector.selection_, subgroup="site=cleveland", k=1)[0]
    found = alternative_sets(selector.selection_, best.subgroup, best.features, k=60)
    assert len(found) == 60
    assert [one.swaps for one in found] == sorted(one.swaps for one in found)
    for one in found:
        assert one.difference_low <= 0 <= one.difference_high
        assert one.difference == pytest.approx(one.score - best.score)
        assert set(one.features) == set(best.features) - set(one.given_up) | set(one.taken)
        assert len(one.given_up) == len(one.taken) == one.swaps >= 1
        assert one.words == f"{' and '.join(one.taken)} for {' and '.join(one.given_up)}"
    near = [one.given_up for one in found if one.swaps == 1]
    assert len(set(near)) == 1 + sum(a != b for a, b in pairwise(near))
    assert len(selector.alternatives("site=va", ["cp", "ca"], k=3)) == 3
    with pytest.raises(MisfeatError, match="k=0"):
        selector.alternatives("site=va", ["cp", "ca"], k=0)


def test_a_copy_is_an_alternative_and_not_distinct():
    rng = np.random.default_rng(0)
    a, noise = rng.integers(0, 2, 500), rng.random(500) < 0.1
    table = {"a": a, "copy": 1 - a, "b": rng.integers(0, 2, 500), "y": a ^ noise}
    selection = SubgroupSelector(size=1).fit(table, "y").selection_
    (found,) = alternative_sets(selection, "all rows", ["a"])
    assert (found.words, found.difference) == ("copy for a", 0.0)
    shown = best_sets(selection, distinct=True)
    assert [(one.rank, one.features) for one in shown] == [(1, ("a",)), (3, ("b",))]


def test_distinct_sets_differ_in_two_features_or_can_be_told_apart(selector):
    shown = best_sets(selector.selection_, subgroup="site=cleveland", k=5, distinct=True)
    ranks = [one.rank for one in shown]
    assert ranks[0] == 1
    assert ranks == sorted(set(ranks))
    every = best_sets(selector.selection_, subgroup="site=cleveland", k=1000)
    for place, one in enumerate(shown):
        assert every[one.rank - 1].features == one.features
        for other in shown[:place]:
            if len(set(one.features) & set(other.features)) == 2:
                near = alternative_sets(
                    selector.selection_, "site=cleveland", other.features, k=1000
                )
                assert one.features not in [n.features for n in near]
