"""Squared multiple correlation of feature subsets with the target, from one matrix of products."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH = 200_000
"""Subsets that are solved together."""
TOLERANCE = 1e-10
"""A feature that adds less than this share of its own variance to a set is a copy of the others."""


def squared_correlation(
    products: NDArray[np.float64], subsets: NDArray[np.integer]
) -> NDArray[np.float64]:
    """The share of the target's variance that a linear function of a set explains, for many sets.

    Members are taken in one at a time, each cleared of those before it (a Cholesky factorization of
    all sets at once): R2 grows by the squared correlation of what is left of the feature with the
    target. A feature of which nothing is left adds nothing, so copies do no harm.

    `products` are sums of products of centred columns, the target last.
    """
    return _explained(products, subsets)[0]


def adjusted_correlation(
    products: NDArray[np.float64], subsets: NDArray[np.integer], n_rows: int
) -> NDArray[np.float64]:
    """Squared multiple correlation above chance: adjusted R², for many sets.

    Of p features that tell nothing, n rows explain p / (n - 1) on the mean. What a set explains
    beyond that is measured by what it could:

        1 - (1 - R²) (n - 1) / (n - p - 1)

    Copies of other members do not count as features. A set with as many features as rows less one
    explains everything by chance: 0.
    """
    explained, n_different = _explained(products, subsets)
    left = n_rows - 1.0 - n_different
    unexplained = (1.0 - explained) * (n_rows - 1.0) / np.maximum(left, 1.0)
    return np.where(left > 0, 1.0 - unexplained, 0.0)


def _explained(
    products: NDArray[np.float64], subsets: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """R2 of every set, and how many of its features are no copies of others."""
    spread = np.sqrt(np.maximum(np.diag(products), 0.0))
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    correlation = products * scale[:, None] * scale[None, :]
    explained = np.zeros(len(subsets))
    n_different = np.zeros(len(subsets), dtype=np.int64)
    for start in range(0, len(subsets), BATCH):
        some = slice(start, start + BATCH)
        explained[some], n_different[some] = _batch(correlation, subsets[some])
    return explained, n_different


def _batch(
    correlation: NDArray[np.float64], subsets: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    target = len(correlation) - 1
    n_subsets, size = subsets.shape
    columns = np.column_stack([subsets, np.full(n_subsets, target)])
    # factor[:, i, j]: what member j shares with the part of member i that those before i lack.
    factor = np.zeros((n_subsets, size, size + 1))
    explained = np.zeros(n_subsets)
    n_different = np.zeros(n_subsets, dtype=np.int64)
    for i in range(size):
        left = correlation[columns[:, i, None], columns[:, i:]]
        left -= np.einsum("nk,nkj->nj", factor[:, :i, i], factor[:, :i, i:])
        different = left[:, 0] > TOLERANCE
        n_different += different
        own = np.where(different, left[:, 0], np.inf)
        factor[:, i, i:] = left / np.sqrt(own)[:, None]
        explained += factor[:, i, -1] ** 2
    return np.clip(explained, 0.0, 1.0), n_different
