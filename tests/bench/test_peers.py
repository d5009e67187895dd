from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from misfeat.bench.peers import PEERS, mrmr, select_k_best, sequential


@pytest.fixture(scope="module")
def table():
    """Feature 3 tells most, 1 less, 4 is nearly a copy of 3, and the others tell nothing."""
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=400)
    X = rng.integers(3, size=(400, 6))
    X[:, 3] = np.where(rng.random(400) < 0.7, y, X[:, 3])
    X[:, 4] = np.where(rng.random(400) < 0.95, X[:, 3], X[:, 4])
    X[:, 1] = np.where(rng.random(400) < 0.3, y, X[:, 1])
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("peer", PEERS)
def test_every_peer_finds_the_feature_that_tells_most(table, peer):
    chosen = PEERS[peer](*table, [1, 2, 3], 1)
    assert chosen[1] == (3,)
    assert all(len(set(chosen[size])) == size for size in (1, 2, 3))
    assert set(chosen[1]) < set(chosen[2]) < set(chosen[3])
    assert chosen == PEERS[peer](*table, [1, 2, 3], 1)


def test_redundant_features_are_avoided_by_who_looks_at_them_together(table):
    assert select_k_best(*table, [2])[2] == (3, 4)
    assert mrmr(*table, [2])[2] == (1, 3)
    assert sequential(*table, [2])[2] == (1, 3)


def test_mrmr_takes_the_most_relevant_less_the_mean_redundancy(table):
    X, y = table
    order = []
    for _ in range(3):
        gains = {
            f: mutual_info_score(X[:, f], y)
            - (np.mean([mutual_info_score(X[:, f], X[:, g]) for g in order]) if order else 0)
            for f in range(6)
            if f not in order
        }
        order.append(max(gains, key=gains.get))
    assert mrmr(X, y, [3])[3] == tuple(sorted(order))


@pytest.mark.slow
def test_sequential_selection_of_a_smaller_set_is_that_of_scikit_learn(table):
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
    search = SequentialFeatureSelector(model, n_features_to_select=2, scoring="roc_auc", cv=5)
    wanted = tuple(np.flatnonzero(search.fit(*table).get_support()).tolist())
    assert sequential(*table, [2, 3])[2] == wanted
    assert sequential(*table, [6])[6] == tuple(range(6))


def test_sequential_selection_does_without_folds_where_a_class_is_rare(table):
    X = table[0]
    rare = np.zeros(400, dtype=np.int64)
    rare[0] = 1
    assert sequential(X, rare, [2]) == select_k_best(X, rare, [2])
    assert sequential(X, np.zeros_like(rare), [2]) == select_k_best(X, 0 * rare, [2])
