from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from misfeat.completion import ExactScores
from misfeat.completion.baselines.imputed import (
    all_recorded,
    guess_of,
    imputed_scores,
    most_frequent,
    recorded_codes,
)
from tests.completion.coded import known_of, random_cohorts


def test_codes_of_features_that_count_as_missing_are_taken_out():
    cohorts = random_cohorts(1, hidden=0.0)
    missing = np.zeros_like(cohorts.missing)
    missing[1, 2] = True
    codes, cohort_of = recorded_codes(cohorts, missing)
    assert (codes[2, cohort_of == 1] == -1).all()
    assert np.array_equal(codes[:, cohort_of != 1], cohorts.codes[:, cohort_of != 1])
    assert (cohorts.codes >= 0).all()


def test_of_equally_frequent_values_the_smallest_is_taken_and_of_none_zero():
    assert most_frequent(np.array([2, 1]), np.array([4, 4])) == 1
    assert most_frequent(np.array([], dtype=int), np.array([], dtype=int)) == 0


def test_a_cohort_that_lacks_nothing_is_not_scored():
    cohorts = random_cohorts(3)
    cohorts.missing[0] = False
    codes, _ = recorded_codes(cohorts, cohorts.missing)
    imputed = all_recorded(cohorts, np.maximum(codes, 0))
    exact = ExactScores((), cohorts.missing, np.ones(len(cohorts)))
    scores = imputed_scores(imputed, exact, 2)
    assert not scores[2][0].any()
    assert scores[2][1:].any()
    above_chance = imputed_scores(imputed, replace(exact, above_chance=True), 2)
    assert (above_chance[2][1:] <= scores[2][1:]).all()
    assert (above_chance[2][1:] < scores[2][1:]).any()


def test_a_cohorts_own_scores_come_before_those_of_imputed_rows():
    known = known_of(random_cohorts(4), 2)
    guess = guess_of(known.exact, [np.full_like(s, 9.0) for s in known.exact.by_size])
    unknown = np.isnan(known.exact.by_size[2])
    assert guess.by_size[2][unknown] == pytest.approx(9)
    assert np.array_equal(guess.by_size[2][~unknown], known.exact.by_size[2][~unknown])
