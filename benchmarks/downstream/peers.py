"""Peers that choose features for a target: what people use where misfeat could be used.

Each takes coded rows, one column a feature, and returns the features that it chooses for every
size asked for. None of them knows of subgroups: it is given the rows of one, or of all together.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    SelectKBest,
    SequentialFeatureSelector,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Chosen = dict[int, tuple[int, ...]]

BORUTA_ROUNDS, BORUTA_TREES, BORUTA_DEPTH = 20, 50, 5
"""Rounds of shadows; trees and their depth in every forest."""
FOLDS = 5
"""Of the cross-validation that sequential selection scores candidates by."""
STEPS = 1000
"""A logistic regression may take so many."""


def select_k_best(X: Codes, y: Codes, sizes: Sequence[int], seed: int = 0) -> Chosen:
    """The features with most mutual information, each alone (scikit-learn's `SelectKBest`)."""
    del seed
    score = partial(mutual_info_classif, discrete_features=True)
    found = {size: SelectKBest(score, k=size).fit(X, y).get_support() for size in sizes}
    return {size: _places(support) for size, support in found.items()}


def mrmr(X: Codes, y: Codes, sizes: Sequence[int], seed: int = 0) -> Chosen:
    """Greedily the feature of most relevance, less its mean redundancy with those chosen before.

    Both are mutual information, with the target and with a chosen feature.

    References
    ----------
    H. Peng, F. Long, C. Ding: Feature selection based on mutual information. IEEE Transactions on
    Pattern Analysis and Machine Intelligence 27, 2005.
    """
    del seed
    relevance = np.array([mutual_info_score(column, y) for column in X.T])
    redundancy = np.zeros(X.shape[1])
    order: list[int] = []
    for step in range(max(sizes)):
        gain = relevance - redundancy / max(step, 1)
        gain[order] = -np.inf
        order.append(int(np.argmax(gain)))
        redundancy += [mutual_info_score(column, X[:, order[-1]]) for column in X.T]
    return {size: tuple(sorted(order[:size])) for size in sizes}


def boruta(X: Codes, y: Codes, sizes: Sequence[int], seed: int = 0) -> Chosen:
    """The features that beat the best of all shuffled ones most often in random forests.

    Boruta itself keeps every feature that does so more often than chance; here the first ones are
    taken, by the number of rounds won and, where that is equal, by their mean importance.

    References
    ----------
    M. Kursa, W. Rudnicki: Feature selection with the Boruta package. Journal of Statistical
    Software 36 (11), 2010.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(3, size=(300, 4))
    >>> boruta(X, (X[:, 2] > 0).astype(int), [1])
    {1: (2,)}
    """
    rng = np.random.default_rng(seed)
    n_features = X.shape[1]
    won, importance = np.zeros(n_features), np.zeros(n_features)
    for _ in range(BORUTA_ROUNDS):
        forest = RandomForestClassifier(
            BORUTA_TREES,
            max_depth=BORUTA_DEPTH,
            class_weight="balanced",
            random_state=int(rng.integers(2**31)),
        )
        shadows = rng.permuted(X, axis=0)
        found = forest.fit(np.hstack([X, shadows]), y).feature_importances_
        won += found[:n_features] > found[n_features:].max()
        importance += found[:n_features]
    order = np.lexsort((-importance, -won))
    return {size: tuple(sorted(order[:size].tolist())) for size in sizes}


def sequential(X: Codes, y: Codes, sizes: Sequence[int], seed: int = 0) -> Chosen:
    """One feature after the other by the cross-validated AUC of a logistic regression.

    Scikit-learn's `SequentialFeatureSelector`. Where a class has too few rows to be cut in two,
    `select_k_best` chooses.
    """
    folds = min(FOLDS, int(np.bincount(y)[np.unique(y)].min()))
    if folds < 2 or len(np.unique(y)) < 2:
        return select_k_best(X, y, sizes, seed)
    model = make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=STEPS)
    )
    chosen: Chosen = {}
    among = np.arange(X.shape[1])
    for size in sorted(sizes, reverse=True):  # what smaller sets hold, the larger ones hold, too
        if size < len(among):
            search = SequentialFeatureSelector(
                model, n_features_to_select=size, scoring="roc_auc", cv=folds
            )
            among = among[search.fit(X[:, among], y).get_support()]
        chosen[size] = tuple(among.tolist())
    return chosen


def _places(support: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(support).tolist())


PEERS: dict[str, Callable[..., Chosen]] = {
    "SelectKBest": select_k_best,
    "mRMR": mrmr,
    "Boruta": boruta,
    "sequential": sequential,
}
"""Peers by name."""
