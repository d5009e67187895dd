"""Peers that choose features for a target: what people use where misfeat could be used.

Each takes coded rows, one column a feature, and returns the features that it chooses for every
size asked for. None of them knows of subgroups: it is given the rows of one, or of all together.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from packaging.version import Version
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import l1_min_c

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
TREES = 300
"""Of the forest whose importances are compared."""
PENALTIES = 1.0 / np.logspace(0, 3, 25)
"""Of the L1 regression, relative to the least that leaves no feature."""
LASSO = {"l1_ratio": 1.0} if Version(sklearn.__version__) >= Version("1.8") else {"penalty": "l1"}


def select_k_best(X: Codes, y: Codes, sizes: Sequence[int], seed: int = 0) -> Chosen:
    """The features with most mutual information, each alone (scikit-learn's `SelectKBest`)."""
    del seed
    score = partial(mutual_info_classif, discrete_features=True)
    found = {size: SelectKBest(score, k=size).fit(X, y).get_support() for size in sizes}
    return {size: _places(support) for size, support in found.items()}


def select_by_f(X: Codes, y: Codes, sizes: Sequence[int], seed: int = 0) -> Chosen:
    """The features with the greatest F of an analysis of variance of their codes."""
    del seed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant columns, which come last
        score = np.nan_to_num(f_classif(X, y)[0], nan=-1.0)
    return _first(np.argsort(-score, kind="stable"), sizes)


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
    return _first(order, sizes)


def jmi(X: Codes, y: Codes, sizes: Sequence[int], seed: int = 0) -> Chosen:
    """Greedily the feature with most joint mutual information in pairs with those chosen before.

    A feature f is scored by the sum of I(f, g; y) over the chosen g; the first one by I(f; y).

    References
    ----------
    H. Yang, J. Moody: Data visualization and feature selection. Advances in Neural Information
    Processing Systems 12, 1999.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(500, 4))
    >>> y = np.where(rng.random(500) < 0.8, X[:, 1], X[:, 1] & X[:, 3])
    >>> jmi(X, y, [1, 2])
    {1: (1,), 2: (1, 3)}
    """
    del seed
    codes = X - X.min(axis=0)
    total = np.array([mutual_info_score(column, y) for column in codes.T])
    order = [int(np.argmax(total))]
    total = np.zeros_like(total)
    while len(order) < max(sizes):
        last = codes[:, order[-1]] * (codes.max() + 1)
        total += [mutual_info_score(last + column, y) for column in codes.T]
        total[order] = -np.inf
        order.append(int(np.argmax(total)))
    return _first(order, sizes)


def l1_regression(X: Codes, y: Codes, sizes: Sequence[int], seed: int = 0) -> Chosen:
    """The features that enter a logistic regression first as its L1 penalty falls.

    One column a value; a feature is in where one of its columns is, and of features that enter
    together the one with the greater coefficients comes first. Without both classes,
    `select_k_best` chooses.
    """
    if len(np.unique(y)) < 2:
        return select_k_best(X, y, sizes, seed)
    encoder = OneHotEncoder()
    columns = encoder.fit_transform(X)
    feature_of = np.repeat(np.arange(X.shape[1]), [len(values) for values in encoder.categories_])
    least = l1_min_c(columns, y, loss="log")
    entered = np.full(X.shape[1], len(PENALTIES))
    weight: NDArray[Any] = np.zeros(X.shape[1])
    for step, penalty in enumerate(PENALTIES):
        model = LogisticRegression(
            C=least / penalty, solver="liblinear", max_iter=STEPS, random_state=seed, **LASSO
        )
        weight = np.bincount(feature_of, np.abs(model.fit(columns, y).coef_[0]))
        entered[(weight > 0) & (entered == len(PENALTIES))] = step
        if (entered < len(PENALTIES)).sum() >= max(sizes):
            break
    return _first(np.lexsort((-weight, entered)), sizes)


def forest_importance(X: Codes, y: Codes, sizes: Sequence[int], seed: int = 0) -> Chosen:
    """The features of greatest mean decrease of impurity in a random forest."""
    forest = RandomForestClassifier(TREES, random_state=seed).fit(X, y)
    return _first(np.argsort(-forest.feature_importances_, kind="stable"), sizes)


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
    return _first(np.lexsort((-importance, -won)), sizes)


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


def _first(order: Sequence[int] | NDArray[np.integer], sizes: Sequence[int]) -> Chosen:
    return {size: tuple(sorted(int(place) for place in order[:size])) for size in sizes}


def _places(support: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(support).tolist())


PEERS: dict[str, Callable[..., Chosen]] = {
    "SelectKBest": select_k_best,
    "SelectKBest (F)": select_by_f,
    "mRMR": mrmr,
    "JMI": jmi,
    "L1 regression": l1_regression,
    "forest importance": forest_importance,
    "Boruta": boruta,
    "sequential": sequential,
}
"""Peers by name."""
