from __future__ import annotations

import numpy as np
import pytest

from misfeat.information.chance import above_chance
from misfeat.information.correlation import adjusted_correlation
from misfeat.population.variance import (
    OF_CORRELATION,
    OF_INFORMATION,
    difference_of_correlations,
    null_variance,
    null_variance_of_correlations,
    sampling_variance,
    sampling_variance_of_correlations,
)


def test_variances_are_those_of_a_noncentral_chi_square():
    null = null_variance([100, 50], [4, 8], 3)
    assert null[1, 1] == pytest.approx(7 * 2 / (2 * 50**2))
    found = sampling_variance(np.array([[0.1, -0.2], [0.0, 0.3]]), null, [100, 50])
    assert found[0] == pytest.approx([null[0, 0] + 0.2 / 100, null[0, 1]])
    assert found[1] == pytest.approx([null[1, 0], null[1, 1] + 0.6 / 50])


def test_cells_may_be_counted_cohort_by_cohort():
    assert null_variance([10, 10], [[3, 5], [5, 3]], 2).tolist() == [[0.01, 0.02], [0.02, 0.01]]


@pytest.mark.parametrize("dependence", [0.0, 0.1])
def test_scores_of_samples_vary_as_much_as_told(dependence):
    rng = np.random.default_rng(0)
    joint = np.full((4, 2), 1 / 8) + dependence / 8 * np.outer([1, -1, 1, -1], [1, -1])
    truth = float((joint * np.log(joint / (joint.sum(1, keepdims=True) * joint.sum(0)))).sum())
    drawn = rng.multinomial(2000, joint.ravel(), size=3000).reshape(-1, 4, 2)
    scores = np.array([above_chance(table) for table in drawn])
    told = sampling_variance(np.array([[truth]]), null_variance([2000], [4], 2), [2000])[0, 0]
    assert scores.mean() == pytest.approx(truth, abs=4 * np.sqrt(told / 3000))
    assert scores.var() == pytest.approx(told, rel=0.15)


@pytest.mark.parametrize("explained", [0.0, 0.3, 0.8])
def test_adjusted_r2_of_samples_varies_as_much_as_told(explained):
    rng = np.random.default_rng(0)
    n_rows, scores = 400, []
    for _ in range(3000):
        rows = rng.normal(size=(4, n_rows))
        rows[3] = np.sqrt(explained) * rows[0] + np.sqrt(1 - explained) * rows[3]
        rows -= rows.mean(axis=1, keepdims=True)
        scores.append(adjusted_correlation(rows @ rows.T, np.array([[0, 1, 2]]), n_rows)[0])
    null = null_variance_of_correlations([n_rows], 3)
    told = sampling_variance_of_correlations(np.array([[explained]]), null, [n_rows])[0, 0]
    assert np.mean(scores) == pytest.approx(explained, abs=4 * np.sqrt(told / 3000))
    assert np.var(scores) == pytest.approx(told, rel=0.15)


def test_r2_differs_between_cohorts_as_between_samples_of_so_many_rows():
    x, nothing = np.array([[0.1, 0.5, 0.9]]), np.zeros((1, 1))
    of_samples = sampling_variance_of_correlations(x, nothing, [50])
    assert of_samples == pytest.approx(difference_of_correlations(x) / 50)
    assert difference_of_correlations(np.array([-0.1, 1.2])).tolist() == [0.0, 0.0]


def test_a_measure_says_how_its_scores_vary():
    x, null = np.array([[0.2]]), np.array([[1e-4]])
    assert OF_INFORMATION.between(x) == pytest.approx(0.04)
    assert np.array_equal(
        OF_INFORMATION.sampling(x, null, [100]), sampling_variance(x, null, [100])
    )
    assert OF_CORRELATION.between(x) == pytest.approx(0.8 * 0.64)
