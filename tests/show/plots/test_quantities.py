from __future__ import annotations

import numpy as np

from misfeat import SubgroupSelector
from misfeat.show.plots.quantities import chance_words, significance_of


def noisy(rows=400):
    rng = np.random.default_rng(0)
    told = rng.integers(0, 2, rows)
    table = {"told": told, "noise": rng.integers(0, 2, rows)}
    return SubgroupSelector(size=1).fit(table, told)


def test_nothing_is_chance_before_it_was_asked():
    selection = noisy().selection_
    assert significance_of(selection, 1) is None


def test_what_was_tested_and_not_found_is_chance():
    selector = noisy()
    selector.significance(permutations=99)
    assert significance_of(selector.selection_, 1)[1].tolist() == [[False, True]]
    assert significance_of(selector.selection_, 2) is None  # sets of two were not tested
    assert chance_words(selector.selection_) == "not more than chance"


def test_sets_of_a_subgroup_in_which_nothing_tells_are_chance():
    selector = noisy()
    selector.significance(permutations=9, level=0.05)  # no p-value can be that small
    assert significance_of(selector.selection_, 1)[1].all()


def test_what_a_feature_tells_anyway_is_named():
    selector = noisy()
    selector.significance(permutations=99, within="told")
    assert significance_of(selector.selection_, 1)[1].all()
    assert chance_words(selector.selection_) == "not more than chance within told"
