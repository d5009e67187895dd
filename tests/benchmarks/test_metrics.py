from math import log2

import numpy as np
import pytest

from benchmarks.common.metrics import ndcg_at, precision_at, share_closed, total_variation
from misfeat.answers.validation import captured_at
from misfeat.lattice.levels import level, ranks_below

TRUTH = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])


def test_a_perfect_order_scores_one_and_a_reversed_one_nothing():
    for k in (1, 2, 3):
        for measure in (ndcg_at, precision_at, captured_at):
            assert measure(k, TRUTH, TRUTH * 3 - 1) == pytest.approx(1)
        assert ndcg_at(k, TRUTH, -TRUTH) == precision_at(k, TRUTH, -TRUTH) == 0


def test_by_hand():
    # Predicted best three: sets 0, 3, 1. Of these 0 and 1 are truly among the best three.
    guess = np.array([0.9, 0.5, 0.1, 0.7, 0.2, 0.3])
    ideal = 1 + 1 / log2(3) + 1 / 2
    assert ndcg_at(3, TRUTH, guess) == pytest.approx((1 + 1 / 2) / ideal)
    assert precision_at(3, TRUTH, guess) == pytest.approx(2 / 3)
    assert captured_at(3, TRUTH, guess) == pytest.approx((0.9 + 0.6 + 0.8) / (0.9 + 0.8 + 0.7))


def test_where_nothing_tells_anything_nothing_is_lost():
    assert captured_at(2, np.zeros(4), np.arange(4.0)) == 1


def test_a_distance_computed_by_hand():
    # Two bins of the range 0 to 1: shares (3/4, 1/4) against (1/2, 1/2).
    sample = np.array([0.1, 0.2, 0.3, 0.9])
    population = np.array([0.0, 0.4, 0.6, 1.0])
    assert total_variation(sample, population, bins=2) == pytest.approx(0.5)


def test_every_pair_in_which_the_set_scores_lower_counts():
    parts = np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]])
    scores = np.array([[0.15, 0.05, 0.3], [0.0, 0.0, 0.0]])
    assert share_closed(scores, parts, ranks_below(level(3, 2))) == pytest.approx(9 / 12)


def test_a_tolerance_forgives_rounding():
    pair, parts, parts_of = np.array([[0.3]]), np.array([[0.3 + 1e-14, 0.1]]), np.array([[0, 1]])
    assert share_closed(pair, parts, parts_of) == 0.5
    assert share_closed(pair, parts, parts_of, tolerance=1e-12) == 1
