from __future__ import annotations

import numpy as np

from misfeat.completion import ExactScores
from misfeat.completion.completed_scores import support_of
from misfeat.lattice import level

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


def test_support_tells_what_was_recorded_together():
    # 0 lacks a; a and b were recorded together in 1, a and c nowhere; d nowhere at all.
    missing = np.array(
        [[True, False, False, True], [False, False, True, True], [True, False, False, True]]
    )
    subsets = level(4, 2)
    names = {tuple(s): place for place, s in enumerate(subsets.tolist())}
    support = support_of(missing, subsets)[0]
    assert support[names[0, 1]] == 3
    assert support[names[0, 2]] == 1
    assert support[names[1, 2]] == 4
    assert support[names[0, 3]] == 0
    triple = support_of(missing[:, :3], level(3, 3))
    assert triple.ravel().tolist() == [1, 1, 1]
    in_pairs = np.array([[True, False, False], [False, True, False], [False, False, True]])
    assert support_of(in_pairs, level(3, 3)).ravel().tolist() == [2, 2, 2]
