from __future__ import annotations

import numpy as np

from misfeat.cohorts.reweighting import reweighted
from tests.completion.coded import drawn_cohorts


def test_other_counts_keep_cohorts_apart():
    cohorts = drawn_cohorts()
    rng = np.random.default_rng(0)
    weights = rng.binomial(cohorts.weights, 0.5)
    found = reweighted(cohorts, weights)
    for number, (before, after) in enumerate(zip(cohorts, found, strict=True)):
        rows = slice(*cohorts.offsets[number : number + 2])
        kept = weights[rows] > 0
        assert after.size == weights[rows].sum()
        assert (after.codes == before.codes[:, kept]).all()
        assert (after.target == before.target[kept]).all()


def test_a_cohort_may_lose_all_of_its_rows():
    cohorts = drawn_cohorts(n_cohorts=2)
    weights = cohorts.weights.copy()
    weights[: cohorts.offsets[1]] = 0
    assert [cohort.size for cohort in reweighted(cohorts, weights)] == [0, 120]
