"""What a set tells of all there is to tell, and how much that varies from sample to sample.

The share is the score above chance over the entropy of the target. To first order its error is a
mean over rows: of what log p(s, y) / (p(s) p(y)) lies above or below the score, less the share
times the same for -log p(y), over the entropy. Tables of counts look less even than the population
is, which adds about one over the rows for every degree of freedom to the variance of a row; it is
taken off again. A set that looks poor by chance would look sure as well, so the variance is at
least what is usual for its share.

Where nothing is told all rows say the same and the first order vanishes. What is left is a
chi-square of (cells - 1)(classes - 1) degrees of freedom over twice the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.influence import cells_of_rows
from misfeat.information.mutual_info import joint_mutual_info
from misfeat.information.shannon import entropy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort

    Floats = NDArray[np.float64]


class SampledShare(NamedTuple):
    """A share of what there is to tell, by the rows of one sample.

    Attributes
    ----------
    share : float
        Above chance: 0 on the mean where a set tells nothing, so it may be negative.
    n_rows : float
        Rows that lack no value of the set; with weights their effective size.
    spread : float
        The variance of what one row says: over the rows, that of the share to first order.
    chance : float
        The variance that the share of a set that tells nothing has.
    freedom : float
        The degrees of freedom of chance.
    """

    share: float
    n_rows: float
    spread: float
    chance: float
    freedom: float


def sampled_share(cohort: Cohort, members: Sequence[int]) -> SampledShare | None:
    """The share that a set tells in a cohort, and how it varies.

    The features, ascending, are all recorded. None where no row has all values, or the target has a
    single class.
    """
    rows = cohort.counts
    by_class = np.bincount(cohort.target, weights=rows)
    told, whole = entropy(by_class), np.all(cohort.codes[list(members)] >= 0, axis=0)
    if told <= 0 or not whole.any():
        return None
    n_rows = float(rows[whole].sum())
    pointwise, n_cells = _pointwise(cohort, members, whole)
    of_all = np.arange(len(members))[None, :]
    score = float(joint_mutual_info(_only(cohort, members), of_all, above_chance=True)[0])
    share = score / told
    freedom = float((n_cells - 1) * (np.count_nonzero(by_class) - 1))
    off = np.zeros(len(rows))
    off[whole] = (pointwise - np.average(pointwise, weights=rows[whole])) / n_rows
    surprise = np.log(rows.sum() / by_class[cohort.target]) - told
    says = (off - max(share, 0.0) * surprise / rows.sum()) / told
    by_rows = n_rows * float((rows * says**2).sum()) - freedom / n_rows / told**2
    return SampledShare(
        share=share,
        n_rows=n_rows,
        spread=max(by_rows, _usual_spread(share, told)),
        chance=freedom / (2.0 * n_rows**2) / told**2,
        freedom=freedom,
    )


def _only(cohort: Cohort, members: Sequence[int]) -> Cohort:
    """The cohort with these features alone: preparing all of them takes longer than the score."""
    held = list(members)
    return replace(
        cohort,
        codes=cohort.codes[held],
        recorded=cohort.recorded[held],
        cardinalities=cohort.cardinalities[held],
    )


def _usual_spread(share: float, told: float) -> float:
    """What one row says varies at least so much, whatever few rows show.

    Of sets that tell little the variance of a score is twice the score over the rows, and none of
    sets that tell everything.
    """
    within = min(max(share, 0.0), 1.0)
    return 2.0 * within * (1.0 - within) / told


def _pointwise(
    cohort: Cohort, members: Sequence[int], whole: NDArray[np.bool_]
) -> tuple[Floats, int]:
    """The logarithm of p(s, y) / (p(s) p(y)) of every whole row, and how many cells hold a row."""
    rows = cohort.counts[whole]
    cells = np.unique(cells_of_rows(cohort, members, whole), return_inverse=True)[1]
    target = cohort.target[whole].astype(np.int64)
    counts = np.zeros((int(cells.max()) + 1, cohort.n_classes))
    np.add.at(counts, (cells, target), rows)
    expected = counts.sum(axis=1)[cells] * counts.sum(axis=0)[target] / rows.sum()
    found: Floats = np.log(counts[cells, target] / expected)
    return found, len(counts)
