"""What every row adds to the noise of a score, and how much a share varies from sample to sample.

The plug-in score of a set S is the mean over rows of log p(s, y) / (p(s) p(y)). To first order its
sampling error is the mean of what that logarithm lies above or below the score, row by row. So the
errors of two sets of a cohort are correlated as these deviations are over its rows.

The share is the score above chance over the entropy of the target. To first order its error is a
mean over rows: of what log p(s, y) / (p(s) p(y)) lies above or below the score, less the share
times the same for -log p(y), over the entropy. Tables of counts look less even than the population
is, which adds about one over the rows for every degree of freedom to the variance of a row; it is
taken off again. A set that looks poor by chance would look sure as well, so the variance is at
least what is usual for its share.

Where nothing is explained all rows say the same and the first order vanishes. What is left is a
chi-square of (cells - 1)(classes - 1) degrees of freedom over twice the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.mutual_info import entropy, joint_mutual_info

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort

    Floats = NDArray[np.float64]

MOST_CELLS = 2**16
"""Cells that are numbered as they are; more are first numbered anew, without the empty ones."""
LEAST_DEVIATION = 1e-12
"""Nats; deviations as small as this are rounding."""


def influence(cohort: Cohort, members: Sequence[int]) -> Floats:
    """The influence of every row on the score of a set, of length 1.

    The product of those of two sets is the correlation of their errors. Rows that lack a value have
    none; all zeros where all rows say the same.
    """
    whole: NDArray[np.bool_] = np.all(cohort.codes[list(members)] >= 0, axis=0)
    found = np.zeros(len(whole))
    if not whole.any():
        return found
    cells = cells_of_rows(cohort, members, whole)
    target = cohort.target[whole].astype(np.int64)
    counts = cohort.counts[whole]
    share = counts / counts.sum()
    joint = np.bincount(cells * cohort.n_classes + target, weights=share)
    joint = np.append(joint, np.zeros(-len(joint) % cohort.n_classes))
    table = joint.reshape(-1, cohort.n_classes)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        pointwise = np.log(table / expected)[cells, target]
    # Sums, not products of vectors: threads of the linear algebra cost more than they save here.
    off = pointwise - (share * pointwise).sum()
    deviation = float(np.sqrt((share * off**2).sum()))
    if deviation >= LEAST_DEVIATION:
        found[whole] = off * np.sqrt(share) / deviation
    return found


def cells_of_rows(
    cohort: Cohort, members: Sequence[int], whole: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The number of the cell that each of some rows lies in, those that lack no value."""
    cells = np.zeros(int(whole.sum()), dtype=np.int64)
    many = 1
    for member in members:
        values = int(cohort.cardinalities[member])
        cells = cells * values + cohort.codes[member, whole]
        many *= values
        if many > MOST_CELLS:
            held, cells = np.unique(cells, return_inverse=True)
            many = len(held)
    return cells


class SampledShare(NamedTuple):
    """A share of what there is to tell, by the rows of one sample."""

    share: float  # above chance: 0 on the mean where a set tells nothing, so it may be negative
    n_rows: float  # rows that lack no value of the set; with weights their effective size
    # the variance of what one row says: over the rows, that of the share to first order
    spread: float
    chance: float  # the variance that the share of a set that tells nothing has
    freedom: float  # the degrees of freedom of chance


def sampled_share(cohort: Cohort, members: Sequence[int]) -> SampledShare | None:
    """The share of the target's entropy that a set explains in a cohort, and how it varies.

    The features, ascending, are all recorded. None where no row has all values, or the target has a
    single class.
    """
    rows = cohort.counts
    by_class = np.bincount(cohort.target, weights=rows)
    uncertainty, whole = entropy(by_class), np.all(cohort.codes[list(members)] >= 0, axis=0)
    if uncertainty <= 0 or not whole.any():
        return None
    n_rows = float(rows[whole].sum())
    cells = np.unique(cells_of_rows(cohort, members, whole), return_inverse=True)[1]
    target = cohort.target[whole].astype(np.int64)
    counts = np.zeros((int(cells.max()) + 1, cohort.n_classes))
    np.add.at(counts, (cells, target), rows[whole])
    expected = counts.sum(axis=1)[cells] * counts.sum(axis=0)[target] / rows[whole].sum()
    pointwise = np.log(counts[cells, target] / expected)
    held = list(members)
    # Of these features alone: compacting the rows of all of them takes longer than the score.
    only = replace(
        cohort,
        codes=cohort.codes[held],
        recorded=cohort.recorded[held],
        cardinalities=cohort.cardinalities[held],
    )
    all_of_them = np.arange(len(held))[None, :]
    share = float(joint_mutual_info(only, all_of_them, above_chance=True)[0]) / uncertainty
    freedom = float((len(counts) - 1) * (np.count_nonzero(by_class) - 1))
    off = np.zeros(len(rows))
    off[whole] = (pointwise - np.average(pointwise, weights=rows[whole])) / n_rows
    surprise = np.log(rows.sum() / by_class[cohort.target]) - uncertainty
    says = (off - max(share, 0.0) * surprise / rows.sum()) / uncertainty
    by_rows = n_rows * float((rows * says**2).sum()) - freedom / n_rows / uncertainty**2
    # Of weak sets the variance of a score is twice the score over the rows, of complete ones none:
    # whatever few rows show, what one row says varies at least so much.
    within = min(max(share, 0.0), 1.0)
    return SampledShare(
        share=share,
        n_rows=n_rows,
        spread=max(by_rows, 2.0 * within * (1.0 - within) / uncertainty),
        chance=freedom / (2.0 * n_rows**2) / uncertainty**2,
        freedom=freedom,
    )
