import numpy as np
import pytest

from misfeat.estimation.moments import Moments


def gaussian(seed, n_cohorts=40, n_rows=2000):
    """Subgroups drawn from one covariance, each lacking one of four columns."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(5, 5))
    truth = mixing @ mixing.T / 5 + np.eye(5)
    own = np.array(
        [np.cov(rng.multivariate_normal(np.zeros(5), truth, n_rows).T) for _ in range(n_cohorts)]
    )
    recorded = np.ones((n_cohorts, 4), dtype=bool)
    recorded[np.arange(n_cohorts), np.arange(n_cohorts) % 4] = False
    columns = tuple(np.array([f]) for f in range(4))
    return Moments(own, np.full(n_cohorts, float(n_rows)), recorded, columns, 1), truth


@pytest.mark.parametrize("seed", [0, 1])
def test_em_finds_the_covariance_that_no_subgroup_has_whole(seed):
    moments, truth = gaussian(seed)
    assert moments.shared == pytest.approx(truth, abs=0.06 * np.abs(truth).max())


def test_what_is_hidden_is_not_read():
    moments, _ = gaussian(0)
    mask = ~moments.recorded
    spoiled = moments.own.copy()
    for k, f in zip(*np.nonzero(mask), strict=True):
        spoiled[k, f, :] = spoiled[k, :, f] = 1e6
    other = Moments(spoiled, moments.rows, moments.recorded, moments.columns, 1)
    assert np.array_equal(moments.shared, other.shared)
