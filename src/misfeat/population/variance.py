"""How much a score above chance varies from sample to sample.

With K cells, C classes and n rows, 2 n times the plug-in score is about a noncentral chi-square of
(K - 1)(C - 1) degrees of freedom and noncentrality 2 n x, x being the score of the population. Its
variance over (2 n)² is

    v = (K - 1)(C - 1) / (2 n²) + 2 x / n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def null_variance(n_rows: ArrayLike, n_cells: ArrayLike, n_classes: int) -> Floats:
    """The sampling variance of scores above chance of sets that tell nothing.

    Parameters
    ----------
    n_rows : array-like of shape (n_cohorts,)
        Rows of each cohort.
    n_cells : array-like of shape (n_sets,) or (n_cohorts, n_sets)
        Cells of each set: all combinations of values. Where most of them hold a row or none, the
        number of cells with two rows or more is much nearer the truth: a single row says nothing
        about chance.
    n_classes : int
        Classes of the target.

    Returns
    -------
    ndarray of shape (n_cohorts, n_sets)

    Examples
    --------
    >>> null_variance([100], [4, 16], 2)
    array([[0.00015, 0.00075]])
    """
    rows = np.asarray(n_rows, dtype=np.float64)[:, None]
    freedom = (np.asarray(n_cells, dtype=np.float64) - 1.0) * (n_classes - 1.0)
    variance: Floats = np.atleast_2d(freedom) / (2.0 * rows**2)
    return variance


def sampling_variance(scores: Floats, null: Floats, n_rows: ArrayLike) -> Floats:
    """The sampling variance of scores above chance, were these the scores of the population.

    Parameters
    ----------
    scores : ndarray of shape (n_cohorts, n_sets)
        Scores; negative ones count as 0.
    null : ndarray of shape (n_cohorts, n_sets)
        What `null_variance` gives.
    n_rows : array-like of shape (n_cohorts,)
        Rows of each cohort.

    Examples
    --------
    >>> sampling_variance(np.array([[0.05, -0.01]]), null_variance([100], [4, 4], 2), [100])
    array([[0.00115, 0.00015]])
    """
    rows = np.asarray(n_rows, dtype=np.float64)[:, None]
    variance: Floats = null + 2.0 * np.maximum(scores, 0.0) / rows
    return variance
