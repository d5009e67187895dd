"""Peers as they come, each choosing `SIZE` features from the rows of one subgroup.

All take a data frame of coded features (small integers) that the subgroup recorded, and its target,
and are left at the settings that their documentation begins with.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import miceforest
import mrmr
import numpy as np
import pandas as pd
from boruta import BorutaPy
from feature_engine.selection import MRMR
from mlxtend.feature_selection import SequentialFeatureSelector as Sequential
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, SequentialFeatureSelector, mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklego.feature_selection import MaximumRelevanceMinimumRedundancy

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 3


def logistic() -> object:
    """The model that sequential selections try features with."""
    encoder = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(encoder, LogisticRegression(max_iter=1000))


def select_k_best(X: pd.DataFrame, y: np.ndarray) -> list[str]:
    def score(values: np.ndarray, target: np.ndarray) -> np.ndarray:
        return mutual_info_classif(values, target, discrete_features=True)

    return list(X.columns[SelectKBest(score, k=SIZE).fit(X, y).get_support()])


def sequential(X: pd.DataFrame, y: np.ndarray) -> list[str]:
    chosen = SequentialFeatureSelector(logistic(), n_features_to_select=SIZE, scoring="roc_auc")
    return list(X.columns[chosen.fit(X, y).get_support()])


def mlxtend_floating(X: pd.DataFrame, y: np.ndarray) -> list[str]:
    chosen = Sequential(logistic(), k_features=SIZE, floating=True, scoring="roc_auc")
    return list(chosen.fit(X, y).k_feature_names_)


def mrmr_selection(X: pd.DataFrame, y: np.ndarray) -> list[str]:
    return list(mrmr.mrmr_classif(X, pd.Series(y), K=SIZE, n_jobs=1, show_progress=False))


def feature_engine_mrmr(X: pd.DataFrame, y: np.ndarray) -> list[str]:
    chosen = MRMR(method="MIQ", max_features=SIZE, discrete_features=True, random_state=0)
    return list(chosen.fit(X, pd.Series(y)).get_feature_names_out())


def scikit_lego_mrmr(X: pd.DataFrame, y: np.ndarray) -> list[str]:
    chosen = MaximumRelevanceMinimumRedundancy(k=SIZE, kind="classification")
    return list(X.columns[chosen.fit(X.to_numpy(float), y).selected_features_])


def boruta(X: pd.DataFrame, y: np.ndarray) -> list[str]:
    """Boruta confirms features and does not rank them: of the confirmed, the forest's best."""
    forest = RandomForestClassifier(n_estimators=50, max_depth=5, random_state=0)
    found = BorutaPy(forest, n_estimators=50, max_iter=20, random_state=0).fit(X.to_numpy(), y)
    weights = forest.fit(X, y).feature_importances_
    order = sorted(range(X.shape[1]), key=lambda n: (found.ranking_[n], -weights[n]))
    return [X.columns[n] for n in order[:SIZE]]


OF_ONE_SUBGROUP: dict[str, Callable[[pd.DataFrame, np.ndarray], list[str]]] = {
    "scikit-learn SelectKBest": select_k_best,
    "scikit-learn sequential": sequential,
    "mRMR (mrmr_selection)": mrmr_selection,
    "feature-engine MRMR": feature_engine_mrmr,
    "scikit-lego mRMR": scikit_lego_mrmr,
    "mlxtend sequential, floating": mlxtend_floating,
    "Boruta": boruta,
}


def best_scored(X: pd.DataFrame, y: np.ndarray) -> list[str]:
    """The set of features that tells most in the rows as they are."""

    def told(names: tuple[str, ...]) -> float:
        cells = X[list(names)].to_numpy(int) @ np.array([10_000, 100, 1])
        return mutual_info_score(cells, y)

    return list(max(combinations(X.columns, SIZE), key=told))


def filled(table: pd.DataFrame) -> pd.DataFrame:
    """The table of all subgroups with every gap filled by miceforest's chained forests."""
    kernel = miceforest.ImputationKernel(table.reset_index(drop=True), random_state=0)
    kernel.mice(3)
    return kernel.complete_data()
