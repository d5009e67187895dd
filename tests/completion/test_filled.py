from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion import ExactScores
from misfeat.completion.parts import mean_over_cohorts, recorded_sets_filled

NAN = np.nan


def test_a_set_that_was_not_scored_gets_its_best_part_and_the_mean_gain_elsewhere():
    exact = ExactScores(
        by_size=(
            np.zeros((2, 1)),
            np.array([[0.1, 0.2], [0.3, 0.1]]),
            np.array([[0.25], [NAN]]),
        ),
        missing=np.zeros((2, 2), dtype=bool),
        ceiling=np.ones(2),
    )
    filled = recorded_sets_filled(exact, 2)
    assert filled[2] == pytest.approx(np.array([[0.25], [0.35]]))
    assert np.isnan(exact.by_size[2][1, 0])


def test_sets_with_an_unrecorded_feature_stay_open():
    exact = ExactScores(
        by_size=(np.zeros((1, 1)), np.array([[0.1, NAN]])),
        missing=np.array([[False, True]]),
        ceiling=np.ones(1),
    )
    assert np.isnan(recorded_sets_filled(exact, 1)[1]).tolist() == [[False, True]]


def test_a_mean_is_over_the_cohorts_that_have_a_value():
    values = np.array([[0.1, NAN, NAN], [0.3, 0.5, NAN]])
    assert mean_over_cohorts(values) == pytest.approx([0.2, 0.5, NAN], nan_ok=True)
