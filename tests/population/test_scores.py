from __future__ import annotations

import numpy as np
import pytest

from misfeat.lattice import level, ranks_below
from misfeat.population.posterior import posterior_of
from misfeat.population.scores import population_scores
from tests.population.generated import generated, known_with_scores, with_missing
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
