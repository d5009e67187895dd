"""How much a score above chance varies from sample to sample.

With K cells, C classes and n rows, 2 n times the plug-in score is about a noncentral chi-square of
(K - 1)(C - 1) degrees of freedom and noncentrality 2 n x, x being the score of the population. Its
variance over (2 n)² is

    v = (K - 1)(C - 1) / (2 n²) + 2 x / n.

Adjusted R² of p features, x in the population, varies about

    v = (1 - x)² (2 p / n² + 4 x / n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def null_variance(n_rows: ArrayLike, n_cells: ArrayLike, n_classes: int) -> Floats:
    """The sampling variance of scores above chance of sets that tell nothing.

    Of shape (n_cohorts, n_sets).

    Cells are all combinations of values. Where most of them hold a row or none, the number of cells
    with two rows or more is much nearer the truth: a single row says nothing about chance.

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

    Negative ones count as 0.

    Examples
    --------
    >>> sampling_variance(np.array([[0.05, -0.01]]), null_variance([100], [4, 4], 2), [100])
    array([[0.00115, 0.00015]])
    """
    rows = np.asarray(n_rows, dtype=np.float64)[:, None]
    variance: Floats = null + 2.0 * np.maximum(scores, 0.0) / rows
    return variance


def sampling_variance_by(
    of_one_row: Callable[[Floats], Floats], scores: Floats, null: Floats, n_rows: ArrayLike
) -> Floats:
    """The sampling variance of scores of a measure that says how it grows with the score.

    `of_one_row` gives the variance of what one row says, from scores.

    Examples
    --------
    >>> sampling_variance_by(lambda x: 2.0 * x, np.array([[0.05]]), np.array([[0.00015]]), [100])
    array([[0.00115]])
    """
    rows = np.asarray(n_rows, dtype=np.float64)[:, None]
    variance: Floats = null + of_one_row(scores) / rows
    return variance


def null_variance_of_correlations(n_rows: ArrayLike, size: int) -> Floats:
    """The sampling variance of adjusted R² of sets that tell nothing.

    Of shape (n_cohorts, 1).
    """
    rows = np.asarray(n_rows, dtype=np.float64)[:, None]
    variance: Floats = 2.0 * size / rows**2
    return variance


def sampling_variance_of_correlations(scores: Floats, null: Floats, n_rows: ArrayLike) -> Floats:
    """The sampling variance of adjusted R², were these the scores of the population.

    Scores count as 0 or 1 beyond these.
    """
    rows = np.asarray(n_rows, dtype=np.float64)[:, None]
    within = np.clip(scores, 0.0, 1.0)
    variance: Floats = (1.0 - within) ** 2 * (null + 4.0 * within / rows)
    return variance


def difference_of_correlations(expected: Floats) -> Floats:
    """The variance of R² between cohorts whose correlations differ with a variance of 1."""
    within = np.clip(expected, 0.0, 1.0)
    variance: Floats = 4.0 * within * (1.0 - within) ** 2
    return variance


@dataclass(frozen=True)
class Variation:
    """How scores of a measure vary.

    Attributes
    ----------
    sampling : callable
        The sampling variance of scores above chance, from the scores of the population, the
        variance that a score of 0 has, and rows.
    between : callable
        The variance between cohorts about what is expected, for a spread of 1.
    chance_in_pool : float
        How much of the variance that chance alone gives is left in the pool.
    """

    sampling: Callable[[Floats, Floats, Floats], Floats]
    between: Callable[[Floats], Floats]
    chance_in_pool: float


OF_INFORMATION = Variation(sampling_variance, np.square, chance_in_pool=0.5)
"""A spread of 1 is a standard deviation as large as the score. The pool's tables are shrunken."""
OF_CORRELATION = Variation(
    sampling_variance_of_correlations, difference_of_correlations, chance_in_pool=1.0
)
"""A spread of 1 is that of correlations, one over the rows that would differ as much by chance."""
