from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from misfeat.answers.validation import (
    Truth,
    chance_inside,
    deviation_of,
    figures_of,
    ratio_of_errors,
    truth_of_population,
    truth_of_sample,
)
from misfeat.completion import CompletedScores, ExactScores
from misfeat.lattice import level

Z = ndtri(0.95)


def completed_of(score, deviation=0.0, predicted=False) -> CompletedScores:
    """Scores of pairs with 90 % intervals."""
    score = np.atleast_2d(score).astype(float)
    n_features = next(n for n in range(2, 99) if n * (n - 1) // 2 == score.shape[1])
    reach = Z * np.broadcast_to(deviation, score.shape)
    flags = np.broadcast_to(np.array(predicted, dtype=bool), score.shape)
    support = np.zeros(score.shape, dtype=np.int8)
    low = np.maximum(score - reach, 0)
    return CompletedScores(level(n_features, 2), score, low, score + reach, flags, support)


def exact_of(pairs) -> ExactScores:
    pairs = np.atleast_2d(pairs).astype(float)
    singles = np.zeros((len(pairs), 4))
    missing = np.zeros(singles.shape, dtype=bool)
    empty = np.zeros((len(pairs), 1))
    return ExactScores((empty, singles, pairs), missing, np.ones(len(pairs)), False, True)


def test_the_truth_of_a_sample_is_its_own_score():
    exact = exact_of([0.1, np.nan, 0.3, 0.2, 0.1, 0.0])
    truth = truth_of_sample(exact, 2)
    assert truth.tested.tolist() == [[True, False, True, True, True, True]]
    assert (truth.deviation == 0).all()
    off = completed_of([0.1, 0.9, 0.2, 0.3, 0.1, 0.0], 0.01, [0, 1, 1, 1, 0, 0])
    found = figures_of(truth, off, 0, k=1)
    assert found.captured == pytest.approx(0.2 / 0.3)
    assert found.coverage == pytest.approx(3 / 5)
    assert found.error == pytest.approx(np.sqrt(2 * 0.1**2 / 5))


def test_exact_scores_are_not_counted_as_held():
    truth = truth_of_sample(exact_of([0.1, 0.2, 0.3, 0.2, 0.1, 0.0]), 2)
    answered = completed_of([0.1, 0.2, 0.3, 0.2, 0.3, 0.0], 0.0, [0, 0, 0, 0, 1, 0])
    assert figures_of(truth, answered, 0, k=2).coverage == 0
    same = completed_of(truth.score)
    assert (figures_of(truth, same, 0, 2).coverage, figures_of(truth, same, 0, 2).error) == (1, 0)


def test_nothing_is_said_about_a_subgroup_without_any_tested_set():
    truth = truth_of_sample(exact_of(np.full(6, np.nan)), 2)
    assert figures_of(truth, completed_of(np.zeros(6)), 0, k=2) is None


def test_of_fewer_sets_as_large_a_share_counts_as_best():
    true = np.arange(66) / 66
    tested = np.arange(66) % 2 == 0
    truth = Truth(true[None], np.zeros((1, 66)), tested[None], np.ones(1), np.ones(1))
    answers = np.where(np.arange(66) == 2, 1.0, true)
    two_of_33 = (true[64] + true[2]) / (true[64] + true[62])
    assert figures_of(truth, completed_of(answers), 0, k=4).captured == pytest.approx(two_of_33)


def test_what_so_few_rows_cost_is_taken_off():
    truth = Truth(*np.full((2, 1, 6), 0.1), np.ones((1, 6), bool), np.ones(1), np.array([0.7]))
    assert figures_of(truth, completed_of(truth.score), 0, k=2).captured == pytest.approx(0.7)


def test_intervals_that_are_the_truth_hold_as_often_as_they_say():
    score = np.full((1, 6), 0.5)
    truth = Truth(score, np.full((1, 6), 0.05), score > 0, np.ones(1), np.ones(1))
    found = figures_of(truth, completed_of(score, 0.05), 0, k=2)
    assert found.coverage == pytest.approx(0.9)
    assert found.error == pytest.approx(0.05)
    narrow = figures_of(truth, completed_of(score, 0.025), 0, k=2)
    assert narrow.coverage == pytest.approx(0.589, abs=0.001)


def test_how_likely_the_truth_is_inside_is_what_draws_say():
    rng = np.random.default_rng(0)
    draws = np.clip(rng.normal(0.1, 0.2, 200_000), 0, 0.3)
    for low, high in ((0.0, 0.2), (0.05, 0.2), (0.05, 0.3)):
        bounds = (np.array([value]) for value in (low, high, 0.1, 0.2))
        likely = chance_inside(*bounds, ceiling=0.3)
        assert likely == pytest.approx(((low <= draws) & (draws <= high)).mean(), abs=0.005)


def test_deviations_are_read_from_the_side_that_was_not_cut():
    completed = completed_of([0.01, 0.2, 0.3, 0.2, 0.1, 0.0], 0.05)
    assert completed.low[0, 0] == 0
    assert deviation_of(completed, 0.9) == pytest.approx(0.05)


@pytest.mark.parametrize("wider", [0.5, 1.0, 2.0])
def test_halves_tell_by_how_much_deviations_are_off(wider):
    rng = np.random.default_rng(0)
    shape, noise, deviation = (40, 91), 0.06, 0.03
    true = rng.normal(1, 0.1, shape)
    estimates = true + rng.normal(0, deviation, (2, *shape))
    scores = true + rng.normal(0, noise, (2, *shape))
    parts = [
        (exact_of(x), completed_of(estimate, deviation * wider))
        for x, estimate in zip(scores, estimates, strict=True)
    ]
    assert ratio_of_errors(parts, 0.9) == pytest.approx(np.clip(wider**-2.0, 0.1, 3), rel=0.15)


def test_half_of_the_rows_corrects_deviations_and_says_what_few_rows_cost():
    judged = completed_of([[0.4, 0.2, 0.1, 0.1, 0.0, 0.0]] * 2, 0.1)
    exact = exact_of(judged.score)
    alone = truth_of_population(exact, judged, 0.9, 1)
    assert alone.deviation == pytest.approx(0.1)
    assert alone.kept.tolist() == [1, 1]
    wrong = judged.score.copy()
    wrong[0, 1] = 0.9
    half = (exact, completed_of(wrong, 0.1)), (exact, judged)
    truth = truth_of_population(exact, judged, 0.9, 1, half)
    assert truth.kept == pytest.approx([(0.5 + 1) / 2, 1])
    assert truth.deviation == pytest.approx(0.1 * ratio_of_errors(half, 0.9) ** 0.25)
