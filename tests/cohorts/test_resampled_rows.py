import numpy as np
import pytest

from misfeat.cohorts import build_cohorts
from misfeat.cohorts.resampled_rows import reweighted, subsample
from tests.completion.coded import drawn_cohorts


def test_drawn_rows_keep_their_mean_weight():
    cohorts = build_cohorts(
        {"x": [0, 0, 1, 1], "y": [0, 0, 1, 1]}, "y", sample_weight=[1.0, 2.0, 3.0, 4.0]
    )
    half = reweighted(cohorts, np.array([1, 1]))
    np.testing.assert_allclose(half.counts / half.counts.sum(), [0.3, 0.7], rtol=1e-12)
    assert half.effective[0] == pytest.approx(cohorts.effective[0] / 2)


def test_a_share_of_every_cohort_is_drawn_and_no_row_more_often_than_it_is_there():
    cohorts = drawn_cohorts()
    drawn = subsample(cohorts, 1 / 3, np.random.default_rng(0))
    assert [one.size for one in drawn] == [round(one.size / 3) for one in cohorts]
    for before, after in zip(cohorts, drawn, strict=True):
        there = {(*row, y): n for *row, y, n in rows_of(before)}
        assert all(0 < count <= there[*row, y] for *row, y, count in rows_of(after))
    assert (drawn.missing == cohorts.missing).all()
    alone = drawn_cohorts(n_cohorts=1)
    few = reweighted(alone, (np.arange(len(alone.weights)) == 0).astype(np.int64))
    assert subsample(few, 1 / 3, np.random.default_rng(0)).weights.tolist() == [1]


def rows_of(cohort):
    return np.vstack([cohort.codes, cohort.target, cohort.weights]).T.tolist()


def test_more_rows_than_numpy_draws_from_are_drawn_one_by_one():
    cohorts = drawn_cohorts(n_cohorts=2)
    many = reweighted(cohorts, cohorts.weights * 10**8)
    for before, after in zip(many, subsample(many, 1 / 3, np.random.default_rng(0)), strict=True):
        assert before.size > 10**9
        assert abs(after.size / before.size - 1 / 3) < 1e-4
