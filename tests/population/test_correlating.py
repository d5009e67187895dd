from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.cohorts import build_product_sums
from misfeat.completion.covariances import CarriedCorrelations
from misfeat.datasets import load_heart
from misfeat.information.correlation import adjusted_correlation
from misfeat.lattice import level, ranks_below
from misfeat.population.correlating import gather_correlations
from misfeat.population.refined import refined_posterior
from tests.completion.numeric import drawn_numbers
from tests.population.correlations import (
    found_for,
    garbled,
    known_with_correlations,
    mean_of_known,
    shares_held,
)
from tests.population.plain import posterior_of


def test_evidence_of_complete_cohorts_is_adjusted_r2_of_rows_and_of_the_pool():
    sums = drawn_numbers(hide=0.0, similarity=100_000).sums
    known, own = known_with_correlations(sums, 3)
    found = gather_correlations(known, own, 3)
    for size, evidence in found.items():
        assert np.array_equal(evidence.scores, own[size])
        assert not evidence.predicted.any()
        assert not evidence.unseen.any()
        assert evidence.null == pytest.approx(2 * size / 300**2)
        together = adjusted_correlation(sums.products.sum(axis=0), level(7, size), 5 * 300)
        assert evidence.pooled == pytest.approx(together, abs=0.02)


def test_the_variance_of_evidence_is_that_of_r2():
    known, own = known_with_correlations(drawn_numbers(n_rows=200).sums, 1)
    evidence = gather_correlations(known, own, 1)[1]
    assert evidence.variance_at(np.full((5, 7), 0.5)) == pytest.approx(
        0.25 * (2 / 200**2 + 2 / 200)
    )
    assert evidence.variance_at(np.ones((5, 7))) == pytest.approx(0.0)


def test_scores_that_were_not_recorded_are_predicted_by_covariances():
    sums = drawn_numbers(hide=0.4).sums
    known, own = known_with_correlations(sums, 2)
    evidence = gather_correlations(known, own, 2)[2]
    assert np.array_equal(evidence.predicted, sums.missing[:, level(7, 2)].any(axis=2))
    model = CarriedCorrelations.of(known)
    for cohort, predicted in enumerate(evidence.predicted):
        told = model.predicted(cohort, level(7, 2)[predicted])
        assert np.array_equal(evidence.scores[cohort, predicted], told.above_chance)
    nothing_recorded = sums.missing[:, level(7, 2)].all(axis=2)
    assert nothing_recorded.any()
    assert evidence.unseen[nothing_recorded] == pytest.approx(1.0)
    some_recorded = evidence.predicted & ~nothing_recorded
    assert (evidence.unseen[some_recorded] < 1).all()


def test_a_recorded_set_that_was_not_computed_is_taken_from_the_own_correlations():
    sums = drawn_numbers(hide=0.0).sums
    known, own = known_with_correlations(sums, 2)
    left_out = [scores.copy() for scores in own]
    left_out[2][1, 3] = np.nan
    evidence = gather_correlations(known, left_out, 2)[2]
    assert evidence.predicted.sum() == 1
    assert evidence.scores[1, 3] == pytest.approx(own[2][1, 3])
    assert evidence.unseen[1, 3] == pytest.approx(0.0)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_cohorts=st.integers(1, 5),
    n_rows=st.integers(5, 80),
    hide=st.sampled_from([0.0, 0.3, 0.7]),
)
def test_scores_are_sound_and_nothing_hidden_is_read(seed, n_cohorts, n_rows, hide):
    sums = drawn_numbers(n_cohorts, n_rows, 5, hide, 30, seed).sums
    found, again = found_for(sums), found_for(garbled(sums, np.nan))
    for size, of_size in found.items():
        assert ((of_size.low >= 0) & (of_size.low <= of_size.score)).all()
        assert ((of_size.score <= of_size.high) & (of_size.high <= 1)).all()
        for name in ("score", "low", "high"):
            assert np.array_equal(getattr(of_size, name), getattr(again[size], name))
        if size > 1:
            parts = found[size - 1].score[:, ranks_below(level(5, size))]
            assert (parts <= of_size.score[:, :, None]).all()


@pytest.mark.parametrize("posterior", [posterior_of, refined_posterior])
def test_every_posterior_takes_correlations(posterior):
    sums = drawn_numbers(n_rows=100).sums
    for of_size in found_for(sums, posterior=posterior).values():
        assert np.isfinite(of_size.posterior.variance).all()


def test_a_target_that_never_varies_is_not_explained():
    sums = drawn_numbers(4, 300, 5, hide=0.3).sums
    products = sums.products.copy()
    products[2, -1, :] = products[2, :, -1] = 0.0
    found = found_for(replace(sums, products=products))[3]
    assert (found.score[2] < 0.02).all()
    assert (found.score[[0, 1, 3]].max(axis=1) > 0.2).all()


def test_scores_are_nearer_the_populations_than_those_of_the_rows():
    errors = []
    for seed in range(9):
        drawn = drawn_numbers(n_rows=150, similarity=(30, 100, 1000)[seed % 3], seed=seed)
        known, own = known_with_correlations(drawn.sums, 3)
        found, truth = found_for(drawn.sums)[3], drawn.truth(3)
        predicted = gather_correlations(known, own, 3)[3].scores
        recorded = ~found.predicted
        errors.append(
            [
                ((own[3] - truth)[recorded] ** 2).mean(),
                ((found.score - truth)[recorded] ** 2).mean(),
                ((predicted - truth)[found.predicted] ** 2).mean(),
                ((found.score - truth)[found.predicted] ** 2).mean(),
            ]
        )
    of_rows, of_posterior, of_prediction, of_both = np.sqrt(np.mean(errors, axis=0))
    assert of_posterior < 0.95 * of_rows
    assert of_both < of_prediction


def test_a_shuffled_target_is_not_explained():
    heart = load_heart()
    columns = {name: values for name, values in heart.columns.items() if name != "site"}
    site, best, best_of_rows = heart.columns["site"], [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        target = columns["num"].copy()
        for name in np.unique(site):
            target[site == name] = rng.permutation(target[site == name])
        table = {**columns, "num": target, "site": site}
        sums = build_product_sums(table, "num", groups="site")
        best.append(found_for(sums)[3].score.max(axis=1).mean())
        best_of_rows.append(np.nanmax(known_with_correlations(sums, 3)[1][3], axis=1).mean())
    assert np.mean(best) < 0.02
    assert np.mean(best_of_rows) > 2 * np.mean(best)


def test_intervals_hold_the_populations_r2_about_as_often_as_told():
    cells = [
        shares_held(n_cohorts, n_rows, similarity, hide=0.3, seeds=range(4))
        for similarity in (30, 1000)
        for n_cohorts in (4, 8)
        for n_rows in (100, 1000)
    ]
    recorded, predicted, best = np.mean(cells, axis=0)
    assert 0.84 < recorded < 0.96
    assert 0.84 < predicted < 0.96
    assert best > 0.82


@pytest.mark.slow
def test_intervals_hold_the_populations_r2_whatever_the_cohorts():
    cells = [
        shares_held(n_cohorts, n_rows, similarity, hide, seeds=range(100, 112))
        for similarity in (30, 100, 1000)
        for n_cohorts in (4, 8)
        for n_rows in (100, 300, 1000)
        for hide in (0.0, 0.3)
    ]
    recorded, predicted, best = mean_of_known(cells)
    assert 0.87 < recorded < 0.93
    assert 0.87 < predicted < 0.93
    assert best > 0.85
    assert np.nanmin(cells) > 0.75
