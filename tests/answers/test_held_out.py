from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.answers.validation import (
    can_be_halved,
    features_to_judge,
    half_of,
    half_weights,
    patchy_rounds,
    with_features,
    with_hidden,
)
from misfeat.cohorts.weights import reweighted
from misfeat.completion import CompletedScores, ExactScores, InteractionsCompleter, Known
from misfeat.estimation.estimates import Estimate
from misfeat.information.measures import MutualInformation
from misfeat.lattice import level, rank
from tests.completion.coded import drawn_cohorts


def halves(known, rng):
    """What either half of the rows of every cohort would tell."""
    return tuple(half_of(known, weights) for weights in half_weights(known.cohorts, rng))


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


def test_features_take_turns():
    missing = np.zeros((2, 4), dtype=bool)
    missing[:, 3] = [True, False]
    masks = list(patchy_rounds(missing, missing.any(axis=1), 3, np.random.default_rng(0)))
    assert np.sum(masks, axis=0).tolist() == [[1, 1, 1, 0], [0, 0, 0, 0]]


def test_hidden_features_are_gone_from_scores_and_rows():
    known = known_above_chance(drawn_cohorts())
    mask = np.zeros_like(known.exact.missing)
    mask[1, 2] = True
    left = with_hidden(known, mask)
    assert np.isnan(left.exact.by_size[1][1, 2])
    assert (left.cohorts["site=1"].codes[2] == -1).all()
    assert left.exact.above_chance
    assert with_hidden(Known(known.exact), mask).cohorts is None


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


def test_halves_are_scored_by_themselves_where_the_whole_was():
    known = known_above_chance(drawn_cohorts())
    by_size = tuple(scores.copy() for scores in known.exact.by_size)
    by_size[2][0, 3] = np.nan  # not asked to compute it
    known = replace(known, exact=replace(known.exact, by_size=by_size))
    for half in halves(known, np.random.default_rng(0)):
        own = known_above_chance(half.cohorts).exact
        assert np.isnan(half.exact.by_size[2][0, 3])
        own.by_size[2][0, 3] = np.nan
        assert half.exact.by_size[2] == pytest.approx(own.by_size[2], nan_ok=True)
        assert half.exact.ceiling == pytest.approx(own.ceiling)


def test_without_rows_or_with_few_of_them_nothing_is_halved():
    cohorts = drawn_cohorts()
    weights = cohorts.weights.copy()
    weights[3 : cohorts.offsets[1]] = 0
    known = known_above_chance(reweighted(cohorts, np.minimum(weights, 1)))
    assert not can_be_halved(known.cohorts)
    assert not can_be_halved(None)
    assert halves(known, np.random.default_rng(0)) == ()
    assert halves(Known(known.exact), np.random.default_rng(0)) == ()


def scores_of(n_features, best):
    """All pairs, of which those of some features score highest."""
    subsets = level(n_features, 2)
    score = np.full((3, len(subsets)), 0.1)
    score[:, np.isin(subsets, best).all(axis=1)] = 0.3
    none = np.zeros(score.shape, dtype=bool)
    return CompletedScores(subsets, score, score, score, none, none.astype(np.int8))


def test_features_of_the_best_sets_are_judged_and_others_are_drawn():
    shown = scores_of(20, [4, 11, 17])
    kept = features_to_judge(shown, 20, np.random.default_rng(0), most=3 * 45)
    assert len(kept) == 10
    assert len(set(kept.tolist())) == 10
    assert {4, 11, 17} <= set(kept.tolist())
    assert (np.diff(kept) > 0).all()
    other = features_to_judge(shown, 20, np.random.default_rng(1), most=3 * 45)
    assert other.tolist() != kept.tolist()
    assert features_to_judge(shown, 20, np.random.default_rng(0), most=3 * 190) is None


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
