"""What fills the gaps of a table: the values of features that a subgroup never recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts

    Floats = NDArray[np.float64]

ITERATIONS, NEIGHBOURS, MICE_ROUNDS = 3, 5, 10


def filled(cohorts: Cohorts, by: str, seed: int) -> Cohorts:
    """The rows of all subgroups one by one, every gap filled; the target helps to fill them."""
    weights = cohorts.weights
    codes = np.repeat(cohorts.codes, weights, axis=1).astype(np.int64)
    y = np.repeat(cohorts.target_codes, weights).astype(np.int64)
    group = np.repeat(np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets)), weights)
    there = np.where(codes >= 0, codes, np.nan).T
    whole = np.asarray(IMPUTERS[by](there, y, group, seed))
    greatest = np.array([len(names) for names in cohorts.categories]) - 1
    whole = np.clip(np.rint(whole), 0, greatest).astype(cohorts.codes.dtype)
    sizes = np.concatenate([[0], np.cumsum(weights)])[cohorts.offsets]
    return replace(
        cohorts,
        codes=np.ascontiguousarray(whole.T),
        target_codes=np.repeat(cohorts.target_codes, weights),
        weights=np.ones(len(y), dtype=weights.dtype),
        offsets=sizes,
        missing=np.zeros_like(cohorts.missing),
    )


def _miceforest(X: Floats, y: NDArray[Any], group: NDArray[Any], seed: int) -> Floats:
    """Chained boosted trees, every column a category (miceforest)."""
    try:
        import miceforest
    except ImportError as error:
        raise MisfeatError(
            "miceforest is not installed: pip install miceforest==6.0.5 lightgbm==4.5.0."
        ) from error
    # A column with one value has no classes to learn.
    first = np.array([column[~np.isnan(column)][0] for column in X.T])
    varies = (np.where(np.isnan(X), first, X) != first).any(axis=0)
    X = np.where(np.isnan(X) & ~varies, first, X)
    frame = pd.DataFrame(X[:, varies], columns=[f"f{i}" for i in np.flatnonzero(varies)])
    frame = frame.astype("Int64").astype("category")
    frame["target"] = pd.Categorical(y)
    frame["subgroup"] = pd.Categorical(group)
    for strategy in ("normal", "fast"):
        kernel = miceforest.ImputationKernel(
            frame, num_datasets=1, mean_match_strategy=strategy, random_state=seed
        )
        try:
            kernel.mice(ITERATIONS, num_threads=1)
            break
        except ValueError as error:  # matching fails where a class is certain
            if "finite" not in str(error) or strategy == "fast":
                raise
    found: Floats = X.copy()
    found[:, varies] = kernel.complete_data().iloc[:, : varies.sum()].astype(float).to_numpy()
    return found


def _columns(X: Floats, y: NDArray[Any], group: NDArray[Any]) -> Floats:
    """The features, then flags of the target and of the subgroup."""
    flags = [np.equal.outer(one, np.unique(one)).astype(float) for one in (y, group)]
    return np.hstack([X, *flags])


def _knn(X: Floats, y: NDArray[Any], group: NDArray[Any], seed: int) -> Floats:
    """The mean of the five nearest rows (scikit-learn), columns standardised."""
    del seed
    columns = _columns(X, y, group)
    spread = np.nanstd(columns, axis=0)
    spread[spread == 0] = 1
    found = KNNImputer(n_neighbors=NEIGHBOURS).fit_transform(columns / spread) * spread
    return np.asarray(found[:, : X.shape[1]])


def _mice(X: Floats, y: NDArray[Any], group: NDArray[Any], seed: int) -> Floats:
    """Chained Bayesian ridge regressions, values drawn (scikit-learn's `IterativeImputer`)."""
    imputer = IterativeImputer(sample_posterior=True, max_iter=MICE_ROUNDS, random_state=seed)
    return np.asarray(imputer.fit_transform(_columns(X, y, group))[:, : X.shape[1]])


IMPUTERS: dict[str, Callable[[Floats, NDArray[Any], NDArray[Any], int], Floats]] = {
    "miceforest": _miceforest,
    "KNN imputation": _knn,
    "MICE": _mice,
}
"""Imputers by name."""
