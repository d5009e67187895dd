from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.lattice import level, ranks_below
from misfeat.population.posterior import Posterior
from misfeat.population.scores import Intervals, closed, intervals_of, population_scores
from tests.population.generated import generated, known_with_scores, with_missing
from tests.population.plain import posterior_of
from tests.population.recipe import RECIPE, TRANSFERRED, recipe_cohorts, transferred_cohorts


def found_for(cohorts, size=3, **settings):
    return population_scores(*known_with_scores(cohorts, size), size, **settings)


def assert_sound(found, cohorts):
    """Every set has a score within its interval, and none is below a part of it."""
    ceiling = known_with_scores(cohorts, 1)[0].exact.ceiling[:, None]
    for size, of_size in found.items():
        assert of_size.score.shape == (len(cohorts), len(level(len(cohorts.features), size)))
        assert (of_size.low >= 0).all()
        assert (of_size.low <= of_size.score).all()
        assert (of_size.score <= of_size.high).all()
        assert (of_size.high <= ceiling + 1e-12).all()
        if size > 1:
            parts = ranks_below(level(len(cohorts.features), size)).T
            for ranks in parts:
                assert (of_size.score >= found[size - 1].score[:, ranks]).all()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_posteriors_are_those_of_the_recipe_from_rows_on(size):
    complete = recipe_cohorts(np.zeros((4, 5), dtype=bool))
    for cohorts, wanted in (
        (transferred_cohorts(), TRANSFERRED["posterior"]),
        (complete, RECIPE["posterior"]),
    ):
        found = found_for(cohorts, size, posterior=posterior_of)[size].posterior
        np.testing.assert_allclose(found.mean, wanted[str(size)]["mean"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.variance, wanted[str(size)]["variance"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("hide", [0, 0.3])
@pytest.mark.parametrize("n_cohorts", [1, 2, 3, 5])
def test_few_cohorts_are_enough(n_cohorts, hide):
    cohorts, _ = generated(n_cohorts, 120, 5, hide)
    assert_sound(found_for(cohorts, 4), cohorts)


def test_a_feature_that_no_cohort_recorded_tells_nothing_of_its_own():
    cohorts, data = generated(4, 200, 5, hide=0)
    missing = np.zeros((4, 5), dtype=bool)
    missing[:, 2] = True
    cohorts = with_missing(cohorts.codes, data.complete["target"], missing)
    found = found_for(cohorts)
    assert_sound(found, cohorts)
    assert found[1].predicted[:, 2].all()
    assert (found[1].score[:, 2] < 0.25 * np.delete(found[1].score, 2, axis=1).max()).all()


def test_one_cohort_that_recorded_nothing_gets_what_the_others_tell():
    cohorts, data = generated(5, 300, 5, hide=0, similarity=1000)
    missing = np.zeros((5, 5), dtype=bool)
    missing[3] = True
    cohorts = with_missing(cohorts.codes, data.complete["target"], missing)
    found = found_for(cohorts)
    assert_sound(found, cohorts)
    assert found[3].predicted[3].all()
    others = np.delete(found[3].score, 3, axis=0).mean(axis=0)
    assert np.corrcoef(found[3].score[3], others)[0, 1] > 0.9


def test_a_target_that_never_varies_leaves_nothing_to_tell():
    cohorts, data = generated(3, 80, 4, hide=0.3)
    nowhere = with_missing(cohorts.codes, np.zeros(240, dtype=np.int64), cohorts.missing)
    for of_size in found_for(nowhere).values():
        assert (of_size.high == 0).all()
    target = np.where(np.arange(240) < 80, 0, data.complete["target"])
    in_one = with_missing(cohorts.codes, target, cohorts.missing)
    found = found_for(in_one)
    assert_sound(found, in_one)
    assert (found[3].high[0] == 0).all()


def test_wider_intervals_for_more_confidence():
    cohorts, _ = generated(4, 150, 5, hide=0.3)
    narrow, wide = (found_for(cohorts, confidence=c)[3] for c in (0.5, 0.95))
    assert np.array_equal(narrow.score, wide.score)
    assert (wide.low <= narrow.low).all()
    assert (wide.high >= narrow.high).all()


def test_scores_are_nearer_the_populations_than_those_of_the_rows():
    errors = []
    for seed in range(4):
        cohorts, data = generated(5, 250, 6, hide=0.25, similarity=(20, 1000)[seed % 2], seed=seed)
        known, own = known_with_scores(cohorts, 3)
        found = population_scores(known, own, 3)[3]
        populations = data.populations.values()
        truth = np.array([[p.mutual_info(s) for s in level(6, 3)] for p in populations])
        recorded = ~found.predicted
        off_own, off = (
            np.sqrt(((scores - truth)[recorded] ** 2).mean()) for scores in (own[3], found.score)
        )
        off_predicted = np.sqrt(((found.score - truth)[found.predicted] ** 2).mean())
        errors.append([off_own, off, off_predicted])
    own_error, error, predicted_error = np.mean(errors, axis=0)
    assert error < own_error
    assert predicted_error < 2 * error


def posterior(mean, variance):
    mean = np.array(mean)
    return Posterior(mean, np.array(variance), mean, np.ones(mean.shape), np.ones(len(mean)), 0.0)


def test_bounds_lie_as_many_deviations_off_as_the_confidence_asks_for():
    found = intervals_of(posterior([[0.3]], [[0.01]]), 0.9, [1.0])
    assert found.low[0, 0] == pytest.approx(0.3 - 0.1644854, abs=1e-6)
    assert found.high[0, 0] == pytest.approx(0.3 + 0.1644854, abs=1e-6)


def test_nothing_is_below_zero_or_above_the_entropy_of_the_target():
    found = intervals_of(posterior([[-0.02, 0.6], [0.1, 0.6]], [[0.01] * 2] * 2), 0.95, [0.5, 0.7])
    assert found.low.min() == 0.0
    assert found.score[0].tolist() == [0.0, 0.5]
    assert found.high.max(axis=1).tolist() == [0.5, 0.7]


def test_what_is_not_known_stays_so():
    found = intervals_of(posterior([[np.nan, 0.1]], [[np.nan, 0.01]]), 0.9, [0.5])
    for values in (found.score, found.low, found.high):
        assert np.isnan(values).tolist() == [[True, False]]


@given(st.integers(0, 1000))
def test_no_set_tells_less_than_a_part_of_it(seed):
    rng = np.random.default_rng(seed)
    by_size = []
    for size in (1, 2, 3):
        ordered = np.sort(rng.random((3, 2, len(level(5, size)))), axis=0)
        ordered[:, rng.random(ordered.shape[1:]) < 0.2] = np.nan
        by_size.append(Intervals(score=ordered[1], low=ordered[0], high=ordered[2]))
    found = closed(by_size, n_features=5)
    for size in (2, 3):
        for name in ("score", "low", "high"):
            own, below = getattr(found[size - 1], name), getattr(found[size - 2], name)
            for part in ranks_below(level(5, size)).T:
                assert not (own < below[:, part]).any()
            assert not (own < getattr(by_size[size - 1], name)).any()
        assert not (found[size - 1].low > found[size - 1].score).any()
        assert not (found[size - 1].score > found[size - 1].high).any()
        for own, shown in zip(by_size[size - 1].score, found[size - 1].score, strict=True):
            known = ~np.isnan(own)
            assert np.argsort(own[known]).tolist() == np.argsort(shown[known]).tolist()


def test_sets_above_their_parts_stay_as_they_are():
    singles = Intervals(*np.array([[[0.1, 0.2]], [[0.0, 0.1]], [[0.2, 0.3]]]))
    pair = Intervals(*np.array([[[0.3]], [[0.2]], [[0.4]]]))
    found = closed([singles, pair], 2)
    assert found[0] is singles
    assert (found[1].score, found[1].low, found[1].high) == (0.3, 0.2, 0.4)


def test_sets_that_look_the_same_are_raised_alike_in_any_order_of_columns():
    singles = np.array([[0.0, 0.3, 0.0, 0.0]])
    pairs = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    found = closed([Intervals(*[singles] * 3), Intervals(*[pairs] * 3)], n_features=4)[1].score[0]
    holds = (level(4, 2) == 1).any(axis=1)
    assert (found[holds] == 0.3).all()
    assert (found[~holds] == 0.0).all()
