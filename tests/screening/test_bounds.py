"""No set scores above its bound."""

from __future__ import annotations

import numpy as np
import pytest

from misfeat import Coding
from misfeat.cohorts import build_cohorts
from misfeat.information.grids import information_of
from misfeat.screening.bounds import most_of_a_set


def table(seed, *, number=False):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 200))
    columns = {f"f{i}": (rng.random(n) < rng.uniform(0.01, 0.5)).astype(int) for i in range(6)}
    columns["wide"] = rng.integers(0, 9, n)
    noise = rng.random(n)
    columns["y"] = noise if number else (columns["f0"] ^ columns["f1"]) | (noise < 0.1)
    columns["g"] = rng.integers(0, 2, n)
    return columns


@pytest.mark.parametrize("above_chance", [False, True])
@pytest.mark.parametrize("number", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_no_set_scores_above_its_bound(seed, number, above_chance):
    cohorts = build_cohorts(table(seed, number=number), "y", groups="g")
    measure = information_of(cohorts, above_chance=above_chance)
    for size in (1, 2, 3):
        most = most_of_a_set(cohorts, size, above_chance=above_chance, n_jobs=None)
        for cohort in range(len(cohorts)):
            (scores,) = measure.of_levels(cohort, size, size, None)
            assert np.nanmax(scores) <= most[cohort] + 1e-9
            assert most[cohort] <= measure.ceiling[cohort] + 1e-9


def test_rare_features_have_a_bound_below_what_there_is_to_tell():
    rng = np.random.default_rng(0)
    columns = {f"f{i}": (rng.random(3000) < 0.01).astype(int) for i in range(20)}
    columns["y"] = rng.integers(0, 2, 3000)
    cohorts = build_cohorts(columns, "y")
    (most,) = most_of_a_set(cohorts, 3, above_chance=True, n_jobs=None)
    assert most < 0.25 * np.log(2)


def test_rows_that_lack_values_leave_no_bound_but_the_ceiling():
    columns = {"a": [0.0, 1.0, np.nan, 1.0] * 10, "b": [0, 1] * 20, "y": [0, 1, 1, 0] * 10}
    cohorts = build_cohorts(columns, "y", coding=Coding(sporadic="available"))
    measure = information_of(cohorts, above_chance=True)
    assert most_of_a_set(cohorts, 2, above_chance=True, n_jobs=None) == measure.ceiling
