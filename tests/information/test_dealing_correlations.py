from __future__ import annotations

import numpy as np
import pytest

from misfeat.information.correlation import squared_correlation
from misfeat.information.dealing_correlations import CorrelationDeals
from misfeat.runtime.threads import Work

SEED = np.random.SeedSequence(3)


def columns(n_rows=400, seed=0):
    """Three features, the second partly a copy of the first, and a target of the first."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((3, n_rows))
    x[1] += x[0]
    y = 0.3 * x[0] + rng.standard_normal(n_rows)
    table = np.vstack([x, y])
    return table - table.mean(axis=1, keepdims=True)


def permuted_scores(table, subsets, n_deals, residual_of=()):
    """R² of permutations of the target, or beyond held features of what these leave of it."""
    rng = np.random.default_rng(1)
    held = table[list(residual_of)].T
    fitted = held @ np.linalg.lstsq(held, table[-1], rcond=None)[0] if len(residual_of) else 0.0
    found = []
    for _ in range(n_deals):
        y = fitted + rng.permutation(table[-1] - fitted)
        dealt = np.vstack([table[:-1], y - y.mean()])
        products = dealt @ dealt.T
        below = squared_correlation(products, np.array([residual_of])) if residual_of else 0.0
        found.append(squared_correlation(products, subsets) - below)
    return np.array(found)


def test_the_first_deal_is_the_target_as_it_was_recorded():
    table = columns()
    products = table @ table.T
    deals = CorrelationDeals(products, 400, np.arange(3), 2, seed=SEED)
    expected = [squared_correlation(products, subsets) for subsets in deals.subsets]
    assert np.allclose(deals.scores(0, 1, Work())[0], np.concatenate(expected))


def test_drawn_deals_vary_as_permuted_ones():
    table = columns()
    deals = CorrelationDeals(table @ table.T, 400, np.arange(3), 2, seed=SEED)
    drawn = deals.scores(1, 1501, Work(2))
    for place, subsets in enumerate(deals.subsets):
        permuted = permuted_scores(table, subsets, 1500)
        own = drawn[:, :3] if place == 0 else drawn[:, 3:]
        for q in (0.5, 0.95):
            assert np.quantile(own, q, axis=0) == pytest.approx(
                np.quantile(permuted, q, axis=0), rel=0.2
            )


def test_what_held_features_explain_stays():
    table = columns()
    products = table @ table.T
    deals = CorrelationDeals(products, 400, np.arange(3), 1, held=(0,), seed=SEED)
    assert [subsets.tolist() for subsets in deals.subsets] == [[[0, 1], [0, 2]]]
    drawn = deals.scores(1, 1501, Work())
    permuted = permuted_scores(table, deals.subsets[0], 1500, residual_of=(0,))
    assert (drawn > -1e-9).all()
    assert np.quantile(drawn, 0.95, axis=0) == pytest.approx(
        np.quantile(permuted, 0.95, axis=0), rel=0.25
    )


def test_the_same_number_is_the_same_deal():
    table = columns()
    deals = CorrelationDeals(table @ table.T, 400, np.arange(3), 2, seed=SEED)
    assert (deals.scores(0, 20, Work(2))[7:9] == deals.scores(7, 9, Work(1))).all()
