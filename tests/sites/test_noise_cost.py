"""What noise costs, found by trying it out."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from misfeat.information.count_tables import table_starts
from misfeat.information.tabled import TableInformation, scores_of_tables
from misfeat.lattice import level
from misfeat.sites.denoising import Denoised, denoised, denoised_tables
from misfeat.sites.joining import joined_tables
from misfeat.sites.noise import noisy_summary
from misfeat.sites.noise_cost import Told, noise_cost, told_by_all, told_by_singles
from tests.sites.simulating import simulated

CARDS = np.array([2, 2, 2], dtype=np.int64)


def cost_of(found, by_class, cards, seed=1):
    """What noise cost a site that is alone."""
    told = told_by_singles(found, by_class, cards, seed)
    return noise_cost(found, by_class, cards, told, seed=seed)


@pytest.fixture(scope="module")
def costs(summaries):
    """Of one site with much noise and with little."""
    found = []
    for epsilon in (2.0, 50.0):
        told = noisy_summary(summaries[0], epsilon, draw=simulated(1))
        rows = told.by_class.astype(np.float64)
        found.append((rows.sum(), cost_of(denoised_tables(told), rows, told.cards)))
    return found


def test_little_noise_costs_little_and_much_noise_most_rows(costs):
    (rows, much), (_, little) = costs
    assert (little.worth > 2 * much.worth).all()
    assert (much.worth < 0.5 * rows).all()
    assert np.isfinite(much.bias).all()


def test_sets_of_three_are_worth_what_they_vary_by_not_what_single_features_do(costs):
    much = costs[0][1]
    assert len(set(much.worth.tolist())) == 3


@pytest.mark.parametrize("strength", [0.0, 0.3])
def test_scores_are_rid_of_what_noise_makes_features_seem_to_tell(strength):
    """Whether they tell something or nothing; what is left is little of what noise added."""
    raw, mended, true = np.mean([single_scores(strength, seed) for seed in range(16)], axis=0)
    assert raw - true > 0.03
    assert abs(mended - true) < 0.24 * (raw - true)


def single_scores(strength, seed):
    """Mean scores above chance of single features, before and after, and the true one.

    Of a site with 300 rows, whose counts have noise.
    """
    rng = np.random.default_rng(seed)
    n_values, n_features, scales = 6, 8, (8.0, 12.0, 20.0)
    cards = np.full(n_features, n_values)
    tilted = np.linspace(1.0 + strength, 1.0 - strength, n_values)
    likely = np.stack([tilted, tilted[::-1]], axis=1) / (2.0 * n_values)
    target = rng.integers(2, size=300)
    shares = 2.0 * likely[:, target].cumsum(axis=0)
    values = [(rng.random(300) > shares).sum(axis=0) for _ in range(n_features)]
    exact = [np.bincount(target, minlength=2)[None]]
    for chosen in (level(n_features, 1), level(n_features, 2)):
        cells = [np.ravel_multi_index([values[f] for f in s], cards[s]) for s in chosen]
        lines = n_values ** chosen.shape[1]
        exact.append(
            np.concatenate(
                [np.bincount(2 * c + target, minlength=2 * lines).reshape(-1, 2) for c in cells]
            )
        )
    told = [
        held + np.rint(rng.normal(0, scale, held.shape)).astype(int)
        for held, scale in zip(exact, scales, strict=True)
    ]
    by_class = exact[0][0].astype(float)
    found = denoised(told, exact[0][0], cards, scales)
    cost = cost_of(found, by_class, cards, seed)
    seen = scores_of_tables(found.tables[0], by_class, table_starts(level(n_features, 1), cards))
    mended = seen.above_chance - cost.bias[0, 0] * seen.chance
    true = (likely * np.log(likely / likely.sum(axis=1, keepdims=True) * 2.0)).sum()
    return seen.above_chance.mean(), mended.mean(), true


def test_a_site_of_which_noise_leaves_one_value_of_every_feature_tells_nothing():
    by_class = np.array([40.0, 30.0])
    tables = []
    for size in (1, 2, 3):
        one = np.zeros((2**size, 2))
        one[0] = by_class
        tables.append(np.tile(one, (3 if size < 3 else 1, 1)))
    own = {
        members: np.zeros((2,) * size + (2,))
        for size in (1, 2, 3)
        for members in combinations(range(3), size)
    }
    trust = (np.inf, 0.0, 0.0)
    alone = Denoised(tables, own, trust, trust, (1.0, 400.0, 400.0, 400.0))
    found = cost_of(alone, by_class, CARDS)
    assert np.isfinite(found.bias).all()
    assert (found.worth >= 1).all()
    assert (found.worth < 10).all()


@pytest.mark.parametrize("shares", [[0.25] * 4, [0.85, 0.08, 0.05, 0.02], [0.85, 0.1, 0.05, 0.0]])
def test_next_to_no_noise_costs_next_to_no_rows_however_rare_values_are(shares):
    by_class, cards = np.array([2000.0, 2000.0]), np.full(4, 4)
    told = [by_class[None].astype(np.int64)]
    for size in (1, 2, 3):
        cell = np.array(shares)
        for _ in range(size - 1):
            cell = np.multiply.outer(cell, shares)
        table = np.rint(cell.reshape(-1, 1) * by_class).astype(np.int64)
        told.append(np.tile(table, (len(level(4, size)), 1)))
    found = denoised(told, told[0][0], cards, (0.01,) * 4)
    cost = cost_of(found, by_class, cards)
    assert cost.worth[0] > 0.6 * by_class.sum()
    assert abs(cost.bias[0, 0]) < 0.3


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_much_noise_does_not_make_scores_out_of_nothing(summaries, epsilon):
    """What is taken off or added by what chance gives stays below what there is to tell."""
    for seed in range(3):
        told = [noisy_summary(one, epsilon, draw=simulated(seed)) for one in summaries[:2]]
        tables, _ = joined_tables(told, told[0].codebook)
        measure = TableInformation(tables, above_chance=True)
        for cohort, whole in enumerate(measure.ceiling):
            for scores in measure.of_levels(cohort, 1, 3, None):
                assert (scores[~np.isnan(scores)] <= whole).all()


def test_the_name_of_a_site_does_not_change_what_noise_cost_it(summaries):
    told = [noisy_summary(one, 4.0, draw=simulated(1)) for one in summaries[:2]]
    renamed = [replace(told[0], site="elsewhere"), told[1]]
    one, other = (joined_tables(sites, told[0].codebook)[0] for sites in (told, renamed))
    assert np.array_equal(one.effective, other.effective)
    assert np.array_equal(one.bias, other.bias)


def test_sites_that_tell_little_are_not_taken_to_tell_too_much_together():
    rng = np.random.default_rng(2)
    alone = [Told(seen, 0.02, 0.05) for seen in rng.normal(0.005, 0.02, 8)]
    together = told_by_all(alone)
    assert {one.seems for one in together} == {0.05}
    assert np.std([one.mean for one in together]) < 0.5 * np.std([one.mean for one in alone])
    assert all(one.deviation < 0.02 for one in together)
    assert told_by_all(alone[:1]) == alone[:1]
    apart = [Told(0.0, 1e-4, 0.1), Told(0.1, 1e-4, 0.1), Told(0.05, 1e-4, 0.1)]
    for one, other in zip(apart, told_by_all(apart), strict=True):
        assert other.mean == pytest.approx(one.mean, abs=1e-5)
    silent = Told(-1e-9, 1e-9, 1e-9)
    assert told_by_all([*apart, silent]) == [*told_by_all(apart), silent]
