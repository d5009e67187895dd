"""How much selections of features agree, and how much of the best sets a ranking finds.

The index is that of Nogueira, Sechidis and Brown (2018), "On the Stability of Feature Selection
Algorithms", Journal of Machine Learning Research 18(174).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[np.floating]

FEWEST_SELECTIONS = 2
"""One selection alone agrees with nothing."""


@dataclass(frozen=True)
class Agreement:
    """How much selections agree."""

    # 1: all the same; about 0: no more alike than selections of as many features at random. NaN
    # where there was nothing to choose: every selection holds all features, or none.
    index: float
    low: float  # its interval, for very many selections
    high: float


def agreement_of(selected: NDArray[np.bool_], confidence: float = 0.95) -> Agreement:
    """The stability index of selections, with its asymptotic interval.

    With p[f] the share of M selections that hold feature f of d, and k the mean number of features
    of a selection, the index is 1 less the mean over features of M / (M - 1) p[f] (1 - p[f]) over
    k/d (1 - k/d), which is what random selections would give (Definition 4 of the paper). The
    interval is the asymptotic one of the same paper.

    There are two selections at least, of shape (n_selections, n_features).
    """
    held = np.asarray(selected, dtype=np.float64)
    n_selections, n_features = held.shape
    if n_selections < FEWEST_SELECTIONS:
        raise ValueError(f"{n_selections} selections; it takes {FEWEST_SELECTIONS} at least")
    share, counts = held.mean(axis=0), held.sum(axis=1)
    mean = counts.mean()
    by_chance = mean / n_features * (1.0 - mean / n_features)
    if by_chance <= 0.0:
        return Agreement(np.nan, np.nan, np.nan)
    spread = n_selections / (n_selections - 1) * share * (1.0 - share)
    index = float(1.0 - spread.mean() / by_chance)
    # What each selection adds to the index.
    share_of_all, own = mean / n_features, counts / n_features
    together = held @ share / n_features - own * share_of_all
    ends = 2.0 * share_of_all * own - own - share_of_all + 1.0
    parts = (together + index / 2.0 * ends) / by_chance
    deviation = 2.0 / n_selections * float(np.sqrt(((parts - parts.mean()) ** 2).sum()))
    away = NormalDist().inv_cdf((1.0 + confidence) / 2.0) * deviation
    return Agreement(index, index - away, min(index + away, 1.0))


def captured_at(k: int, truth: Scores, guess: Scores) -> float:
    """The share of the true K best sets' score that the predicted K best hold."""
    best = truth[best_indices(k, truth)].sum()
    # Equal sets summed in another order may come out above by rounding.
    return min(float(truth[best_indices(k, guess)].sum() / best), 1.0) if best > 0 else 1.0


def best_indices(k: int, scores: Scores) -> NDArray[np.intp]:
    """Indices of the K best, best first, the first of equal ones first."""
    return np.argsort(-scores, kind="stable")[:k]
