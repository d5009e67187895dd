"""Scores are computed size by size, of all sets or of a share of them."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from misfeat.cohorts import Coding, build_cohorts
from misfeat.information.grids import information_of
from misfeat.selection.computing import Computing

N_FEATURES = 5


@pytest.fixture(scope="module")
def measure():
    """Two subgroups and a number for a target, which is cut in several ways."""
    rng = np.random.default_rng(4)
    table = {f"f{number}": rng.integers(0, 3, 120) for number in range(N_FEATURES)}
    table |= {"group": np.repeat(["a", "b"], 60), "y": rng.normal(size=120)}
    return information_of(build_cohorts(table, "y", groups="group", coding=Coding(target="number")))


def levels(measure, budget):
    seeds = np.random.SeedSequence(1).spawn(2)
    computing = Computing(measure, budget, "stratified", 1, seeds)
    return computing.levels(1, 3, None)


def test_there_is_a_score_for_every_grid_cohort_and_set(measure):
    found = levels(measure, 1.0)
    n_grids = len(measure.parts)
    assert n_grids > 1
    assert [one.shape for one in found] == [(n_grids, 2, comb(N_FEATURES, m)) for m in (1, 2, 3)]
    assert all(np.isfinite(one).all() for one in found)


def test_of_a_budget_the_same_sets_are_computed_in_every_grid(measure):
    whole, some = levels(measure, 1.0), levels(measure, 0.5)
    for of_all, found in zip(whole, some, strict=True):
        computed = np.isfinite(found)
        assert (computed == computed[0]).all()
        assert np.array_equal(found[computed], of_all[computed])
    n_computed = sum(int(np.isfinite(one[0, 0]).sum()) for one in some)
    assert 0 < n_computed < sum(comb(N_FEATURES, m) for m in (1, 2, 3))
