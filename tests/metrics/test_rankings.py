from __future__ import annotations

from math import log2

import numpy as np
import pytest

from misfeat.metrics.rankings import captured_at, ndcg_at, precision_at

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


def test_fewer_sets_than_k_are_all_found():
    assert ndcg_at(10, TRUTH, -TRUTH) == precision_at(10, TRUTH, -TRUTH) == 1


def test_of_equal_predictions_the_first_count():
    assert precision_at(2, TRUTH, np.zeros(6)) == 1
    assert precision_at(2, TRUTH[::-1], np.zeros(6)) == 0


def test_where_nothing_tells_anything_nothing_is_lost():
    assert captured_at(2, np.zeros(4), np.arange(4.0)) == 1


def test_what_is_captured_is_never_more_than_all():
    rng = np.random.default_rng(0)
    for _ in range(300):
        truth = rng.random(20)
        best = np.argsort(-truth)[:9]
        guess = np.zeros(20)
        guess[best] = rng.random(9) + 1  # the same sets, summed in another order
        assert captured_at(9, truth, guess) <= 1
