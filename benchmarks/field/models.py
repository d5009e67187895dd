"""How well models predict other rows with the features that were chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.field.encoding import Encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.field.tables import Table

FIGURES = ("logistic_auc", "logistic_loss", "boosting_auc", "boosting_loss")
"""AUC (of several classes, the mean of each against the others) and log loss of two models."""
STEPS = 1000


def judged(fit: Table, test: Table, features: Sequence[int]) -> dict[str, float | None]:
    """Fit both models to some rows with the chosen features, and judge them on others.

    The models keep scikit-learn's first settings.
    """
    n_classes = int(max(fit.y.max(), test.y.max())) + 1
    encoder, chosen = Encoder.of(fit), list(features)
    if len(np.unique(fit.y)) < 2:
        return dict.fromkeys(FIGURES)
    linear = LogisticRegression(max_iter=STEPS)
    linear.fit(encoder.design(fit, chosen)[0], fit.y)
    boosted = HistGradientBoostingClassifier(
        categorical_features=~fit.numeric[chosen], random_state=0
    )
    boosted.fit(fit.values[:, chosen], fit.y)
    return {
        **_figures("logistic", linear, encoder.design(test, chosen)[0], test.y, n_classes),
        **_figures("boosting", boosted, test.values[:, chosen], test.y, n_classes),
    }


def _figures(
    name: str, model: Any, X: NDArray[np.float64], y: NDArray[np.int64], n_classes: int
) -> dict[str, float | None]:
    probability = np.full((len(y), n_classes), 1e-9)
    probability[:, model.classes_] = model.predict_proba(X)
    probability /= probability.sum(axis=1, keepdims=True)
    return {
        f"{name}_auc": _auc(y, probability),
        f"{name}_loss": float(log_loss(y, probability, labels=np.arange(n_classes))),
    }


def _auc(y: NDArray[np.int64], probability: NDArray[np.float64]) -> float | None:
    """Of two classes as usual, of more the mean of each class against the others."""
    seen = [c for c in range(probability.shape[1]) if 0 < (y == c).sum() < len(y)]
    if not seen:
        return None
    if probability.shape[1] == 2:
        seen = [1]
    return float(np.mean([roc_auc_score(y == c, probability[:, c]) for c in seen]))
