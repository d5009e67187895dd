from __future__ import annotations

import dit
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from misfeat.cohorts import Cohort, build_cohorts
from misfeat.datasets import load_readmission
from misfeat.information import entropy, joint_mutual_info, target_entropy
from misfeat.lattice import level


def cohort_of(codes: np.ndarray, target: np.ndarray, weights: np.ndarray | None = None) -> Cohort:
    return Cohort(
        name="test",
        codes=codes,
        target=target,
        weights=np.ones(len(target), dtype=np.int64) if weights is None else weights,
        recorded=np.ones(len(codes), dtype=bool),
        cardinalities=codes.max(axis=1, initial=0).astype(np.int64) + 1,
        n_classes=int(target.max(initial=0)) + 1,
    )


@st.composite
def cohorts(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features, n_rows = draw(st.integers(1, 5)), draw(st.integers(1, 60))
    cardinality, n_classes = draw(st.integers(1, 40)), draw(st.integers(1, 12))
    return cohort_of(
        rng.integers(cardinality, size=(n_features, n_rows)),
        rng.integers(n_classes, size=n_rows),
        rng.integers(1, 5, size=n_rows),
    )


def reference(cohort: Cohort, subset: np.ndarray) -> float:
    keys = np.unique(cohort.codes[subset], axis=1, return_inverse=True)[1].ravel()
    return mutual_info_score(
        np.repeat(keys, cohort.weights), np.repeat(cohort.target, cohort.weights)
    )


@given(cohorts())
def test_scores_equal_those_of_scikit_learn(cohort):
    for size in range(1, len(cohort.codes) + 1):
        subsets = level(len(cohort.codes), size)
        expected = [reference(cohort, subset) for subset in subsets]
        assert joint_mutual_info(cohort, subsets) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_scores_equal_those_of_dit(seed):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)
    weights = np.rint(table.ravel() * 1000).astype(np.int64)
    x1, x2, y = (axis.ravel() for axis in np.indices((2, 2, 2)))
    kept = weights > 0
    cohort = cohort_of(np.array([x1, x2])[:, kept], y[kept], weights[kept])
    outcomes = ["".join(map(str, o)) for o in zip(x1[kept], x2[kept], y[kept], strict=True)]
    distribution = dit.Distribution(outcomes, list(weights[kept] / weights.sum()))
    bits = dit.shannon.mutual_information(distribution, [0, 1], [2])
    assert joint_mutual_info(cohort, np.array([[0, 1]]))[0] == pytest.approx(bits * np.log(2))


@given(cohorts())
def test_scores_lie_between_zero_and_both_entropies_and_grow_with_the_set(cohort):
    features = np.arange(len(cohort.codes))
    previous = 0.0
    for size in range(1, len(features) + 1):
        score = joint_mutual_info(cohort, features[None, :size])[0]
        assert previous - 1e-12 <= score <= target_entropy(cohort) + 1e-12
        previous = score


def test_the_papers_worked_example_in_nats_and_bits():
    patients = load_readmission()
    cohorts = build_cohorts(patients.columns, patients.target)
    family_history = [[cohorts.features.index("family_history")]]
    score = joint_mutual_info(cohorts["all rows"], np.array(family_history))[0]
    assert score == pytest.approx(0.1169, abs=5e-5)
    assert score / np.log(2) == pytest.approx(0.1686, abs=5e-5)


def test_a_set_with_an_unrecorded_feature_has_no_score():
    cohort = cohort_of(np.array([[0, 1], [-1, -1]]), np.array([0, 1]))
    cohort = Cohort(**{**vars(cohort), "recorded": np.array([True, False])})
    assert np.isnan(joint_mutual_info(cohort, level(2, 2))).all()
    assert joint_mutual_info(cohort, level(2, 1))[0] == pytest.approx(np.log(2))


def test_rows_without_a_value_count_only_for_sets_that_do_not_need_it():
    codes = np.array([[0, 1, 0, 1], [0, 1, -1, -1]])
    cohort = cohort_of(codes, np.array([0, 1, 1, 0]))
    assert joint_mutual_info(cohort, level(2, 1)) == pytest.approx([0.0, np.log(2)])
    assert joint_mutual_info(cohort, level(2, 2)) == pytest.approx([np.log(2)])


def test_no_rows_have_no_entropy_and_the_empty_set_tells_nothing():
    assert entropy(np.array([])) == 0.0
    cohort = cohort_of(np.array([[0, 1]]), np.array([0, 1]))
    assert joint_mutual_info(cohort, level(1, 0)).tolist() == [0.0]
