"""What noise costs, found by trying it out."""

from __future__ import annotations

import numpy as np
import pytest

from misfeat.sites.denoising import Denoised, denoised_tables
from misfeat.sites.noise import noisy_summary
from misfeat.sites.noise_cost import noise_cost
from tests.sites.test_noise import simulated

CARDS = np.array([2, 2, 2], dtype=np.int64)


@pytest.fixture(scope="module")
def costs(summaries):
    """Of one site with much noise and with little."""
    found = []
    for epsilon in (2.0, 50.0):
        told = noisy_summary(summaries[0], epsilon, draw=simulated(1))
        rows = told.by_class.astype(np.float64)
        found.append((rows.sum(), noise_cost(denoised_tables(told), rows, told.cards, 1)))
    return found


def test_little_noise_costs_little_and_much_noise_most_rows(costs):
    (rows, much), (_, little) = costs
    assert (little.worth > 2 * much.worth).all()
    assert (much.worth < 0.5 * rows).all()
    assert np.isfinite(much.bias).all()


def test_sets_of_three_are_worth_what_they_vary_by_not_what_single_features_do(costs):
    much = costs[0][1]
    assert len(set(much.worth.tolist())) == 3


def test_a_site_of_which_noise_leaves_one_value_of_every_feature_tells_nothing():
    by_class = np.array([40.0, 30.0])
    tables = []
    for size in (1, 2, 3):
        one = np.zeros((2**size, 2))
        one[0] = by_class
        tables.append(np.tile(one, (3 if size < 3 else 1, 1)))
    alone = Denoised(tables, tables, (np.inf, 0.0, 0.0), (1.0, 400.0, 400.0, 400.0))
    found = noise_cost(alone, by_class, CARDS, 1)
    assert np.isfinite(found.bias).all()
    assert (found.worth >= 1).all()
    assert (found.worth < 10).all()
