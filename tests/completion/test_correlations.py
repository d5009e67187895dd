from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.completion.correlations import (
    SeenCorrelations,
    completed_correlations,
    pooled_correlations,
)
from tests.completion.numeric import common_covariance, drawn_numbers, numbers_of

CASES = given(
    seed=st.integers(0, 2**32 - 1),
    n_cohorts=st.integers(1, 5),
    n_rows=st.integers(3, 60),
    hide=st.sampled_from([0.0, 0.3, 0.7]),
)


def all_completed(sums):
    own = SeenCorrelations.of(sums, sums.missing)
    pooled = pooled_correlations(own)
    return np.array([completed_correlations(own, pooled, i) for i in range(len(sums.names))])


def partial(matrix, a, b):
    """The partial correlation of two variables given all others."""
    inverse = np.linalg.inv(matrix)
    return -inverse[a, b] / np.sqrt(inverse[a, a] * inverse[b, b])


def without_noise(common, missing, n_rows=10_000):
    return numbers_of(np.repeat(common[None] * n_rows, len(missing), axis=0), missing, n_rows)


@settings(max_examples=40, deadline=None)
@CASES
def test_completed_correlations_may_exist_and_the_own_ones_are_kept(seed, n_cohorts, n_rows, hide):
    sums = drawn_numbers(n_cohorts, n_rows, 5, hide, similarity=30, seed=seed).sums
    own = SeenCorrelations.of(sums, sums.missing)
    for i, completed in enumerate(all_completed(sums)):
        has = np.append(~sums.missing[i], True)
        assert np.linalg.eigvalsh(completed).min() > -1e-8
        assert completed == pytest.approx(completed.T, abs=1e-12)
        kept = np.ix_(has, has)
        assert np.array_equal(completed[kept], own.values[i][kept])
        assert np.isfinite(completed).all()


@settings(max_examples=20, deadline=None)
@CASES
def test_hidden_features_are_not_read(seed, n_cohorts, n_rows, hide):
    sums = drawn_numbers(n_cohorts, n_rows, 5, hide, similarity=30, seed=seed).sums
    has = np.column_stack([~sums.missing, np.ones(n_cohorts, dtype=bool)])
    both = has[:, :, None] & has[:, None, :]
    for garbage in (np.nan, np.inf, -1e9):
        poisoned = replace(sums, products=np.where(both, sums.products, garbage))
        assert np.array_equal(all_completed(sums), all_completed(poisoned))


def test_equal_cohorts_share_their_correlations_and_are_completed_without_error():
    common = common_covariance(6, np.random.default_rng(0))
    missing = np.zeros((3, 6), dtype=bool)
    missing[0, [1, 2]] = missing[1, 4] = True
    sums = without_noise(common, missing)
    spread = np.sqrt(np.diag(common))
    wanted = common / spread / spread[:, None]
    own = SeenCorrelations.of(sums, missing)
    assert own.spread == pytest.approx(0.0, abs=1e-12)
    assert pooled_correlations(own) == pytest.approx(wanted, abs=2e-3)
    for completed in all_completed(sums):
        scale = np.sqrt(np.diag(completed))
        assert completed / scale / scale[:, None] == pytest.approx(wanted, abs=5e-3)


def test_features_that_nobody_recorded_together_are_independent_given_the_others():
    missing = np.zeros((2, 5), dtype=bool)
    missing[0, 0] = missing[1, 1] = True
    apart = []
    for seed in range(5):
        common = common_covariance(5, np.random.default_rng(seed))
        sums = without_noise(common, missing)
        pooled = pooled_correlations(SeenCorrelations.of(sums, missing))
        assert abs(partial(pooled, 0, 1)) < 0.001
        apart.append(abs(partial(common, 0, 1)))
    assert max(apart) > 0.1  # they are not independent; nobody could know


def test_many_pairs_that_nobody_recorded_together_are_independent_given_the_others():
    sums = drawn_numbers(3, 200, 12, hide=0.6).sums
    own = SeenCorrelations.of(sums, sums.missing)
    pooled = pooled_correlations(own)
    unknown = (own.seen.T.astype(int) @ own.seen) == 0
    assert unknown.sum() > 20
    inverse = np.linalg.inv(pooled)
    assert np.abs(inverse[unknown]).max() < 0.01
    assert np.linalg.eigvalsh(pooled).min() > 0


def test_a_feature_that_tells_nothing_beside_another_is_tied_to_it_alone():
    # The second feature is the first one with noise; here the first tells more than elsewhere.
    elsewhere = np.array([[1.0, 0.8, 0.4], [0.8, 1.0, 0.32], [0.4, 0.32, 1.0]])
    here = np.array([[1.0, 0.8, 0.9], [0.8, 1.0, np.nan], [0.9, np.nan, 1.0]])
    missing = np.array([[False, False], [False, False], [False, True]])
    products = 10_000 * np.array([elsewhere, elsewhere, here])
    completed = all_completed(numbers_of(products, missing, 10_000))[2]
    assert completed[1, 2] / np.sqrt(completed[1, 1]) == pytest.approx(0.72, abs=0.02)


def test_constant_columns_and_targets_are_correlated_with_nothing():
    sums = drawn_numbers(3, 100, 4, hide=0.0).sums
    missing = np.zeros((3, 4), dtype=bool)
    missing[1, 0] = True
    products = sums.products.copy()
    products[0, 2, :] = products[0, :, 2] = 0.0
    products[1, -1, :] = products[1, :, -1] = 0.0
    first, second, third = all_completed(replace(sums, products=products, missing=missing))
    assert not np.delete(first[2], 2).any()
    assert not second[-1, :-1].any()
    assert third[2, -1] != 0.0


def test_copies_of_features_do_no_harm():
    common = common_covariance(3, np.random.default_rng(1))
    twice = np.ix_([0, 1, 2, 2, 3], [0, 1, 2, 2, 3])
    missing = np.array([[False, False, False, True], [False] * 4])
    for completed in all_completed(without_noise(common[twice], missing)):
        scale = np.sqrt(np.diag(completed))
        assert completed[3] / scale / scale[3] == pytest.approx(completed[2] / scale, abs=0.01)


def test_the_spread_is_what_cohorts_differ_by_beyond_sampling():
    found = {}
    for similarity in (30, 100_000):
        spreads = []
        for seed in range(10):
            sums = drawn_numbers(8, 400, 6, hide=0.2, similarity=similarity, seed=seed).sums
            spreads.append(SeenCorrelations.of(sums, sums.missing).spread)
        found[similarity] = np.mean(spreads)
    assert found[30] == pytest.approx(1 / 30, rel=0.3)
    assert found[100_000] < 0.001


def test_large_cohorts_weigh_no_more_than_their_difference_from_others_allows():
    seen = np.ones((2, 3), dtype=bool)
    values = np.array([np.eye(3), np.eye(3)])
    values[0, 0, 1] = values[0, 1, 0] = 0.5
    own = SeenCorrelations(values, seen, ~seen[:, :2], np.array([100.0, 1e6]))
    assert own.spread > 0
    assert own.weight[0] > 0.2 * own.weight[1]
