from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from misfeat import MisfeatError
from misfeat.cohorts import Cohort, build_cohorts
from misfeat.datasets import load_readmission
from misfeat.information import joint_mutual_info, level_mutual_info, target_entropy
from misfeat.information.mutual_info import entropy
from misfeat.lattice import level
from tests.information.generated import (
    cohort_of,
    random_cohort,
    reference,
    reference_above_chance,
    with_gaps,
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


@settings(max_examples=40)
@given(cohorts())
def test_scores_equal_those_of_scikit_learn(cohort):
    for size in range(1, len(cohort.codes) + 1):
        subsets = level(len(cohort.codes), size)
        for above_chance, score in ((False, reference), (True, reference_above_chance)):
            expected = [score(cohort, subset) for subset in subsets]
            found = joint_mutual_info(cohort, subsets, above_chance=above_chance)
            assert found == pytest.approx(expected, abs=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_scores_equal_those_of_dit(seed):
    import dit  # takes a second, which only who runs this pays for

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


def test_unrecorded_features_leave_gaps_in_the_order_of_ranks():
    base = random_cohort(6, 300, 3)
    recorded = np.array([True, False, True, True, False, True])
    codes = base.codes.copy()
    codes[~recorded] = -1
    cohort = Cohort(**{**vars(base), "codes": codes, "recorded": recorded})
    for size, scores in zip(
        (1, 2, 5), (level_mutual_info(cohort, m, m)[0] for m in (1, 2, 5)), strict=True
    ):
        computable = recorded[level(6, size)].all(axis=1)
        assert np.array_equal(~np.isnan(scores), computable)
        expected = [reference(cohort, subset) for subset in level(6, size)[computable]]
        assert scores[computable] == pytest.approx(expected, abs=1e-12)


def test_rows_that_lack_values_count_only_where_they_have_them():
    cohort = with_gaps()
    for size in range(1, 6):
        expected = []
        for subset in level(5, size):
            rows = (cohort.codes[subset] >= 0).all(axis=0)
            keys = np.unique(cohort.codes[subset][:, rows], axis=1, return_inverse=True)[1].ravel()
            expected.append(mutual_info_score(keys, cohort.target[rows]))
        assert level_mutual_info(cohort, size, size)[0] == pytest.approx(expected, abs=1e-12)
        expected = [reference_above_chance(cohort, subset) for subset in level(5, size)]
        (found,) = level_mutual_info(cohort, size, size, above_chance=True)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("above_chance", [False, True])
def test_a_set_that_no_row_has_in_full_has_no_score(above_chance):
    codes = np.array([[0, 1, -1, -1], [-1, -1, 0, 1]], dtype=np.int8)
    cohort = cohort_of(codes, np.array([0, 1, 0, 1]))
    found = joint_mutual_info(cohort, np.array([[0, 1]]), above_chance=above_chance)
    assert np.isnan(found).all()


def test_permuting_the_target_leaves_nothing_above_chance_on_the_mean():
    rng = np.random.default_rng(0)
    base = random_cohort(6, 80, 3, 3)
    found = []
    for _ in range(400):
        permuted = cohort_of(base.codes, rng.permutation(base.target))
        found.append(np.concatenate(level_mutual_info(permuted, 1, 3, above_chance=True)))
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0)) < 5 * error).all()


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_a_set_with_one_value_alone_is_not_above_chance(n_classes):
    base = random_cohort(3, 90, 3, n_classes)
    codes = np.vstack([np.zeros(90, dtype=int), base.codes])
    with_constant = cohort_of(codes, base.target)
    found = level_mutual_info(with_constant, 0, 2, above_chance=True)
    assert found[0] == pytest.approx([0.0], abs=1e-12)
    assert found[1][0] == pytest.approx(0.0, abs=1e-12)
    pairs = found[2][(level(4, 2) == 0).any(axis=1)]
    assert pairs == pytest.approx(found[1][1:], abs=1e-12)


def test_the_power_set_is_scored_up_to_its_limit():
    cohort = random_cohort(10, 100, 2, 2)
    assert sum(map(len, level_mutual_info(cohort, 1, 10))) == 2**10 - 1
    with pytest.raises(MisfeatError, match="at most 22 features"):
        level_mutual_info(random_cohort(23, 50, 2, 2), 1, 23)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cardinality", [2, 4, 30])
def test_scores_do_not_depend_on_the_order_of_rows_features_or_labels(seed, cardinality):
    rng = np.random.default_rng(seed)
    cohort = random_cohort(6, 300, cardinality, 3, 4, seed)
    expected = level_mutual_info(cohort, 3, 3)[0]
    order = rng.permutation(300)
    shuffled = cohort_of(cohort.codes[:, order], cohort.target[order], cohort.weights[order])
    assert level_mutual_info(shuffled, 3, 3)[0] == pytest.approx(expected, abs=1e-12)
    labels = rng.permutation(cardinality)
    relabelled = cohort_of(labels[cohort.codes], rng.permutation(3)[cohort.target], cohort.weights)
    assert level_mutual_info(relabelled, 3, 3)[0] == pytest.approx(expected, abs=1e-12)
    moved = rng.permutation(6)
    swapped = cohort_of(cohort.codes[moved], cohort.target, cohort.weights)
    original = {frozenset(s): v for s, v in zip(level(6, 3).tolist(), expected, strict=True)}
    found = level_mutual_info(swapped, 3, 3)[0]
    again = [original[frozenset(moved[list(s)])] for s in level(6, 3).tolist()]
    assert found == pytest.approx(again, abs=1e-12)


@pytest.mark.parametrize("above_chance", [False, True])
@pytest.mark.parametrize("cardinality", [2, 4, 30])
def test_a_weight_equals_that_many_copies(cardinality, above_chance):
    cohort = random_cohort(5, 200, cardinality, 3, 5)
    copies = cohort_of(
        np.repeat(cohort.codes, cohort.weights, axis=1), np.repeat(cohort.target, cohort.weights)
    )
    for size in (1, 3, 5):
        (expected,) = level_mutual_info(copies, size, size, above_chance=above_chance)
        (found,) = level_mutual_info(cohort, size, size, above_chance=above_chance)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_merging_two_values_never_raises_a_score(seed):
    cohort = random_cohort(5, 300, 4, 3, 2, seed)
    merged = cohort_of(np.minimum(cohort.codes, 2), cohort.target, cohort.weights)
    for size in range(1, 6):
        before = level_mutual_info(cohort, size, size)[0]
        assert (level_mutual_info(merged, size, size)[0] <= before + 1e-12).all()


def test_a_cohort_that_recorded_nothing_scores_only_the_empty_set():
    base = random_cohort(3, 50, 2)
    nothing = {"codes": np.full_like(base.codes, -1), "recorded": np.zeros(3, dtype=bool)}
    cohort = Cohort(**{**vars(base), **nothing})
    empty, singles = level_mutual_info(cohort, 0, 1)
    assert empty.tolist() == [0.0]
    assert np.isnan(singles).all()


@pytest.mark.parametrize("subset", [[1, 1], [2, 0]])
def test_members_that_repeat_or_descend_are_refused(subset):
    with pytest.raises(MisfeatError, match="distinct and ascend"):
        joint_mutual_info(random_cohort(), np.array([subset]))


def test_a_constant_target_has_no_entropy_to_the_last_bit():
    assert all(entropy(np.array([0, rows])) == 0.0 for rows in range(1, 200))
