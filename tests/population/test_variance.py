from __future__ import annotations

import numpy as np
import pytest

from misfeat.population import above_chance, null_variance, sampling_variance


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
