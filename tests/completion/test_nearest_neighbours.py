"""Values that rows lack, from rows that are alike."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.cohorts import Cohort, Cohorts
from misfeat.completion.nearest_neighbours import KNNCompleter, imputed_codes
from misfeat.information import joint_mutual_info
from misfeat.lattice.levels import level
from misfeat.runtime.threads import Work
from tests.completion.coded import cohorts_of, known_of, random_cohorts


def reference(cohorts: Cohorts, k: int, with_target: bool, compared=None) -> np.ndarray:
    """The same by the book, a row and a donor at a time."""
    missing = cohorts.missing
    compared = np.ones_like(missing) if compared is None else compared
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    codes = np.where(missing[cohort_of].T, -1, cohorts.codes)
    completed = codes.copy()
    for row, i in enumerate(cohort_of):
        to_donor = {}
        for donor in np.flatnonzero(cohort_of != i) if missing[i].any() else ():
            shared = compared[i] & ~missing[i] & ~missing[cohort_of[donor]]
            differ = int((codes[shared, row] != codes[shared, donor]).sum())
            n_shared = int(shared.sum())
            if with_target:
                differ += int(cohorts.target_codes[row] != cohorts.target_codes[donor])
                n_shared += 1
            if n_shared:
                to_donor[donor] = Fraction(differ, n_shared)
        for q in np.flatnonzero(missing[i]):
            donors = np.flatnonzero((cohort_of != i) & (codes[q] >= 0))
            distances = {donor: to_donor[donor] for donor in donors if donor in to_donor}
            farthest, reached = None, 0
            for donor in sorted(distances, key=distances.get):
                if reached < k:
                    farthest = distances[donor]
                reached += cohorts.weights[donor]
            voters = [d for d in distances if distances[d] <= farthest] if distances else donors
            votes = np.zeros(max(1, len(cohorts.categories[q])), dtype=int)
            for donor in voters:
                votes[codes[q, donor]] += cohorts.weights[donor]
            completed[q, row] = votes.argmax()
    return completed


def imputed(cohorts: Cohorts, k: int = 3, with_target: bool = True, n_jobs: int = 1) -> np.ndarray:
    return imputed_codes(cohorts, cohorts.missing, k, with_target, Work(n_jobs))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(1, 12),
    with_target=st.booleans(),
    cardinality=st.sampled_from([1, 2, 5]),
    hidden=st.sampled_from([0.2, 0.5, 0.8]),
    gaps=st.sampled_from([0.0, 0.2]),
)
def test_values_equal_those_of_a_search_by_the_book(
    seed, k, with_target, cardinality, hidden, gaps
):
    cohorts = random_cohorts(seed, cardinality=cardinality, hidden=hidden, gaps=gaps)
    assert np.array_equal(imputed(cohorts, k, with_target), reference(cohorts, k, with_target))


@pytest.mark.parametrize(
    ("n_features", "cardinality", "with_target"), [(70, 2, True), (9, 70_000, False)]
)
def test_many_features_and_many_categories_are_compared(n_features, cardinality, with_target):
    cohorts = random_cohorts(7, n_features=n_features, cardinality=cardinality)
    assert np.array_equal(imputed(cohorts, 3, with_target), reference(cohorts, 3, with_target))


@pytest.mark.slow
def test_blocks_longer_than_a_tile_and_several_threads_give_the_same():
    rng = np.random.default_rng(3)
    codes = rng.integers(4, size=(5, 2600)).astype(np.int8)
    missing = np.zeros((2, 5), dtype=bool)
    missing[0, 1:3] = True
    target, weights = rng.integers(2, size=2600), np.ones(2600, dtype=np.int64)
    cohorts = cohorts_of(codes, target, weights, [0, 30, 2600], missing)
    expected = reference(cohorts, 4, True)
    assert np.array_equal(imputed(cohorts, 4, True), expected)
    assert np.array_equal(imputed(cohorts, 4, True, n_jobs=2), expected)


def two_cohorts(values, weights, shared=None) -> Cohorts:
    """One row that lacks feature 1, and donors in another cohort that agree in feature 0."""
    n_donors = len(values)
    return cohorts_of(
        np.array([[0, *(shared or [0] * n_donors)], [-1, *values]]),
        np.zeros(n_donors + 1, dtype=np.int64),
        np.array([1, *weights]),
        [0, 1, n_donors + 1],
        np.array([[False, True], [False, False]]),
    )


def test_neighbours_vote_as_often_as_they_weigh_and_the_smallest_of_equals_wins():
    assert imputed(two_cohorts([0, 1, 1], [1, 1, 1]), k=1)[1, 0] == 1  # all are equally far
    assert imputed(two_cohorts([2, 1, 2, 1], [1, 1, 1, 1]), k=4)[1, 0] == 1
    far_off = [0, 1, 1]
    assert imputed(two_cohorts([2, 1, 1], [5, 9, 9], far_off), k=5)[1, 0] == 2
    assert imputed(two_cohorts([2, 1, 1], [5, 9, 9], far_off), k=6)[1, 0] == 1


@pytest.mark.parametrize("with_target", [True, False])
def test_rows_may_be_compared_in_some_features_only(with_target):
    for seed in (0, 1):
        cohorts = random_cohorts(seed, hidden=0.3)
        compared = np.random.default_rng(seed).random(cohorts.missing.shape) < 0.5
        found = imputed_codes(cohorts, cohorts.missing, 3, with_target, Work(1), compared)
        assert np.array_equal(found, reference(cohorts, 3, with_target, compared))


def test_a_feature_recorded_nowhere_becomes_a_constant_that_tells_nothing():
    cohorts = random_cohorts(12)
    cohorts.missing[:, 2] = True
    cohorts = replace(cohorts, categories=(*cohorts.categories[:2], (), *cohorts.categories[3:]))
    assert (imputed(cohorts)[2] == 0).all()
    guess = KNNCompleter(n_neighbors=3).guess(known_of(cohorts, 1), 1)
    assert guess.by_size[1][:, 2] == pytest.approx(np.zeros(4))


def test_a_lone_cohort_has_no_donors():
    cohorts = random_cohorts(13, n_cohorts=1)
    assert (imputed(cohorts)[cohorts.missing[0]] == 0).all()


def test_guesses_are_the_scores_of_the_imputed_rows():
    cohorts = random_cohorts(14)
    known = known_of(cohorts, 3)
    guess = KNNCompleter(n_neighbors=3).guess(known, 3)
    codes = imputed_codes(cohorts, cohorts.missing, 3, True, Work(1))
    for i, cohort in enumerate(cohorts):
        rows = slice(cohorts.offsets[i], cohorts.offsets[i + 1])
        full = Cohort(
            **{**vars(cohort), "codes": codes[:, rows], "recorded": np.ones(6, dtype=bool)}
        )
        for size in range(1, 4):
            expected = joint_mutual_info(full, level(6, size))
            assert guess.by_size[size][i] == pytest.approx(expected)
    assert not guess.deviation.any()


def test_where_no_row_has_the_recorded_part_the_guess_is_nothing():
    cohorts = cohorts_of(
        np.array([[-1, 0, 0], [-1, 0, 1]]),
        np.zeros(3, dtype=np.int64),
        np.ones(3, dtype=np.int64),
        [0, 1, 3],
        np.array([[False, True], [False, False]]),
    )
    guess = KNNCompleter(n_neighbors=1).guess(known_of(cohorts, 2), 2)
    assert guess.by_size[2][0].tolist() == [0.0]
