"""Features of the best sets are kept, then those that tell, then the best of the others."""

from __future__ import annotations

import numpy as np

from misfeat.screening.choosing import features_to_keep, telling_features
from misfeat.screening.ranking import POOLED, TOGETHER, TOTAL, Ranking


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
