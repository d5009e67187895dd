from itertools import pairwise

import numpy as np
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.answers.top_sets import alternative_sets, best_sets
from misfeat.datasets import load_heart


@pytest.fixture(scope="module")
def heart():
    data = load_heart()
    return SubgroupSelector("site", size=3).fit(data.columns, data.target)


def test_alternatives_cannot_be_told_apart_and_fewest_swaps_come_first(heart):
    best = best_sets(heart.selection_, subgroup="site=cleveland", k=1)[0]
    found = alternative_sets(heart.selection_, best.subgroup, best.features, k=60)
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
    assert len(heart.alternatives("site=va", ["cp", "ca"], k=3)) == 3
    with pytest.raises(MisfeatError, match="k=0"):
        heart.alternatives("site=va", ["cp", "ca"], k=0)


def test_a_copy_is_an_alternative_and_not_distinct():
    rng = np.random.default_rng(0)
    a, noise = rng.integers(0, 2, 500), rng.random(500) < 0.1
    table = {"a": a, "copy": 1 - a, "b": rng.integers(0, 2, 500), "y": a ^ noise}
    selector = SubgroupSelector(size=1).fit(table, "y")
    (found,) = alternative_sets(selector.selection_, "all rows", ["a"])
    assert (found.words, found.difference) == ("copy for a", 0.0)
    shown = best_sets(selector.selection_, distinct=True)
    assert [(one.rank, one.features) for one in shown] == [(1, ("a",)), (3, ("b",))]


def test_distinct_sets_differ_in_two_features_or_can_be_told_apart(heart):
    shown = best_sets(heart.selection_, subgroup="site=cleveland", k=5, distinct=True)
    ranks = [one.rank for one in shown]
    assert ranks[0] == 1
    assert ranks == sorted(set(ranks))
    every = best_sets(heart.selection_, subgroup="site=cleveland", k=1000)
    for place, one in enumerate(shown):
        assert every[one.rank - 1].features == one.features
        for other in shown[:place]:
            if len(set(one.features) & set(other.features)) == 2:
                near = alternative_sets(heart.selection_, "site=cleveland", other.features, k=1000)
                assert one.features not in [n.features for n in near]
