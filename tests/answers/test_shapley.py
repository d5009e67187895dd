from __future__ import annotations

from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.answers.features import mean_shares, parts_of, shapley_weights
from misfeat.lattice import level, rank


def levels_of(seed, n_features, size):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=comb(n_features, m)) for m in range(1, size + 1)]


def score(levels, members):
    members = sorted(members)
    return levels[len(members) - 1][rank(np.array([members]))[0]] if members else 0.0


def by_orders(levels, members):
    """Shapley values as they are defined: what a feature adds, over all orders of joining."""
    orders = list(permutations(members))
    values = dict.fromkeys(members, 0.0)
    for order in orders:
        for place, member in enumerate(order):
            added = score(levels, order[: place + 1]) - score(levels, order[:place])
            values[member] += added / len(orders)
    return [values[member] for member in members]


@given(st.integers(0, 999), st.integers(1, 5))
def test_values_are_what_features_add_over_all_orders_and_sum_to_the_score(seed, size):
    n_features = 6
    levels = levels_of(seed, n_features, size)
    members = sorted(np.random.default_rng(seed).permutation(n_features)[:size].tolist())
    scores = np.array([score(levels, part) for part in parts_of(members)])
    values = shapley_weights(members) @ scores
    assert values == pytest.approx(by_orders(levels, members), abs=1e-12)
    assert abs(values.sum() - score(levels, members)) < 1e-9


@given(st.integers(0, 999), st.integers(1, 5), st.integers(0, 3))
def test_mean_shares_are_means_over_all_sets_that_hold_a_feature(seed, n_features, less):
    size = max(1, n_features - less)
    levels = levels_of(seed, n_features, size)
    found = mean_shares(levels, [level(n_features, m) for m in range(1, size + 1)])
    values = [[] for _ in range(n_features)]
    for members in level(n_features, size).tolist():
        scores = [score(levels, part) for part in parts_of(members)]
        for member, value in zip(members, shapley_weights(members) @ scores, strict=True):
            values[member].append(value)
    np.testing.assert_allclose(found, [np.mean(one) for one in values], atol=1e-12)
