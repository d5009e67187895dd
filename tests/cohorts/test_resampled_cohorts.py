from __future__ import annotations

import numpy as np

from misfeat.cohorts.weights import reweighted, subsample
from tests.completion.coded import drawn_cohorts


def test_a_share_of_every_cohort_is_drawn_and_no_row_more_often_than_it_is_there():
    cohorts = drawn_cohorts()
    found = subsample(cohorts, 1 / 3, np.random.default_rng(0))
    assert [one.size for one in found] == [round(one.size / 3) for one in cohorts]
    for before, after in zip(cohorts, found, strict=True):
        there = _counted(before)
        for row, count in _counted(after).items():
            assert 0 < count <= there[row]
    assert (found.missing == cohorts.missing).all()


def test_the_smallest_cohort_keeps_a_row():
    cohorts = drawn_cohorts(n_cohorts=1)
    few = reweighted(cohorts, (np.arange(len(cohorts.weights)) == 0).astype(np.int64))
    assert subsample(few, 1 / 3, np.random.default_rng(0)).weights.tolist() == [1]


def test_more_rows_than_numpy_draws_from_are_drawn_one_by_one():
    cohorts = drawn_cohorts(n_cohorts=2)
    many = reweighted(cohorts, cohorts.weights * 10**8)
    found = subsample(many, 1 / 3, np.random.default_rng(0))
    for before, after in zip(many, found, strict=True):
        assert before.size > 10**9
        assert abs(after.size / before.size - 1 / 3) < 1e-4


def _counted(cohort):
    counts = {}
    for *codes, target, weight in zip(*cohort.codes, cohort.target, cohort.weights, strict=True):
        row = (*map(int, codes), int(target))
        counts[row] = counts.get(row, 0) + int(weight)
    return counts
