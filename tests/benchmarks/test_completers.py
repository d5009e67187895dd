from __future__ import annotations

import numpy as np
import pytest

from benchmarks.completers import (
    COMPLETERS,
    AddCompleter,
    DropCompleter,
    GainCompleter,
    IterativeCompleter,
    ModeCompleter,
    completer_of,
)
from benchmarks.completers.imputing import ChainSettings, chained_codes, cut_rows, modes_filled_in
from misfeat.completion import ExactScores, InteractionsCompleter, Known
from misfeat.information import level_mutual_info
from misfeat.testing import check_completer
from tests.completion.coded import cohorts_of, known_of, random_cohorts

NAN = np.nan


def exact(*by_size: list[list[float]], missing: list[list[int]], ceiling: float = 1.0):
    n_cohorts = len(missing)
    return ExactScores(
        by_size=(np.zeros((n_cohorts, 1)), *(np.array(scores) for scores in by_size)),
        missing=np.array(missing, dtype=bool),
        ceiling=np.full(n_cohorts, ceiling),
    )


def test_a_prediction_adds_the_mean_gain_of_the_cohorts_that_recorded_the_set():
    scores = exact(
        [[0.1, 0.2], [0.3, 0.1], [0.2, NAN]],
        [[0.25], [0.45], [NAN]],
        missing=[[0, 0], [0, 0], [0, 1]],
    )
    completed = GainCompleter(confidence=None).complete(Known(scores), 2)
    assert completed.score[2, 0] == pytest.approx(0.2 + (0.15 + 0.15) / 2)
    assert (completed.low[2, 0], completed.high[2, 0]) == (0.2, 1.0)
    assert completed.predicted.tolist() == [[False], [False], [True]]


def test_without_a_cohort_that_recorded_the_set_single_gains_are_added():
    # Cohort 0 lacks features 1 and 2; cohort 1 has 0 and 1, cohort 2 has 0 and 2.
    scores = exact(
        [[0.1, NAN, NAN], [0.1, 0.2, NAN], [0.1, NAN, 0.3]],
        [[NAN, NAN, NAN], [0.25, NAN, NAN], [NAN, 0.35, NAN]],
        [[NAN], [NAN], [NAN]],
        missing=[[0, 1, 1], [0, 0, 1], [0, 1, 0]],
    )
    completed = GainCompleter(confidence=None).complete(Known(scores), 3)
    assert completed.score[0, 0] == pytest.approx(0.1 + 0.15 + 0.25)


def test_without_any_joint_record_the_score_alone_is_added():
    scores = exact([[0.1, NAN], [NAN, 0.2]], [[NAN], [NAN]], missing=[[0, 1], [1, 0]])
    completed = GainCompleter(confidence=None).complete(Known(scores), 2)
    assert completed.score.ravel() == pytest.approx([0.3, 0.3])


def test_it_is_the_contributions_of_single_features_alone():
    known = known_of(random_cohorts(2), 3)
    added = AddCompleter().guess(known, 3)
    singles = InteractionsCompleter(largest=1).guess(known, 3)
    for ours, theirs in zip(added.by_size, singles.by_size, strict=True):
        assert np.array_equal(ours, theirs)
    every = InteractionsCompleter().guess(known, 3)
    assert np.abs(added.by_size[3] - every.by_size[3]).max() > 0.01


NAN = np.nan


def test_a_set_scores_what_its_recorded_part_does():
    exact = ExactScores(
        by_size=(
            np.zeros((2, 1)),
            np.array([[0.1, 0.2, 0.3], [0.3, NAN, 0.1]]),
            np.array([[0.25, 0.3, 0.4], [NAN, 0.35, NAN]]),
        ),
        missing=np.array([[False] * 3, [False, True, False]]),
        ceiling=np.ones(2),
    )
    for size, scores in ((1, [0.3, 0.0, 0.1]), (2, [0.3, 0.35, 0.1])):
        completed = DropCompleter(confidence=None).complete(Known(exact), size)
        assert completed.score[1].tolist() == scores


def test_unrecorded_values_become_the_most_frequent_one_by_weight():
    cohorts = cohorts_of(
        np.array([[7, 7, 2, 1, 1]]),
        np.zeros(5, dtype=np.int64),
        np.array([9, 9, 4, 2, 1]),
        [0, 2, 5],
        np.array([[True], [False]]),
    )
    assert modes_filled_in(cohorts, cohorts.missing).tolist() == [[2, 2, 2, 1, 1]]


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_one_value_for_all_rows_tells_nothing(gaps):
    known = known_of(random_cohorts(1, gaps=gaps), 3)
    by_mode, dropped = (
        completer(confidence=None).complete(known, 3).score
        for completer in (ModeCompleter, DropCompleter)
    )
    assert by_mode == pytest.approx(dropped)


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


@pytest.mark.parametrize("name", COMPLETERS)
def test_they_keep_the_contract_of_all_completers(name):
    quick = {"imputations": 1, "sweeps": 1, "rounds": 2}
    completer = completer_of(name)
    own = completer.get_params()
    check_completer(completer.set_params(**{k: v for k, v in quick.items() if k in own}))
