from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from misfeat.population.posterior import Evidence
from misfeat.population.refined import refined_posterior
from misfeat.population.scores import intervals_of
from tests.population.evidence import drawn, evidence_of
from tests.population.plain import posterior_of
from tests.population.recipe import RECIPE

BOTH = pytest.mark.parametrize("posterior", [posterior_of, refined_posterior])


def made_up(n_cohorts=5, n_sets=30, seed=0):
    rng = np.random.default_rng(seed)
    pooled = rng.exponential(0.05, size=n_sets)
    truth = pooled * rng.uniform(0.8, 1.2, size=(n_cohorts, n_sets))
    null = np.full(truth.shape, 1e-5)
    noise = rng.normal(size=truth.shape) * np.sqrt(null + 2 * truth / 500)
    predicted = rng.random(truth.shape) < 0.2
    return Evidence(truth + noise, null, np.full(n_cohorts, 500.0), predicted, pooled)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_posteriors_are_those_of_the_recipe_from_rows_on(size):
    n_cohorts = RECIPE["n_cohorts"]
    codes = np.array(RECIPE["codes"])
    by_cohort = codes.reshape(len(codes), n_cohorts, -1).transpose(1, 0, 2)
    target = np.array(RECIPE["target"]).reshape(n_cohorts, -1)
    found = posterior_of(evidence_of(by_cohort, target, codes.max(axis=1) + 1, 2, size))
    wanted = RECIPE["posterior"][str(size)]
    np.testing.assert_allclose(found.mean, wanted["mean"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.variance, wanted["variance"], rtol=0, atol=1e-9)


def test_posteriors_of_predicted_sets_are_those_of_the_recipe():
    held = {name: np.array(values) for name, values in RECIPE["hidden"].items()}
    wanted = {name: held.pop(name) for name in ("mean", "variance")}
    found = posterior_of(Evidence(**held))
    np.testing.assert_allclose(found.mean, wanted["mean"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.variance, wanted["variance"], rtol=0, atol=1e-9)


@BOTH
def test_means_lie_between_the_own_score_and_what_the_pool_says(posterior):
    evidence = made_up()
    found = posterior(evidence)
    low = np.minimum(evidence.scores, found.expected) - 1e-12
    high = np.maximum(evidence.scores, found.expected) + 1e-12
    assert ((low <= found.mean) & (found.mean <= high)).all()
    assert ((found.shrinkage >= 0) & (found.shrinkage <= 1)).all()
    assert (found.variance > 0).all()


@BOTH
def test_sets_without_a_score_get_what_the_pool_says_and_unknown_sets_get_nothing(posterior):
    evidence = made_up()
    scores, pooled = evidence.scores.copy(), evidence.pooled.copy()
    scores[1, 3] = np.nan  # not computed, though the pool knows the set
    scores[:, 7], pooled[7] = np.nan, np.nan  # nobody recorded it
    found = posterior(replace(evidence, scores=scores, pooled=pooled))
    assert found.mean[1, 3] == found.expected[1, 3]
    assert found.variance[1, 3] > 0
    unknown = np.zeros(scores.shape, dtype=bool)
    unknown[:, 7] = True
    for values in (found.mean, found.variance, found.expected):
        assert np.array_equal(np.isnan(values), unknown)


@BOTH
def test_unknown_sets_do_not_touch_the_others(posterior):
    evidence = made_up()
    whole = posterior(evidence)
    padded = posterior(
        Evidence(
            np.pad(evidence.scores, ((0, 0), (0, 2)), constant_values=np.nan),
            np.pad(evidence.null, ((0, 0), (0, 2)), constant_values=1e-5),
            evidence.n_rows,
            np.pad(evidence.predicted, ((0, 0), (0, 2)), constant_values=True),
            np.pad(evidence.pooled, (0, 2), constant_values=np.nan),
        )
    )
    np.testing.assert_allclose(padded.mean[:, :-2], whole.mean, rtol=1e-12)
    np.testing.assert_allclose(padded.variance[:, :-2], whole.variance, rtol=1e-12)


@BOTH
def test_a_cohort_that_recorded_no_set_has_the_strength_of_the_others(posterior):
    evidence = made_up()
    scores, predicted = evidence.scores.copy(), evidence.predicted.copy()
    scores[2], predicted[2] = np.nan, True
    found = posterior(replace(evidence, scores=scores, predicted=predicted))
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.variance).all()
    assert found.strength[2] == pytest.approx(1.0, abs=0.3)


@BOTH
@pytest.mark.parametrize("n_cohorts", [1, 2, 3, 4])
def test_few_cohorts_have_a_posterior_all_the_same(posterior, n_cohorts):
    found = posterior(made_up(n_cohorts))
    assert np.isfinite(found.variance).all()


@BOTH
def test_one_cohort_alone_is_shrunk_by_its_own_tables(posterior):
    evidence = made_up(1)
    found = posterior(evidence)
    assert np.array_equal(found.mean[0], evidence.pooled)
    np.testing.assert_allclose(found.variance[0], 1e-5 + 2 * evidence.pooled / 500)


@BOTH
def test_nothing_but_noise_gives_next_to_nothing(posterior):
    rng = np.random.default_rng(0)
    best, best_of_rows = [], []
    for _ in range(10):
        codes = rng.integers(3, size=(4, 8, 200))
        evidence = evidence_of(codes, rng.integers(2, size=(4, 200)), np.full(8, 3), 2, 3)
        best.append(posterior(evidence).mean.max(axis=1).mean())
        best_of_rows.append(evidence.scores.max(axis=1).mean())
    assert np.mean(best) < 0.02 * np.log(2)
    assert np.mean(best_of_rows) > 0.05 * np.log(2)


def test_strengths_are_pooled_as_far_as_noise_makes_them_differ():
    evidence, _, _ = drawn(similarity=1000, n_rows=150, n_cohorts=6, seed=5)
    assert np.ptp(refined_posterior(evidence).strength) < np.ptp(posterior_of(evidence).strength)


def test_refined_means_are_nearer_the_populations():
    errors = []
    for seed in range(12):
        similarity = (20, 100, 1000)[seed % 3]
        evidence, truth, _ = drawn(similarity, n_rows=300, n_cohorts=5, seed=seed)
        found = (evidence.scores, posterior_of(evidence).mean, refined_posterior(evidence).mean)
        errors.append([np.sqrt(((mean - truth) ** 2).mean()) / truth.mean() for mean in found])
    own, plain, refined = np.mean(errors, axis=0)
    assert refined < plain < own


def test_what_hangs_on_other_cohorts_in_part_is_the_surer_the_smaller_the_part():
    evidence = made_up()
    whole, half, none = (
        refined_posterior(replace(evidence, carried=np.full(evidence.scores.shape, share))).variance
        for share in (1.0, 0.5, 0.0)
    )
    assert np.array_equal(whole, refined_posterior(evidence).variance)
    recorded = ~evidence.predicted
    assert np.array_equal(half[recorded], whole[recorded])
    assert half[evidence.predicted] == pytest.approx((whole + none)[evidence.predicted] / 2)


def test_intervals_of_cohorts_with_noise_hold_as_often_as_told():
    """Noise that sets of a cohort share, and all cohorts in part: the pool is not rid of it."""
    held = {True: [], False: []}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = rng.gamma(2.0, 0.02, size=30) * np.ones((6, 1))
        null = np.full(truth.shape, 1e-4)
        everywhere, here = rng.normal(), rng.normal(size=(6, 1))
        own = rng.normal(size=truth.shape)
        noise = np.sqrt(0.2) * everywhere + np.sqrt(0.25) * here + np.sqrt(0.55) * own
        scores = truth + noise * np.sqrt(null + 2 * truth / 200)
        predicted = np.zeros(truth.shape, dtype=bool)
        pooled = np.maximum(scores.mean(axis=0), 0.0)
        evidence = Evidence(scores, null, np.full(6, 200.0), predicted, pooled)
        for told in held:
            found = refined_posterior(replace(evidence, noisy=np.full(6, told)))
            half = 1.645 * np.sqrt(found.variance)
            held[told].append((np.abs(found.mean - truth) <= half).mean())
    assert np.mean(held[False]) < 0.85
    assert 0.87 <= np.mean(held[True]) <= 0.96


def test_where_no_cohort_has_noise_nothing_changes():
    evidence = made_up()
    plain = refined_posterior(evidence)
    nobody = refined_posterior(replace(evidence, noisy=np.zeros(evidence.n_cohorts, dtype=bool)))
    assert np.array_equal(nobody.variance, plain.variance)
    assert np.array_equal(nobody.mean, plain.mean)


def test_scores_are_left_alone_the_more_cohorts_are_known_to_differ():
    evidence = made_up()
    usual, differing = (
        refined_posterior(replace(evidence, least_spread=least)) for least in (0.0, 0.4)
    )
    assert differing.spread == 0.4 > usual.spread
    assert (differing.shrinkage < usual.shrinkage).all()


def test_intervals_hold_the_populations_scores_as_often_as_told():
    held, held_of_best = [], []
    for similarity in (20, 100, 1000):
        for n_rows in (200, 800):
            for n_cohorts in (4, 8):
                for seed in range(2):
                    evidence, truth, entropy = drawn(similarity, n_rows, n_cohorts, seed)
                    found = intervals_of(refined_posterior(evidence), 0.9, entropy)
                    inside = (found.low <= truth) & (truth <= found.high)
                    best = np.argsort(-found.score, axis=1)[:, :10]
                    held.append(inside.mean())
                    held_of_best.append(np.take_along_axis(inside, best, axis=1).mean())
    assert 0.86 < np.mean(held) < 0.96
    assert np.mean(held_of_best) > 0.86


def test_what_rounding_adds_to_chance_is_left_in_the_pool_by_its_root_and_moves_no_score():
    known = made_up()
    rounded = replace(known, null=known.null * 25.0)
    believed = replace(rounded, coarser=np.full((5, 1), 25.0))
    left = believed.left_in_pool(np.zeros((5, 30))) + believed.null
    np.testing.assert_allclose(left, 0.5 * 25.0**0.5 * known.null)
    plain, mended = refined_posterior(rounded), refined_posterior(believed)
    np.testing.assert_array_equal(plain.mean, mended.mean)
    assert (mended.variance <= plain.variance).all()
    assert mended.variance.mean() < 0.97 * plain.variance.mean()
