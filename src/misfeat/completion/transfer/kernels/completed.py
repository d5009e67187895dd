"""What is found out about subsets that cohorts lack a member of, and step C, which scores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from misfeat.completion.transfer.kernels.expectation import (
    expected_above_chance,
    expected_score,
)
from misfeat.machine.compiling import compiled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Completed(NamedTuple):
    """What is found out about the subsets of one size that cohorts lack a member of.

    Attributes
    ----------
    score, variance : ndarray of shape (n_cohorts, n_subsets)
        Expected plug-in scores and their sampling variance; NaN where nothing is lacking. Without
        columns where they are not asked for.
    above : ndarray of shape (n_cohorts, n_subsets)
        The scores above chance; without columns where they are not asked for.
    starts : ndarray of int64 of shape (n_subsets,)
        The first line of each subset's table.
    tables : ndarray of shape (n_cohorts, n_cells, n_classes)
        Counts where a cohort recorded the subset, expected counts where it did not; without lines
        where they are not kept.
    informed : ndarray of bool of shape (n_cohorts, n_subsets)
        Whether a table says more than its margins, so that larger subsets are fitted to it.
    """

    score: NDArray[np.float64]
    variance: NDArray[np.float64]
    above: NDArray[np.float64]
    starts: NDArray[np.int64]
    tables: NDArray[np.float64]
    informed: NDArray[np.bool_]


@compiled
def note_score(i, s, shares, rows, poisson, completed):
    """Step C for subset s of cohort i, given P(q|o,y) and n_i(o,y)."""
    if completed.score.shape[1]:
        score, variance = expected_score(shares, rows, poisson)
        completed.score[i, s], completed.variance[i, s] = score, variance
    if completed.above.shape[1]:
        completed.above[i, s] = expected_above_chance(shares, rows, poisson)
