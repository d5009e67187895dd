from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.completion import ExactScores, Known
from tests.completion.coded import known_of, random_cohorts

NAN = np.nan


def scores(closed=True):
    return ExactScores(
        by_size=(
            np.zeros((2, 1)),
            np.array([[0.1, 0.2, 0.3], [0.4, NAN, 0.2]]),
            np.array([[0.25, 0.35, NAN], [NAN, 0.5, NAN]]),
        ),
        missing=np.array([[False, False, False], [False, True, False]]),
        ceiling=np.array([0.6, 0.7]),
        closed=closed,
    )


def test_bounds_are_the_best_known_part_and_the_ceiling():
    low, high = scores().bounds(2)
    # The set {1, 2} of cohort 0 was recorded but not computed; its parts were.
    assert low.tolist() == [[0.25, 0.35, 0.3], [0.4, 0.5, 0.2]]
    assert high.tolist() == [[0.25, 0.35, 0.6], [0.7, 0.5, 0.7]]


def test_a_part_bounds_nothing_where_larger_sets_may_score_lower():
    low, _ = scores(closed=False).bounds(2)
    assert low.tolist() == [[0.25, 0.35, 0.0], [0.0, 0.5, 0.0]]


def test_hiding_removes_every_set_with_a_hidden_feature():
    left = scores().hidden(np.array([[True, False, False], [False, False, False]]))
    assert np.isnan(left.by_size[1]).tolist() == [[True, False, False], [False, True, False]]
    assert np.isnan(left.by_size[2]).tolist() == [[True, True, True], [True, False, True]]
    assert left.missing.tolist() == [[True, False, False], [False, True, False]]
    assert not np.isnan(scores().by_size[1][0]).any()


def test_what_is_prepared_of_the_rows_is_made_once_however_often_features_are_hidden():
    made = []

    def prepare(known):
        made.append(known.cohorts)
        return len(made)

    rows = random_cohorts(1)
    known = known_of(rows, 1)
    mask = np.zeros_like(rows.missing)
    mask[0, 0] = True
    once_hidden = known.hidden(mask)
    assert once_hidden.prepared(prepare) == 1
    assert known.prepared(prepare) == once_hidden.hidden(mask).prepared(prepare) == 1
    assert replace(known, cohorts=random_cohorts(2)).prepared(prepare) == 2


def test_hiding_from_what_is_known_hides_scores_and_tells_no_progress():
    known = Known(scores(), progress=print)
    hidden = known.hidden(np.array([[True, False, False], [False, False, False]]))
    assert np.isnan(hidden.exact.by_size[1][0, 0])
    assert hidden.progress is None
    assert not np.isnan(known.exact.by_size[1][0, 0])


def test_rows_that_are_not_there_are_an_error_that_names_another_completer():
    with pytest.raises(MisfeatError, match=r"'knn' needs the rows .* use completer='interactions'"):
        Known(scores()).rows_for("knn")
