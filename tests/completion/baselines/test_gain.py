from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion import ExactScores, GainCompleter, Known

NAN = np.nan


def exact(*by_size: list[list[float]], missing: list[list[int]], ceiling: float = 1.0):
    n_cohorts = len(missing)
    return ExactScores(
        by_size=(np.zeros((n_cohorts, 1)), *(np.array(scores) for scores in by_size)),
        missing=np.array(missing, dtype=bool),
        ceiling=np.full(n_cohorts, ceiling),
    )


def test_computed_scores_are_left_alone():
    scores = exact([[0.1, 0.2]], missing=[[0, 0]])
    completed = GainCompleter(confidence=None).complete(Known(scores), 1)
    assert completed.score.tolist() == [[0.1, 0.2]]
    assert completed.low.tolist() == completed.high.tolist() == completed.score.tolist()
    assert not completed.predicted.any()


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


def test_predictions_never_leave_the_certain_bounds():
    scores = exact([[0.1, 0.9], [0.4, NAN]], [[0.95], [NAN]], missing=[[0, 0], [0, 1]], ceiling=0.5)
    assert GainCompleter(confidence=None).complete(Known(scores), 2).score[1, 0] == 0.5
