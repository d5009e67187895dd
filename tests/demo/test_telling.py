from __future__ import annotations

from math import comb

import pytest

from misfeat import SubgroupSelector
from misfeat.answers.top import best_sets
from misfeat.datasets import make_cohorts
from misfeat.demo.telling import mostly_chance


@pytest.fixture(scope="module")
def selection():
    """Few rows of features with many values: their own rows mislead."""
    data = make_cohorts(n_rows=100, similarity=300, hide=0.4, random_state=0)
    return SubgroupSelector(data.groups, size=2).fit(data.columns, data.target).selection_


def test_the_set_that_falls_furthest_is_the_one_that_is_named(selection):
    (sentence,) = mostly_chance(selection)
    every = comb(len(selection.feature_names), 2)
    best = []
    for name in selection.subgroup_names():
        sets = best_sets(selection, k=every, subgroup=name)
        own = [one for one in sets if one.source == "recorded"]
        best.append(max(own, key=lambda one: one.observed))
    furthest = max(best, key=lambda one: one.rank)
    assert sentence.startswith(f"{furthest.subgroup}: by its own rows alone, ")
    assert sentence.endswith(f", number {furthest.rank} of {every} sets.")
    assert furthest.score < furthest.observed / 2


def test_where_the_own_rows_rank_first_what_is_first_nothing_is_said():
    table = {"a": [0, 1] * 100, "b": [0, 0, 1, 1] * 50, "y": [0, 1] * 100}
    selection = SubgroupSelector(size=1).fit(table, "y").selection_
    assert list(mostly_chance(selection)) == []
