"""The search looks at all singles and pairs, and grows the best of them."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from misfeat.cohorts import build_cohorts
from misfeat.information.grids import information_of
from misfeat.screening import searching
from misfeat.screening.ranking import POOLED, TOGETHER, TOTAL
from misfeat.screening.searching import Search, searched


def ranking(found, size, kind, cohort=POOLED):
    (one,) = (r for r in found if (r.size, r.kind, r.cohort) == (size, kind, cohort))
    return one


def test_features_that_tell_only_together_come_first_among_pairs(wide):
    found, looked = searched(Search(wide, 2, above_chance=True))
    names = [wide.features[f] for f in ranking(found, 2, TOGETHER).sets[0]]
    assert names == ["f03", "f09"]
    assert wide.features[ranking(found, 1, TOTAL).sets[0, 0]] == "f05"
    assert [(one.sets, one.of, one.whole) for one in looked] == [
        (24, 24, True),
        (276, 276, True),
    ]


def test_noise_is_seldom_clear(wide):
    found, _ = searched(Search(wide, 3, above_chance=True))
    clear = {f for one in found if one.kind == TOGETHER for f in one.clear.ravel().tolist()}
    assert {3, 9} <= clear <= {3, 5, 9} | set(range(24))
    assert len(clear) <= 6


def test_scores_of_one_cohort_are_those_of_the_measure(wide):
    found, _ = searched(Search(wide, 2, above_chance=False))
    measure = information_of(wide)
    (scores,) = measure.of_levels(1, 2, 2, None)
    own = ranking(found, 2, TOTAL, 1)
    assert own.beyond == pytest.approx(np.sort(scores)[::-1])


def test_grown_sets_count_as_telling_only_what_no_part_tells(wide):
    """A pair that tells together makes no triple clear with a third that adds nothing."""
    found, looked = searched(Search(wide, 3, above_chance=True))
    triples = ranking(found, 3, TOGETHER).clear.tolist()
    assert not [members for members in triples if {3, 9} <= set(members)]
    assert looked[2].sets == comb(24, 3)


def test_where_pairs_do_not_fit_the_best_features_grow(wide, monkeypatch):
    monkeypatch.setattr(searching, "MOST_COUNTED", 1.0)
    monkeypatch.setattr(searching, "MOST_GROWN", 1.0)
    monkeypatch.setattr(searching, "FEWEST_GROWN", 3)
    found, looked = searched(Search(wide, 2, above_chance=True))
    assert not looked[1].whole
    assert looked[1].sets == comb(24, 2) - comb(21, 2)
    alone = ranking(found, 1, TOTAL).sets[0, 0]
    assert any(alone in members for members in ranking(found, 2, TOTAL).sets.tolist())


def test_a_set_to_include_grows_first(wide, monkeypatch):
    monkeypatch.setattr(searching, "MOST_GROWN", 1.0)
    monkeypatch.setattr(searching, "FEWEST_GROWN", 1)
    found, _ = searched(Search(wide, 3, above_chance=True, include=(11, 2)))
    sets = ranking(found, 3, TOTAL).sets
    assert len(sets) == 22
    assert all({2, 11} <= set(members) for members in sets.tolist())


def test_features_that_no_subgroup_recorded_together_are_not_looked_at():
    rng = np.random.default_rng(0)
    table = {f"f{i}": rng.integers(0, 2, 60).astype(float) for i in range(4)}
    table["g"] = np.repeat([0, 1], 30)
    table["f0"][:30] = np.nan
    table["f1"][30:] = np.nan
    table["y"] = rng.integers(0, 2, 60)
    _, looked = searched(Search(build_cohorts(table, "y", groups="g"), 3, above_chance=True))
    assert looked[1].sets == 5
    assert looked[2].sets == sum(not {0, 1} <= set(s) for s in combinations(range(4), 3))


def test_a_numeric_target_is_searched_in_all_grids():
    rng = np.random.default_rng(0)
    table = {f"f{i}": rng.integers(0, 3, 500) for i in range(8)}
    sign = np.where((table["f1"] > 0) ^ (table["f6"] > 0), 1.0, -1.0)
    table["y"] = sign + rng.normal(size=500)
    found, _ = searched(Search(build_cohorts(table, "y"), 3, above_chance=True))
    assert ranking(found, 2, TOGETHER).sets[0].tolist() == [1, 6]


def test_progress_never_goes_back(wide):
    told = []
    searched(Search(wide, 3, above_chance=True), lambda *said: told.append(said))
    shares = [done / total for _, done, total in told]
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert shares[-1] <= 1
