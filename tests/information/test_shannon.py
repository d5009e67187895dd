from __future__ import annotations

import numpy as np
import pytest

from misfeat.information import entropies, joint_mutual_info, target_entropy
from misfeat.information.shannon import entropy
from misfeat.lattice import level
from tests.information.generated import cohort_of, random_cohort, with_gaps


def test_no_rows_have_no_entropy():
    assert entropy(np.array([])) == 0.0


def test_the_entropy_of_the_target_counts_rows_as_often_as_they_weigh():
    cohort = cohort_of(np.array([[0, 0]]), np.array([0, 1]), np.array([3, 1]))
    assert target_entropy(cohort) == pytest.approx(entropy(np.array([3, 1])))


@pytest.mark.parametrize("make", [random_cohort, with_gaps])
def test_entropies_are_those_of_the_counts_and_make_the_score(make):
    cohort = make()
    n = len(cohort.codes)
    for size in range(1, 4):
        subsets = level(n, size)
        found = entropies(cohort, subsets)
        score = found.features + found.target - found.joint
        assert score == pytest.approx(joint_mutual_info(cohort, subsets), abs=1e-12)
        for i, subset in enumerate(subsets):
            rows = (cohort.codes[subset] >= 0).all(axis=0)
            keys = np.unique(cohort.codes[subset][:, rows], axis=1, return_inverse=True)[1].ravel()
            joint = keys * cohort.n_classes + cohort.target[rows]
            assert found.features[i] == pytest.approx(entropy(np.bincount(keys)), abs=1e-12)
            assert found.joint[i] == pytest.approx(entropy(np.bincount(joint)), abs=1e-12)
            own = entropy(np.bincount(cohort.target[rows]))
            assert found.target[i] == pytest.approx(own, abs=1e-12)


@pytest.mark.parametrize("rows", range(1, 200))
def test_a_constant_target_has_no_entropy_to_the_last_bit(rows):
    assert entropy(np.array([0, rows])) == 0.0
