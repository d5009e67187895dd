"""What others choose features with, on the same rows.

Each takes an `Encoder` and the rows it was learnt from, and puts features in order, first ones
first, so that a set of any size is the first of them. Settings are those that the documentation or
the paper of a method advises; what was cut for time is said in `CUT`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif, mutual_info_classif
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LassoCV, LogisticRegression, lars_path
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.downstream.peers import LASSO, jmi, mrmr
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from benchmarks.field.encoding import Encoder
    from benchmarks.field.tables import Table

    Floats = NDArray[np.float64]
    Order = list[int]

LONGEST = 10
"""So many features are put in order."""
BORUTA_ROUNDS, FORESTS_DEPTH = 20, 5
TREES, REPEATS = 200, 5
FOLDS = 5
MOST_CANDIDATES, OF_SEVERAL_CLASSES = 40, 20
NEIGHBOURS, MOST_INSTANCES = 10, 1000
HALVES = 50
PENALTIES = 1.0 / np.logspace(0, 3, 25)
PENALTIES_TRIED = np.logspace(-2, 1, 4)
STEPS = 200
TINY = 1e-15
CUT = (
    f"Boruta has {BORUTA_ROUNDS} rounds rather than 100; sequential selection and elimination with "
    f"cross-validation begin with the {MOST_CANDIDATES} features of greatest F where a table has "
    f"more, with {OF_SEVERAL_CLASSES} where it has more than two classes; ReliefF looks at "
    f"{MOST_INSTANCES:,} instances of larger tables, among all others"
)
NOT_RUN = {
    "BorutaShap": "1.0.17 calls functions that SciPy and NumPy have removed (binom_test, NaN)",
    "arfs": "3.0.0 needs a LightGBM that miceforest does not run with, and shap",
}
"""Peers that were wanted and not run, with the reason."""


def _by(score: NDArray[Any]) -> Order:
    return [int(f) for f in np.argsort(-np.nan_to_num(score, nan=-np.inf), kind="stable")]


def by_mutual_information(encoder: Encoder, rows: Table, seed: int) -> Order:
    """Order by `SelectKBest(mutual_info_classif)`: numbers by neighbours, categories by cells."""
    discrete = ~encoder.numeric
    return _by(
        mutual_info_classif(rows.values, rows.y, discrete_features=discrete, random_state=seed)
    )


def by_f(encoder: Encoder, rows: Table, seed: int) -> Order:
    """Order by `SelectKBest(f_classif)`; of a category the greatest F of its flags."""
    del seed
    X, of = encoder.design(rows, range(len(rows.names)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant columns, which come last
        score = np.nan_to_num(f_classif(X, rows.y)[0], nan=-1.0)
    greatest = np.full(len(rows.names), -1.0)
    np.maximum.at(greatest, of, score)
    return _by(greatest)


def _greedily(choose: Callable[..., dict[int, tuple[int, ...]]]) -> Callable[..., Order]:
    """The order of a greedy choice from bins, read off the sets of every size."""

    def order(encoder: Encoder, rows: Table, seed: int) -> Order:
        sizes = range(1, min(LONGEST, len(rows.names)) + 1)
        found = choose(encoder.binned(rows), rows.y, list(sizes), seed)
        return [next(iter(set(found[m]) - set(found.get(m - 1, ())))) for m in sizes]

    return order


def relief(encoder: Encoder, rows: Table, seed: int) -> Order:
    """Order by ReliefF with ten nearest hits and misses.

    References
    ----------
    M. Robnik-Šikonja, I. Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF.
    Machine Learning 53, 2003.
    """
    X = rows.values.astype(np.float32)
    span = np.ptp(X, axis=0)
    X = np.where(encoder.numeric, X / np.where(span > 0, span, 1), X).astype(np.float32)
    rng = np.random.default_rng(seed)
    looked_at = rng.permutation(len(X))[:MOST_INSTANCES]
    frequency = np.bincount(rows.y) / len(X)
    weight = np.zeros(X.shape[1])
    members = [np.flatnonzero(rows.y == c) for c in range(len(frequency))]
    for i in looked_at:
        apart = np.where(encoder.numeric, np.abs(X - X[i]), X[i] != X)
        distance = apart.sum(axis=1)
        distance[i] = np.inf
        own = rows.y[i]
        for c, rows_of in enumerate(members):
            if len(rows_of) <= (c == own):
                continue
            k = min(NEIGHBOURS, len(rows_of) - (c == own))
            near = rows_of[np.argpartition(distance[rows_of], k - 1)[:k]]
            share = -1.0 if c == own else frequency[c] / (1 - frequency[own])
            weight += share * apart[near].mean(axis=0)
    return _by(weight)


def l1(encoder: Encoder, rows: Table, seed: int) -> Order:
    """Order in which features enter a logistic regression as its L1 penalty falls.

    Of several classes, each against the others; classes weigh the same, so that no intercept is
    needed, which liblinear would penalise, too.
    """
    columns, of = encoder.design(rows, range(len(rows.names)))
    n_features = len(rows.names)
    entered = np.full(n_features, len(PENALTIES))
    weight = np.zeros(n_features)
    for y in _against_others(rows.y):
        weights = len(y) / (2 * np.bincount(y))[y]
        X = columns - np.average(columns, axis=0, weights=weights)
        least = 1 / np.abs(X.T @ (weights * (y - 0.5))).max()  # above it a coefficient is not 0
        for step, penalty in enumerate(PENALTIES):
            model = LogisticRegression(
                C=least / penalty,
                solver="liblinear",
                fit_intercept=False,
                class_weight="balanced",
                max_iter=STEPS,
                random_state=seed,
                **LASSO,
            )
            found = np.bincount(of, np.abs(model.fit(X, y).coef_[0]), minlength=n_features)
            entered = np.where(found > 0, np.minimum(entered, step), entered)
            weight = np.maximum(weight, found)
            if (entered < step).sum() >= min(LONGEST, n_features):
                break
    return [int(f) for f in np.lexsort((-weight, entered))]


def _against_others(y: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    classes = np.unique(y)
    return [(y == c).astype(np.int64) for c in (classes[1:] if len(classes) == 2 else classes)]


def _candidates(encoder: Encoder, rows: Table, seed: int) -> list[int]:
    most = MOST_CANDIDATES if len(np.unique(rows.y)) < 3 else OF_SEVERAL_CLASSES
    return sorted(by_f(encoder, rows, seed)[:most])


def _folds(y: NDArray[np.int64], seed: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    least = int(np.bincount(y)[np.unique(y)].min())
    folds = StratifiedKFold(max(2, min(FOLDS, least)), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a class of one row
        return list(folds.split(y, y))


def _regression(strength: float = 1.0) -> LogisticRegression:
    return LogisticRegression(C=strength, max_iter=STEPS)


def _lost(
    X: Floats,
    y: NDArray[np.int64],
    folds: list[tuple[NDArray[Any], NDArray[Any]]],
    strength: float = 1.0,
) -> float:
    """Cross-validated log loss of a logistic regression."""
    losses = []
    for fit, test in folds:
        model = _regression(strength).fit(X[fit], y[fit])
        known = np.isin(y[test], model.classes_)
        found = model.predict_proba(X[test][known])
        own = found[np.arange(len(found)), np.searchsorted(model.classes_, y[test][known])]
        losses.append(-np.log(np.maximum(own, TINY)).mean())
    return float(np.mean(losses))


def eliminated(encoder: Encoder, rows: Table, seed: int) -> Order:
    """Recursive elimination by a logistic regression whose penalty cross-validation chooses.

    What is left last comes first. The feature of least weight goes, its largest flag counting.
    """
    left = _candidates(encoder, rows, seed)
    X, of = encoder.design(rows, left)
    folds = _folds(rows.y, seed)
    best = min(PENALTIES_TRIED, key=lambda c: _lost(X, rows.y, folds, c))
    gone: list[int] = []
    while len(left) > 1:
        model = _regression(best).fit(X, rows.y)
        weight = np.abs(model.coef_).max(axis=0)
        least = min(left, key=lambda f: weight[of == f].max(initial=0.0))
        gone.append(least)
        left.remove(least)
        X, of = X[:, of != least], of[of != least]
    return [*left, *reversed(gone)]


def sequential(encoder: Encoder, rows: Table, seed: int) -> Order:
    """Forward selection by the cross-validated log loss of a logistic regression."""
    candidates = _candidates(encoder, rows, seed)
    X, of = encoder.design(rows, candidates)
    folds = _folds(rows.y, seed)
    order: Order = []
    while len(order) < min(LONGEST, len(candidates)):
        offered = [f for f in candidates if f not in order]
        losses = [_lost(X[:, np.isin(of, [*order, f])], rows.y, folds) for f in offered]
        order.append(offered[int(np.argmin(losses))])
    return order


def boruta(encoder: Encoder, rows: Table, seed: int) -> Order:
    """BorutaPy: confirmed features, then tentative ones, then by its ranking; ties by a forest."""
    del encoder
    try:
        from boruta import BorutaPy
    except ImportError as error:
        raise MisfeatError("Boruta is not installed: pip install Boruta==0.4.3.") from error

    forest = RandomForestClassifier(
        max_depth=FORESTS_DEPTH, class_weight="balanced", n_jobs=1, random_state=seed
    )
    found = BorutaPy(forest, n_estimators="auto", max_iter=BORUTA_ROUNDS, random_state=seed).fit(
        rows.values, rows.y
    )
    forest.set_params(n_estimators=TREES, random_state=seed)
    importance = forest.fit(rows.values, rows.y).feature_importances_
    return [int(f) for f in np.lexsort((-importance, found.ranking_))]


def permuted(encoder: Encoder, rows: Table, seed: int) -> Order:
    """Order by what permuting a feature costs a random forest, on a third of the rows left out."""
    del encoder
    counts = np.bincount(rows.y)
    fit, test = train_test_split(
        np.arange(len(rows.y)),
        test_size=1 / 3,
        random_state=seed,
        stratify=rows.y if counts[counts > 0].min() > 1 else None,
    )
    forest = RandomForestClassifier(TREES, random_state=seed).fit(rows.values[fit], rows.y[fit])
    found = permutation_importance(
        forest, rows.values[test], rows.y[test], n_repeats=REPEATS, random_state=seed
    )
    return _by(found.importances_mean)


def stability(encoder: Encoder, rows: Table, seed: int) -> Order:
    """Order by how often a feature is among the first to enter a lasso, over half of the rows.

    References
    ----------
    N. Meinshausen, P. Bühlmann: Stability selection. Journal of the Royal Statistical Society B 72,
    2010.
    """
    X, of = encoder.design(rows, range(len(rows.names)))
    rng = np.random.default_rng(seed)
    chosen = np.zeros(len(rows.names))
    first = min(LONGEST, len(rows.names))
    for _ in range(HALVES):
        half = rng.permutation(len(X))[: len(X) // 2]
        for y in _against_others(rows.y):
            own = X[half] - X[half].mean(axis=0)
            active = lars_path(own, y[half] - y[half].mean(), method="lasso", max_iter=2 * first)[1]
            order = list(dict.fromkeys(of[active].tolist()))[:first]
            chosen[order] += 1 + 1e-3 * (first - np.arange(len(order)))  # the first break ties
    return _by(chosen)


def knockoffs(encoder: Encoder, rows: Table, seed: int) -> Order:
    """Order by how much more a lasso weighs a feature than its Gaussian model-X knockoff.

    Second-order knockoffs of the columns, equally correlated; the weight of a feature is the sum
    over its columns and classes of what they are given beyond their knockoffs.

    References
    ----------
    E. Candès, Y. Fan, L. Janson, J. Lv: Panning for gold: model-X knockoffs for high dimensional
    controlled variable selection. Journal of the Royal Statistical Society B 80, 2018.
    """
    X, of = encoder.design(rows, range(len(rows.names)))
    kept = X.std(axis=0) > 0
    X, of = X[:, kept], of[kept]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    both = np.hstack([X, _knockoff(X, np.random.default_rng(seed))])
    gain = np.zeros(len(rows.names))
    for y in _against_others(rows.y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of steps that do not settle at weak penalties
            found = np.abs(LassoCV(alphas=30, cv=FOLDS, random_state=seed).fit(both, y).coef_)
        gain += np.bincount(of, found[: len(of)] - found[len(of) :], minlength=len(gain))
    return _by(gain)


def _knockoff(X: Floats, rng: np.random.Generator) -> Floats:
    p = X.shape[1]
    # A little towards independence, so that flags of one feature do not make it singular.
    covariance = 0.95 * (X.T @ X / len(X)) + 0.05 * np.eye(p)
    s = min(1.0, 2 * np.linalg.eigvalsh(covariance)[0]) * 0.999
    inverse = np.linalg.inv(covariance)
    mean = X - s * X @ inverse
    spread = 2 * s * np.eye(p) - s**2 * inverse
    root = np.linalg.cholesky(spread + 1e-9 * np.eye(p))
    drawn: Floats = mean + rng.standard_normal(X.shape) @ root.T
    return drawn


PEERS: dict[str, Callable[[Encoder, Table, int], Order]] = {
    "SelectKBest (MI)": by_mutual_information,
    "SelectKBest (F)": by_f,
    "mRMR": _greedily(mrmr),
    "JMI": _greedily(jmi),
    "ReliefF": relief,
    "L1 regression": l1,
    "RFE, CV": eliminated,
    "sequential": sequential,
    "Boruta": boruta,
    "stability selection": stability,
    "knockoffs": knockoffs,
    "permutation importance": permuted,
}
"""Peers by name."""
