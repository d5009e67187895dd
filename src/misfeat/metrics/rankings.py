"""How well predicted scores find the best feature sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[np.floating]


def ndcg_at(k: int, truth: Scores, guess: Scores) -> float:
    """The paper's nDCG@K: how many of the predicted K best are true ones, the first counting most.

    Examples
    --------
    >>> ndcg_at(2, np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])).__round__(3)
    0.613
    """
    hits = _hits(k, truth, guess)
    discount = 1 / np.log2(np.arange(2, len(hits) + 2))
    return float((hits * discount).sum() / discount.sum())


def precision_at(k: int, truth: Scores, guess: Scores) -> float:
    """The share of the predicted K best that is among the true K best.

    Examples
    --------
    >>> precision_at(2, np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]))
    0.5
    """
    return float(_hits(k, truth, guess).mean())


def captured_at(k: int, truth: Scores, guess: Scores) -> float:
    """The share of the true K best sets' score that the predicted K best hold.

    Examples
    --------
    >>> captured_at(2, np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]))
    0.8
    """
    best = truth[_best(k, truth)].sum()
    # Equal sets summed in another order may come out above by rounding.
    return min(float(truth[_best(k, guess)].sum() / best), 1.0) if best > 0 else 1.0


def _hits(k: int, truth: Scores, guess: Scores) -> NDArray[np.bool_]:
    return np.isin(_best(k, guess), _best(k, truth))


def _best(k: int, scores: Scores) -> NDArray[np.intp]:
    """Places of the K best, best first, the first of equal ones first."""
    return np.argsort(-scores, kind="stable")[:k]
