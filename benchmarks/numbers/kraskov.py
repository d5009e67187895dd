"""Kraskov's estimator of joint information by nearest neighbours, for sets of features.

KSG 1 (Kraskov, Stoegbauer and Grassberger 2004) in the form for mixed data (Gao et al. 2017): where
the k-th neighbour is at distance 0, ties are counted. Columns are scaled to unit spread, and the
distance is the largest over the columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma, ndtri
from scipy.stats import rankdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEIGHBOURS = 3


def mixed_ksg(features: Floats, target: Floats, k: int = NEIGHBOURS) -> float:
    """The joint information of features, a line each, with a target, in nats."""
    x = (features / features.std(axis=1, keepdims=True)).T
    y = (target / target.std())[:, None]
    both = cKDTree(np.hstack([x, y]))
    reach = both.query(both.data, k + 1, p=np.inf)[0][:, -1]
    tied = reach == 0
    within = np.where(tied, 0.0, np.nextafter(reach, 0.0))

    def near(points: Floats) -> NDArray[np.int64]:
        return cKDTree(points).query_ball_point(points, within, p=np.inf, return_length=True)

    neighbours = np.full(len(y), float(k))
    if tied.any():
        neighbours[tied] = both.query_ball_point(both.data[tied], 0.0, p=np.inf, return_length=True)
    told = digamma(neighbours) + np.log(len(y)) - np.log(near(x)) - np.log(near(y))
    return max(0.0, float(told.mean()))


def normal_scores(values: Floats) -> Floats:
    """Every line's ranks as quantiles of the normal distribution."""
    return ndtri((rankdata(values, axis=-1) - 0.5) / values.shape[-1])
