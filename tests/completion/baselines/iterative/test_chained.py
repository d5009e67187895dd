from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion import IterativeCompleter
from misfeat.completion.baselines.iterative.completer import ChainSettings, chained_codes, cut_rows
from misfeat.information import level_mutual_info
from tests.completion.coded import cohorts_of, known_of, random_cohorts

SETTINGS = ChainSettings(sweeps=3, max_rows=10_000, rows_per_leaf=5, with_target=True)


def chained(cohorts, settings=SETTINGS, seed=0):
    return chained_codes(cohorts, cohorts.missing, settings, np.random.default_rng(seed))


def two_cohorts(n_rows=4000, flip=0.2):
    """The last feature, x0 xor x1 but for noise, is hidden from the first cohort; y is a copy."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(2, size=(2, 2 * n_rows))
    third = first ^ second ^ (rng.random(2 * n_rows) < flip)
    target = third ^ (rng.random(2 * n_rows) < 0.1)
    missing = np.array([[False, False, True], [False] * 3])
    return cohorts_of(
        np.array([first, second, third]),
        target,
        np.ones(2 * n_rows, dtype=np.int64),
        [0, n_rows, 2 * n_rows],
        missing,
    )


def test_values_are_drawn_as_they_are_distributed_given_all_others():
    cohorts = two_cohorts()
    truth = cohorts.codes[2, :4000].astype(bool)
    imputed = chained(cohorts)[2, :4000].astype(bool)
    parity = (cohorts.codes[0] ^ cohorts.codes[1])[:4000].astype(bool)
    target = cohorts.target_codes[:4000].astype(bool)
    for given in (parity, target, parity & target, ~parity & target):
        assert imputed[given].mean() == pytest.approx(truth[given].mean(), abs=0.03)


def test_scores_of_imputed_rows_come_near_the_truth():
    cohorts = two_cohorts()
    completed = IterativeCompleter(confidence=None).complete(known_of(cohorts, 3), 3)
    full = cohorts_of(
        cohorts.codes,
        cohorts.target_codes,
        cohorts.weights,
        cohorts.offsets,
        np.zeros_like(cohorts.missing),
    )
    truth = level_mutual_info(next(iter(full)), 3, 3)[0]
    assert completed.score[0] == pytest.approx(truth, rel=0.1)


def test_recorded_values_stay_and_only_unrecorded_features_get_values():
    cohorts = random_cohorts(2, gaps=0.2)
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    hidden = cohorts.missing[cohort_of].T
    found = chained(cohorts)
    assert np.array_equal(found[~hidden], cohorts.codes[~hidden])
    assert (found[hidden] >= 0).all()
    assert (found < 3).all()


def test_without_the_target_values_do_not_depend_on_it():
    cohorts = two_cohorts(n_rows=300)
    settings = ChainSettings(sweeps=2, max_rows=500, rows_per_leaf=5, with_target=False)
    before = chained(cohorts, settings)
    cohorts.target_codes[:] = 1 - cohorts.target_codes
    assert np.array_equal(before, chained(cohorts, settings))


def test_few_rows_to_learn_from_are_enough_to_go_on():
    settings = ChainSettings(sweeps=1, max_rows=1, rows_per_leaf=5, with_target=True)
    cohorts = random_cohorts(4)
    assert (chained(cohorts, settings) >= 0).all()


def test_rows_are_cut_to_single_ones_where_they_are_few_and_to_few_pieces_where_many():
    cohorts = cohorts_of(
        np.array([[0, 1, 0, 1]]),
        np.array([0, 1, 0, 1]),
        np.array([1000, 3, 5, 7]),
        [0, 2, 4],
        np.array([[True], [False]]),
    )
    fine, coarse = (cut_rows(cohorts, cohorts.missing, many) for many in (2000, 10))
    assert fine.offsets.tolist() == [0, 1003, 1005]
    assert fine.weights.tolist() == [1] * 1003 + [5, 7]
    assert coarse.weights[:-3].tolist() == [100] * 10
    assert coarse.weights[-3:].tolist() == [3, 5, 7]
    assert coarse.codes[0].tolist() == [0] * 10 + [1, 0, 1]
    assert coarse.target_codes.tolist() == [0] * 10 + [1, 0, 1]
