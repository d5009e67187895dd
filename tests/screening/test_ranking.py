"""Sets are ranked by what no chance explains, and rankings take turns."""

from __future__ import annotations

import numpy as np

from misfeat.screening.ranking import (
    POOLED,
    TOGETHER,
    TOTAL,
    Ranking,
    Rankings,
    Scored,
    features_to_keep,
    in_turns,
    telling_features,
)

SETS = np.array([[0], [1], [2]], dtype=np.int32)


def scored(scores, freedom=(1.0, 1.0, 1.0)):
    return [Scored(TOTAL, np.array(scores, dtype=float), np.array(freedom))]


def test_a_small_cohort_needs_more_than_a_large_one():
    found = Rankings(SETS, above_chance=True)
    found.add(0, 50.0, scored([0.02, 0.0, 0.0]))
    found.add(1, 5000.0, scored([0.02, 0.0, 0.0]))
    _, small, large = found.of_all()
    assert small.beyond[0] < 0 < large.beyond[0]


def test_more_cells_need_more():
    found = Rankings(SETS, above_chance=True)
    found.add(0, 500.0, scored([0.02, 0.02, 0.02], (1.0, 4.0, 60.0)))
    assert found.of_all()[1].sets.ravel().tolist() == [0, 1, 2]


def test_cohorts_count_together_by_their_rows_where_they_recorded_a_set():
    found = Rankings(SETS, above_chance=False)
    found.add(0, 100.0, scored([0.1, np.nan, 0.2]))
    found.add(1, 300.0, scored([0.3, 0.4, np.nan]))
    pooled = found.of_all()[0]
    assert pooled.cohort == POOLED
    by_set = dict(zip(pooled.sets.ravel().tolist(), pooled.beyond.round(6).tolist(), strict=True))
    assert by_set == {0: 0.25, 1: 0.4, 2: 0.2}
    assert found.n_looked == 3


def test_sets_that_nobody_recorded_are_not_ranked():
    found = Rankings(SETS, above_chance=True)
    found.add(0, 100.0, scored([0.1, np.nan, np.nan]))
    assert [len(one.sets) for one in found.of_all()] == [1, 1]
    assert found.n_looked == 1


def test_rankings_take_turns_until_all_are_done():
    first, second = np.array([[0, 1], [2, 3], [4, 5]]), np.array([[6]])
    assert list(in_turns([first, second])) == [(0, 1), (6,), (2, 3), (4, 5)]


def made(size, kind, sets, beyond, cohort=POOLED):
    return Ranking(size, kind, cohort, np.array(sets, dtype=np.int32), np.array(beyond))


ALONE = made(1, TOTAL, [[i] for i in range(12)], [0.3, 0.2, *[-0.1] * 10])
PAIRS = made(2, TOTAL, [[0, 1], [0, 9]], [0.5, 0.4])
XOR = made(2, TOGETHER, [[7, 8], [5, 6], [3, 4]], [0.2, 0.1, -0.1])


def test_what_tells_is_kept_before_what_is_next():
    assert features_to_keep([ALONE, PAIRS, XOR], 8) == [0, 1, 2, 5, 6, 7, 8, 9]


def test_features_to_include_are_kept_first():
    assert features_to_keep([ALONE, PAIRS, XOR], 4, include=[11, 10]) == [0, 1, 10, 11]


def test_of_a_set_that_does_not_fit_no_feature_is_kept():
    assert features_to_keep([ALONE, XOR], 5) == [0, 1, 2, 7, 8]


def test_places_that_are_left_go_to_the_next_best():
    assert features_to_keep([ALONE, XOR], 9) == list(range(9))


def test_telling_features_are_those_of_clear_sets():
    assert telling_features([ALONE, PAIRS, XOR]) == {0, 1, 5, 6, 7, 8}
