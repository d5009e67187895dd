from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat import SubgroupSelector
from misfeat.cohorts.product_sums import ProductSums
from misfeat.completion import AutoCompleter, InteractionsCompleter
from misfeat.datasets import load_heart
from misfeat.estimation.score_estimate import Estimate
from misfeat.lattice.levels import level, ranks_below
from tests.completion.coded import known_of_sums
from tests.reading.holders import as_rows


def common_covariance(n_features, rng, n_factors=3, explained=0.5):
    """Features that share factors, and a target that some of them explain in part."""
    loads = rng.normal(size=(n_features, n_factors)) * rng.uniform(0.2, 1.0, size=(n_features, 1))
    among = loads @ loads.T + np.diag(rng.uniform(0.3, 1.0, size=n_features))
    slope = rng.normal(size=n_features) * (rng.random(n_features) < 0.6)
    slope[rng.integers(n_features)] += 1.0
    slope *= np.sqrt(explained / (slope @ among @ slope))
    across = among @ slope
    return np.block([[among, across[:, None]], [across[None, :], np.ones((1, 1))]])


def drawn_numbers(
    n_cohorts=5, n_rows=300, n_features=7, hide=0.3, similarity=100, seed=0, **settings
):
    """Cohorts whose covariances are those of so many common rows as `similarity` says."""
    rng = np.random.default_rng(seed)
    common = common_covariance(n_features, rng, **settings)
    nowhere = np.zeros(n_features + 1)
    products = []
    for _ in range(n_cohorts):
        basis = rng.multivariate_normal(nowhere, common, size=similarity)
        rows = rng.multivariate_normal(nowhere, basis.T @ basis / similarity, size=n_rows)
        rows -= rows.mean(axis=0)
        products.append(rows.T @ rows)
    missing = rng.random((n_cohorts, n_features)) < hide
    missing[:, missing.all(axis=0)] = False
    return ProductSums(
        names=tuple(f"cohort {i}" for i in range(n_cohorts)),
        features=tuple(f"x{f}" for f in range(n_features)),
        target="y",
        rows=np.full(n_cohorts, n_rows, dtype=np.int64),
        products=np.array(products),
        missing=missing,
    )


def completed(known, size, confidence=0.9):
    return Estimate("sample", AutoCompleter(), confidence).complete(known, size)


def hidden_from(sums, size):
    """What is known of cohorts that lack features, and the scores that nothing lacks."""
    complete = known_of_sums(replace(sums, missing=np.zeros_like(sums.missing)), size)
    return complete.hidden(sums.missing), complete.exact.by_size[size]


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
        assert worth["gain"] < 0.01 * worth["before"]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(3, 60), st.booleans())
def test_scores_lie_within_their_bounds_and_never_fall_when_a_set_grows(seed, n, n_rows, many):
    known = known_of_sums(drawn_numbers(n, n_rows, 5, 0.7 if many else 0.3, 30, seed), 4)
    smaller = None
    for size in range(1, 5):
        found = completed(known, size)
        assert (found.low >= 0).all()
        assert (found.high <= 1).all()
        assert ((found.low <= found.score) & (found.score <= found.high)).all()
        exact = known.exact.by_size[size]
        recorded = ~np.isnan(exact)
        assert np.array_equal(found.predicted, ~recorded)
        for values in (found.score, found.low, found.high):
            assert np.array_equal(values[recorded], exact[recorded])
        if smaller is not None:
            parts = smaller[:, ranks_below(level(5, size))]
            assert (parts <= found.score[:, :, None] + 1e-7).all()
        smaller = found.score


def test_nothing_is_read_of_features_that_are_hidden_for_a_while():
    sums = drawn_numbers(hide=0.0)
    mask = np.random.default_rng(1).random(sums.missing.shape) < 0.3
    has = np.column_stack([~mask, np.ones(len(mask), dtype=bool)])
    known_pairs = has[:, :, None] & has[:, None, :] | np.eye(has.shape[1], dtype=bool)
    garbage = np.where(known_pairs, sums.products, 1e6)
    clean = known_of_sums(sums, 3).hidden(mask)
    poisoned = replace(clean, sums=replace(sums, products=garbage))
    one, other = completed(clean, 3), completed(poisoned, 3)
    for name in ("score", "low", "high"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_sets_that_were_recorded_but_not_computed_are_known_exactly():
    known = known_of_sums(drawn_numbers(hide=0.3), 2)
    left_out = known.exact.by_size[2].copy()
    left_out[:, ::3] = np.nan
    by_size = (*known.exact.by_size[:2], left_out)
    sampled = replace(known, exact=replace(known.exact, by_size=by_size))
    found = completed(sampled, 2, confidence=None).score
    computed = ~np.isnan(known.exact.by_size[2])
    assert found[computed] == pytest.approx(known.exact.by_size[2][computed], abs=1e-12)


@pytest.mark.parametrize("similarity", [30, 100, 1000])
def test_predictions_are_nearer_the_truth_than_those_from_scores(similarity):
    errors = []
    for seed in range(10):
        sums = drawn_numbers(hide=0.35, similarity=similarity, n_features=8, seed=seed)
        known, truth = hidden_from(sums, 3)
        predicted = np.isnan(known.exact.by_size[3])
        found = completed(known, 3), InteractionsCompleter(confidence=None).complete(known, 3)
        errors.append([((one.score - truth)[predicted] ** 2).mean() for one in found])
    of_covariances, of_scores = np.sqrt(np.mean(errors, axis=0))
    assert of_covariances < 0.92 * of_scores


def test_redundant_features_are_not_added_up():
    errors = []
    for seed in range(6):
        sums = drawn_numbers(4, 300, 6, 0.3, 200, seed, n_factors=1, explained=0.8)
        known, truth = hidden_from(sums, 3)
        predicted = np.isnan(known.exact.by_size[3])
        errors.append((completed(known, 3).score - truth)[predicted].mean())
    assert abs(np.mean(errors)) < 0.03


@pytest.mark.slow
def test_chance_is_part_of_predictions():
    gaps = []
    for seed in range(60):
        sums = drawn_numbers(4, 40, 4, 0.0, 100_000, seed)
        missing = np.zeros_like(sums.missing)
        missing[0, [0, 1]] = True
        known, truth = hidden_from(replace(sums, missing=missing), 3)
        gaps.append((completed(known, 3).score - truth)[0, 0])
    assert abs(np.mean(gaps)) < 3.5 * np.std(gaps) / np.sqrt(len(gaps))


def test_a_target_that_never_varies_is_not_explained():
    sums = drawn_numbers(n_rows=30, hide=0.4)
    products = sums.products.copy()
    products[1, -1, :] = products[1, :, -1] = 0.0
    known = known_of_sums(replace(sums, products=products), 2)
    assert completed(known, 2).score[1] == pytest.approx(0.0)


@pytest.mark.slow
def test_intervals_hold_hidden_scores_about_as_often_as_told():
    held = []
    for seed in range(8):
        known, truth = hidden_from(drawn_numbers(n_features=8, hide=0.3, seed=seed), 2)
        found = completed(known, 2)
        inside = (found.low <= truth) & (truth <= found.high)
        held.append(inside[found.predicted].mean())
    assert 0.82 < np.mean(held) < 0.98
