"""The G-test of conditional independence on weighted, coded rows.

For the counts n of two variables x and y within strata z,

    G = 2 Σ n(x,y,z) log( n(x,y,z) n(z) / (n(x,z) n(y,z)) ),

twice the rows times the conditional mutual information. Under independence it is distributed as chi
square with, summed over strata, (values of x there - 1) (values of y there - 1) degrees of freedom.
A stratum in which x or y has one value says nothing and counts for nothing, nor does one with too
few rows a cell, where the distribution would not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

from misfeat.completion.numbering import numbered, numbered_together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.integer]


@dataclass(frozen=True)
class GTest:
    """What a test found."""

    statistic: float
    dof: int

    @property
    def p_value(self) -> float:
        """How likely so large a statistic is under independence; 1 where nothing can be said."""
        return float(chi2.sf(self.statistic, self.dof)) if self.dof else 1.0

    @property
    def strength(self) -> float:
        """G less what independence would give on average, to compare variables of any width."""
        return self.statistic - self.dof


def g_test(
    x: Codes,
    y: Codes,
    strata: Codes | None = None,
    weights: NDArray[np.int64] | None = None,
    rows_per_cell: float = 0.0,
) -> GTest:
    """Test whether two variables are independent within strata.

    Codes and strata are numbered from 0 on; rows stand for one each unless they have weights. A
    stratum with fewer rows than `rows_per_cell` for every pair of the values that x and y have
    there is left out; where all are, there are 0 degrees of freedom.
    """
    weights = np.ones(len(x), dtype=np.int64) if weights is None else weights
    strata = np.zeros(len(x), dtype=np.int64) if strata is None else strata
    counts, stratum_of = _tables(x, y, strata, weights)
    # Tables of strata lie below each other, a line for every value that x has there.
    first = np.flatnonzero(np.diff(stratum_of, prepend=-1))
    if not len(first):
        return GTest(0.0, 0)
    by_stratum = np.add.reduceat(counts, first, axis=0)
    values_of_x = np.diff(first, append=len(counts))
    values_of_y = (by_stratum > 0).sum(axis=1)
    rows = by_stratum.sum(axis=1)
    statistic = 2 * (
        np.add.reduceat(_n_log_n(counts).sum(axis=1) - _n_log_n(counts.sum(axis=1)), first)
        - _n_log_n(by_stratum).sum(axis=1)
        + _n_log_n(rows)
    )
    enough = rows >= rows_per_cell * values_of_x * values_of_y
    dof = ((values_of_x - 1) * (values_of_y - 1))[enough].sum()
    return GTest(max(0.0, float(statistic[enough].sum())), int(dof))


def _tables(
    x: Codes, y: Codes, strata: Codes, weights: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Counts of y, a line for every x and stratum that occur together, and the line's stratum."""
    y, n_y = numbered(y)
    lines, n_lines = numbered_together((strata, x), len(x))
    cells = np.bincount(lines * n_y + y, weights, minlength=n_lines * n_y)
    stratum_of = np.empty(n_lines, dtype=np.int64)
    stratum_of[lines] = strata
    return cells.reshape(n_lines, n_y).astype(np.float64), stratum_of


def _n_log_n(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts * np.log(np.where(counts > 0, counts, 1.0))
