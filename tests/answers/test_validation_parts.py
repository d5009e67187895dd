"""What validation leaves out, and what it compares answers with."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from misfeat.answers.validation import (
    Truth,
    chance_inside,
    deviation_of,
    figures_of,
    half_weights,
    patchy_rounds,
    ratio_of_errors,
    rescored,
    truth_of_population,
    truth_of_sample,
    with_features,
)
from misfeat.cohorts.weights import reweighted
from misfeat.completion import CompletedScores, ExactScores, InteractionsCompleter, Known
from misfeat.estimation.estimands import Estimate
from misfeat.information.measures import MutualInformation
from misfeat.lattice import level, rank
from tests.completion.coded import drawn_cohorts

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


def test_fewer_sets_and_rows_are_allowed_for_in_what_is_captured():
    true = np.arange(66) / 66
    tested = np.arange(66) % 2 == 0
    truth = Truth(true[None], np.zeros((1, 66)), tested[None], np.ones(1), np.ones(1))
    answers = np.where(np.arange(66) == 2, 1.0, true)
    two_of_33 = (true[64] + true[2]) / (true[64] + true[62])
    assert figures_of(truth, completed_of(answers), 0, k=4).captured == pytest.approx(two_of_33)
    truth = Truth(*np.full((2, 1, 6), 0.1), np.ones((1, 6), bool), np.ones(1), np.array([0.7]))
    assert figures_of(truth, completed_of(truth.score), 0, k=2).captured == pytest.approx(0.7)


def test_intervals_hold_as_often_as_they_say_and_as_draws_do():
    score = np.full((1, 6), 0.5)
    truth = Truth(score, np.full((1, 6), 0.05), score > 0, np.ones(1), np.ones(1))
    found = figures_of(truth, completed_of(score, 0.05), 0, k=2)
    assert found.coverage == pytest.approx(0.9)
    assert found.error == pytest.approx(0.05)
    narrow = figures_of(truth, completed_of(score, 0.025), 0, k=2)
    assert narrow.coverage == pytest.approx(0.589, abs=0.001)
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


def halves(known, rng):
    """What either half of the rows of every cohort would tell."""
    return tuple(
        rescored(known, reweighted(known.cohorts, weights))
        for weights in half_weights(known.cohorts, rng)
    )


def known_above_chance(cohorts, size=2) -> Known:
    measure = MutualInformation(cohorts, above_chance=True)
    by_cohort = [measure.of_levels(i, 0, size, None) for i in range(len(cohorts))]
    by_size = tuple(np.array(scores) for scores in zip(*by_cohort, strict=True))
    exact = ExactScores(by_size, cohorts.missing, measure.ceiling, False, True)
    return Known(exact, cohorts)


@given(
    st.integers(0, 10_000), st.integers(1, 7), st.integers(1, 8), st.integers(1, 6), st.floats(0, 1)
)
def test_as_large_a_share_is_hidden_as_is_missing(seed, n_cohorts, n_features, rounds, share):
    rng = np.random.default_rng(seed)
    missing = rng.random((n_cohorts, n_features)) < share
    lacking = missing.any(axis=1)
    masks = list(patchy_rounds(missing, lacking, rounds, rng))
    assert len(masks) == rounds
    for mask in masks:
        assert not (mask & missing).any()
        recorded = (~missing & ~mask).sum(axis=0)
        assert (recorded[mask.any(axis=0)] > 0).all()
        n_recorded = (~missing).sum(axis=1)
        wanted = np.maximum(1, np.round(missing.mean(axis=1) * n_recorded))
        assert (mask.sum(axis=1) <= np.clip(n_recorded - 1, 0, wanted)).all()
        assert not mask[~lacking].any()


@pytest.mark.parametrize(("n_cohorts", "rounds", "at_once"), [(8, 4, 2), (5, 4, 2), (3, 4, 1)])
def test_every_subgroup_has_a_turn_and_few_have_it_at_once(n_cohorts, rounds, at_once):
    missing = np.random.default_rng(1).random((n_cohorts, 10)) < 0.5
    masks = np.array(
        list(patchy_rounds(missing, np.ones(n_cohorts, bool), rounds, np.random.default_rng(0)))
    )
    tested = masks.any(axis=2)
    assert tested.any(axis=0).all()
    assert tested.sum(axis=1).max() <= at_once
    halved = np.round(missing.mean(axis=1) * (~missing).sum(axis=1))
    assert (masks.sum(axis=2).max(axis=0) == halved).all()


def test_halves_are_the_rows_once_each():
    known = known_above_chance(drawn_cohorts(n_rows=241))
    first, second = halves(known, np.random.default_rng(0))
    for whole, a, b in zip(known.cohorts, first.cohorts, second.cohorts, strict=True):
        assert a.size == whole.size // 2
        assert a.size + b.size == whole.size
        rows = [
            sorted(
                (*line, weight)
                for part in parts
                for *line, weight in np.vstack([part.codes, part.target])
                .T.repeat(part.weights, axis=0)
                .tolist()
            )
            for parts in ([whole], [a, b])
        ]
        assert rows[0] == rows[1]


def test_scores_of_some_features_are_those_of_a_table_without_the_others():
    cohorts = drawn_cohorts(n_features=6)
    whole, kept = known_above_chance(cohorts), np.array([0, 2, 5])
    part = with_features(whole, kept)
    assert part.cohorts.features == tuple(cohorts.features[f] for f in kept)
    again = known_above_chance(part.cohorts)
    for size in (1, 2):
        ranks = rank(kept[level(3, size)])
        assert np.array_equal(part.exact.by_size[size], whole.exact.by_size[size][:, ranks])
        np.testing.assert_allclose(part.exact.by_size[size], again.exact.by_size[size], atol=1e-12)
    found = Estimate("population", InteractionsCompleter()).complete(part, 2)
    assert found.score.shape == (len(cohorts), 3)
