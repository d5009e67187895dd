from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.cohorts import Cohort
from misfeat.completion.baselines.knn import KNNCompleter
from misfeat.completion.baselines.knn.imputation import imputed_codes
from misfeat.datasets import make_cohorts
from misfeat.information import joint_mutual_info, level_mutual_info
from misfeat.lattice import level
from misfeat.runtime.threads import Work
from tests.completion.coded import cohorts_of, known_of, random_cohorts


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_read_of_hidden_features(seed):
    cohorts = random_cohorts(seed, hidden=0.0)
    hidden = np.random.default_rng(seed).random(cohorts.missing.shape) < 0.4
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
    poison = np.where(hidden[cohort_of].T, (cohorts.codes + 1) % 3, cohorts.codes)
    unhidden = known_of(cohorts, 2)
    known = unhidden.hidden(hidden)
    clean, poisoned = (
        KNNCompleter(n_neighbors=3).guess(replace(known, cohorts=rows), 2)
        for rows in (cohorts, replace(cohorts, codes=poison))
    )
    for size in range(3):
        assert np.array_equal(clean.by_size[size], poisoned.by_size[size])


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


def test_recorded_sets_keep_their_scores_and_the_selector_takes_the_completer():
    data = make_cohorts(n_rows=600, hide=0.3, random_state=1)
    completer = KNNCompleter(n_neighbors=4, with_target=False, confidence=0.9, random_state=2)
    asked = {"groups": data.groups, "size": 2, "estimate": "sample"}
    selector = SubgroupSelector(completer=completer, **asked)
    scores = selector.fit(data.columns, data.target).scores()
    assert selector.completer_.get_params() == completer.get_params()
    predicted = np.array(scores["source"]) == "predicted"
    low, score, high = (np.array(scores[name]) for name in ("low", "score", "high"))
    assert predicted.any()
    assert (low <= score).all()
    assert (score <= high).all()
    assert np.array_equal(low[~predicted], high[~predicted])
    by_interactions = SubgroupSelector(completer="interactions", **asked)
    other = np.array(by_interactions.fit(data.columns, data.target).scores()["score"])
    assert np.array_equal(score[~predicted], other[~predicted])


def test_imputation_comes_near_the_truth_where_a_copy_of_the_feature_is_recorded():
    rng = np.random.default_rng(0)
    x = rng.integers(4, size=2000)
    target = (x + (rng.random(2000) < 0.2)) % 2
    codes = np.array([x, rng.integers(2, size=2000), x])
    missing = np.array([[False, False, True], [False, False, False]])
    cohorts = cohorts_of(codes, target, np.ones(2000, dtype=np.int64), [0, 1000, 2000], missing)
    completed = KNNCompleter(confidence=None).complete(known_of(cohorts, 1), 1)
    truth = level_mutual_info(next(iter(replace(cohorts, missing=missing & False))), 1, 1)[0]
    assert completed.score[0] == pytest.approx(truth)


def test_rows_are_needed_and_at_least_one_neighbour():
    known = known_of(random_cohorts(15), 1)
    with pytest.raises(MisfeatError, match="needs the rows"):
        KNNCompleter().complete(replace(known, cohorts=None), 1)
    with pytest.raises(MisfeatError, match="n_neighbors=0"):
        KNNCompleter(n_neighbors=0).complete(known, 1)
