from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat import SubgroupSelector
from misfeat.completion import CovarianceCompleter, InteractionsCompleter
from misfeat.completion.covariances import CarriedCorrelations
from misfeat.datasets import load_heart
from misfeat.information.correlation import adjusted_correlation, squared_correlation
from misfeat.lattice import level, ranks_below
from misfeat.selection.collecting import WORTH_SAYING
from tests.completion.coded import known_of_sums
from tests.completion.numeric import drawn_numbers
from tests.reading.holders import as_rows


def heart_with_target_of(seed):
    heart = load_heart()
    columns = {name: values for name, values in heart.columns.items() if name != heart.target}
    noise = 10.0 * np.random.default_rng(seed).normal(size=heart.n_rows)
    return columns | {"y": 2.0 * columns["thalach"] + noise}


@pytest.mark.parametrize("estimate", ["sample", "above_chance", "population"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_feature_that_adds_nothing_elsewhere_is_not_recommended(seed, estimate):
    table = heart_with_target_of(seed)
    selector = SubgroupSelector("site", size=2, measure="r2", estimate=estimate)
    selector.fit(table, "y")
    for site in ("hungarian", "switzerland", "va"):
        alone = selector.score_of(f"site={site}", ["thalach"])
        assert alone > 0.9
        assert alone <= selector.score_of(f"site={site}", ["ca", "thalach"]) < alone + 0.01
    worths = as_rows(selector.worth_collecting())
    assert {worth["feature"] for worth in worths} == {"ca"}
    for worth in worths:
        assert worth["gain"] < WORTH_SAYING * worth["before"]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_cohorts=st.integers(1, 5),
    n_rows=st.integers(3, 60),
    hide=st.sampled_from([0.3, 0.7]),
)
def test_guesses_lie_between_0_and_1_and_never_fall_when_a_set_grows(seed, n_cohorts, n_rows, hide):
    known = known_of_sums(drawn_numbers(n_cohorts, n_rows, 5, hide, 30, seed).sums, 4)
    guess = CovarianceCompleter().guess(known, 4)
    for size, guessed in enumerate(guess.by_size[1:], start=1):
        assert ((guessed >= -1e-9) & (guessed <= 1 + 1e-9)).all()
        recorded = ~np.isnan(known.exact.by_size[size])
        assert np.array_equal(guessed[recorded], known.exact.by_size[size][recorded])
        if size > 1:
            parts = guess.by_size[size - 1][:, ranks_below(level(5, size))]
            assert (parts <= guessed[:, :, None] + 1e-7).all()
    assert (guess.deviation >= 0).all()
    assert not guess.deviation[~np.isnan(known.exact.by_size[4])].any()


def test_nothing_is_read_of_features_that_are_hidden_for_a_while():
    sums = drawn_numbers(hide=0.0).sums
    known = known_of_sums(sums, 3)
    mask = np.random.default_rng(1).random(sums.missing.shape) < 0.3
    has = np.column_stack([~mask, np.ones(len(mask), dtype=bool)])
    garbage = np.where(has[:, :, None] & has[:, None, :], sums.products, np.nan)
    clean = known.hidden(mask)
    assert clean.sums is sums
    poisoned = replace(clean, sums=replace(sums, products=garbage))
    one, other = (CovarianceCompleter(rounds=3).complete(k, 3) for k in (clean, poisoned))
    for name in ("score", "low", "high"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_sets_that_were_recorded_but_not_computed_are_known_exactly():
    sums = drawn_numbers(hide=0.3).sums
    known = known_of_sums(sums, 2)
    left_out = known.exact.by_size[2].copy()
    left_out[:, ::3] = np.nan
    by_size = (*known.exact.by_size[:2], left_out)
    sampled = replace(known, exact=replace(known.exact, by_size=by_size))
    found = CovarianceCompleter(confidence=None).complete(sampled, 2).score
    computed = ~np.isnan(known.exact.by_size[2])
    assert found[computed] == pytest.approx(known.exact.by_size[2][computed], abs=1e-12)


@pytest.mark.parametrize("similarity", [30, 100, 1000])
def test_predictions_are_nearer_the_truth_than_those_from_scores(similarity):
    errors = []
    for seed in range(10):
        sums = drawn_numbers(hide=0.35, similarity=similarity, n_features=8, seed=seed).sums
        complete = known_of_sums(replace(sums, missing=np.zeros_like(sums.missing)), 3)
        known = complete.hidden(sums.missing)
        truth = complete.exact.by_size[3]
        predicted = np.isnan(known.exact.by_size[3])
        errors.append(
            [
                ((kind(confidence=None).complete(known, 3).score - truth)[predicted] ** 2).mean()
                for kind in (CovarianceCompleter, InteractionsCompleter)
            ]
        )
    of_covariances, of_scores = np.sqrt(np.mean(errors, axis=0))
    assert of_covariances < 0.92 * of_scores


def test_redundant_features_are_not_added_up():
    errors = []
    for seed in range(6):
        sums = drawn_numbers(4, 300, 6, 0.3, 200, seed, n_factors=1, explained=0.8).sums
        complete = known_of_sums(replace(sums, missing=np.zeros_like(sums.missing)), 3)
        known = complete.hidden(sums.missing)
        predicted = np.isnan(known.exact.by_size[3])
        found = CovarianceCompleter(confidence=None).complete(known, 3).score
        errors.append((found - complete.exact.by_size[3])[predicted].mean())
    assert abs(np.mean(errors)) < 0.03


@pytest.mark.slow
def test_chance_is_part_of_predictions_for_rows_and_not_of_those_for_populations():
    gaps = {"rows": [], "population": []}
    for seed in range(60):
        drawn = drawn_numbers(4, 40, 4, 0.0, 100_000, seed)
        missing = np.zeros_like(drawn.sums.missing)
        missing[0, [0, 1]] = True
        known = known_of_sums(replace(drawn.sums, missing=missing), 1)
        told = CarriedCorrelations.of(known).predicted(0, np.array([[0, 1, 2]]))
        rows = squared_correlation(drawn.sums.products[0], np.array([[0, 1, 2]]))
        gaps["rows"].append(told.in_rows[0] - rows[0])
        gaps["population"].append(told.above_chance[0] - drawn.truth(3)[0, 0])
    for gap in gaps.values():
        assert abs(np.mean(gap)) < 3.5 * np.std(gap) / np.sqrt(len(gap))
    assert np.mean(gaps["rows"]) < 0.03


def test_recorded_sets_above_chance_have_their_adjusted_scores():
    sums = drawn_numbers(hide=0.3).sums
    known = known_of_sums(sums, 1)
    subsets = level(7, 2)
    recorded = subsets[~sums.missing[0, subsets].any(axis=1)]
    told = CarriedCorrelations.of(known).predicted(0, recorded)
    assert told.above_chance == pytest.approx(
        adjusted_correlation(sums.products[0], recorded, 300), abs=1e-12
    )
    assert not told.deviation.any()


def test_scores_above_chance_are_completed_on_their_own_scale():
    sums = drawn_numbers(n_rows=30, hide=0.3).sums
    known = known_of_sums(sums, 2)
    exact = known.exact
    above_chance = replace(known, exact=replace(exact, closed=False, above_chance=True))
    lower = CovarianceCompleter().guess(above_chance, 2).by_size[2]
    higher = CovarianceCompleter().guess(known, 2).by_size[2]
    predicted = np.isnan(exact.by_size[2])
    assert (lower[predicted] < higher[predicted]).all()


def test_a_target_that_never_varies_is_not_explained():
    sums = drawn_numbers(n_rows=30, hide=0.4).sums
    products = sums.products.copy()
    products[1, -1, :] = products[1, :, -1] = 0.0
    known = known_of_sums(replace(sums, products=products), 2)
    assert CovarianceCompleter(confidence=None).complete(known, 2).score[1] == pytest.approx(0.0)


@pytest.mark.slow
def test_intervals_hold_hidden_scores_about_as_often_as_told():
    held = []
    for seed in range(8):
        sums = drawn_numbers(n_features=8, hide=0.3, seed=seed).sums
        complete = known_of_sums(replace(sums, missing=np.zeros_like(sums.missing)), 2)
        known = complete.hidden(sums.missing)
        found = CovarianceCompleter(confidence=0.9).complete(known, 2)
        truth = complete.exact.by_size[2]
        inside = (found.low <= truth) & (truth <= found.high)
        held.append(inside[found.predicted].mean())
    assert 0.82 < np.mean(held) < 0.98
