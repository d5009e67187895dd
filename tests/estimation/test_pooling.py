from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.estimation.covariance_scores import InformationScale
from misfeat.estimation.pooling import MOST_SPREAD, Evidence, effects_of, posterior_of

SCALE = InformationScale(np.array([0.5, 0.5]))


def drawn(rows=400, n_cohorts=8, n_sets=60, differ=0.0, seed=0, levels=1.0):
    """Scores of populations that differ by so much, and of samples drawn from them."""
    rng = np.random.default_rng(seed)
    pooled = rng.gamma(1.0, 0.05, n_sets)
    level = np.broadcast_to(levels, (n_cohorts,))[:, None]
    truth = level * pooled * np.exp(differ * rng.normal(size=(n_cohorts, n_sets)))
    fitted = np.full((n_cohorts, n_sets), 8.0)
    noise = fitted / (2.0 * rows**2) + SCALE.row_variance(truth) / rows
    own = truth + np.sqrt(noise) * rng.normal(size=truth.shape)
    shown = pooled * np.exp(0.05 * rng.normal(size=n_sets))  # the pool is not quite right, either
    pool, recorded = np.tile(shown, (n_cohorts, 1)), np.ones(own.shape, dtype=bool)
    n_rows = np.full(n_cohorts, float(rows))
    behind = np.full(n_sets, float(n_cohorts))
    known = own, pool, pool, recorded, fitted, fitted, n_rows, behind, SCALE.row_variance
    return Evidence(*known), truth


def posterior(evidence):
    return posterior_of(evidence, effects_of(evidence))


def without(evidence, lacking):
    """The same where some subgroups did not record some sets."""
    return replace(
        evidence,
        own=np.where(lacking, 0.0, evidence.own),
        part=np.where(lacking, 0.0, evidence.part),
        fitted_part=np.where(lacking, 0.0, evidence.fitted),
        recorded=~lacking,
    )


def error(found, truth):
    return np.sqrt(((found - truth) ** 2).mean())


def test_subgroups_that_are_alike_are_pooled_and_others_keep_their_own_scores():
    evidence, truth = drawn(differ=0.0)
    assert error(posterior(evidence).mean, truth) < 0.4 * error(evidence.own, truth)
    evidence, truth = drawn(rows=20_000, differ=0.5)
    assert error(posterior(evidence).mean, truth) < 0.3 * error(evidence.pooled, truth)
    for differ, rows in product((0.0, 0.1, 0.3, 0.6), (100, 1000)):
        evidence, truth = drawn(rows=rows, differ=differ)
        ends = error(evidence.own, truth), error(evidence.pooled, truth)
        assert error(posterior(evidence).mean, truth) < max(1.15 * min(ends), 0.2 * ends[0])


def test_levels_of_subgroups_are_found():
    levels = np.array([0.5, 0.5, 1.0, 1.0, 1.5, 1.5, 1.0, 1.0])
    evidence, _ = drawn(rows=2000, levels=levels)
    assert effects_of(evidence).level == pytest.approx(levels, abs=0.12)
    evidence, truth = drawn(rows=500, levels=np.array([0.0, 1.0] * 4))
    assert error(posterior(evidence).mean, truth) < error(evidence.pooled, truth) / 4


@pytest.mark.parametrize("differ", [0.2, 0.5])
def test_variances_are_those_of_errors(differ):
    squares, said = [], []
    for seed in range(6):
        evidence, truth = drawn(differ=differ, seed=seed)
        found = posterior(evidence)
        squares.append((found.mean - truth) ** 2)
        said.append(found.variance)
    assert 0.4 < np.mean(squares) / np.mean(said) < 1.5


def test_what_nobody_recorded_here_comes_from_the_others():
    evidence, truth = drawn(rows=2000)
    lacking = np.zeros(evidence.own.shape, dtype=bool)
    lacking[0, :20] = True
    found = posterior(without(evidence, lacking))
    assert error(found.mean[lacking], truth[lacking]) < 0.01
    assert found.variance[lacking].sum() > 1.2 * posterior(evidence).variance[lacking].sum()


def test_predictions_are_the_surer_the_more_others_agree():
    widths = []
    for differ in (0.0, 0.5):
        evidence, _ = drawn(rows=2000, differ=differ, n_cohorts=12)
        lacking = np.zeros(evidence.own.shape, dtype=bool)
        lacking[0] = True
        widths.append(np.sqrt(posterior(without(evidence, lacking)).variance[0]).mean())
    assert widths[0] < widths[1] / 2


def test_one_subgroup_has_its_own_scores():
    evidence, _ = drawn(n_cohorts=1)
    found = posterior(evidence)
    assert np.array_equal(found.mean, evidence.own)
    assert found.variance == pytest.approx(evidence.noise(evidence.own))


@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 100))
def test_whatever_is_recorded_estimates_are_finite(n_cohorts, n_sets, seed):
    evidence, _ = drawn(50, n_cohorts, n_sets, 0.5, seed)
    recorded = np.random.default_rng(seed).random(evidence.own.shape) < 0.5
    found = posterior(replace(evidence, recorded=recorded))
    assert np.isfinite(found.mean).all()
    assert (found.variance > 0).all()
    assert (effects_of(evidence).largest_spread <= MOST_SPREAD).all()
