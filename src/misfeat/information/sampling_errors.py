"""How far scores may be off by the rows that were drawn: see docs/explanation/intervals.md.

The plug-in score of a set S is the mean over rows of log p(s, y) / (p(s) p(y)). To first order its
sampling error is the mean of what that logarithm lies above or below the score, row by row
(`influence`), so the errors of two sets of a cohort are correlated as these are over its rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from misfeat.cohorts.cohort_data import Cohort
from misfeat.information.mutual_info import cells_of_rows, entropy, joint_mutual_info
from misfeat.runtime.array_types import Flags, Floats

LEAST_DEVIATION = 1e-12  # nats; deviations as small as this are rounding


def influence(cohort: Cohort, members: Sequence[int]) -> Floats:
    """The influence of every row on the score of a set, of length 1; 0 where a value is missing."""
    whole: Flags = np.all(cohort.codes[list(members)] >= 0, axis=0)
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


class SampledShare(NamedTuple):
    """A share of the target's entropy, by the rows of one sample."""

    share: float  # above chance: 0 on the mean where nothing is explained, so it may be negative
    n_rows: float  # rows that lack no value of the set; with weights their effective size
    spread: float  # the variance of what one row says: n times that of the share to first order
    chance: float  # the variance that the share has where nothing is explained
    freedom: float  # the degrees of freedom of chance


def sampled_share(cohort: Cohort, members: Sequence[int]) -> SampledShare | None:
    """The share of the target's entropy that a set explains in a cohort, and how it varies.

    To first order its error is a mean over rows: of the influence on the score, less the share
    times the same for -log p(y), over the entropy. Tables of counts look less even than the
    population is, which adds about one over the rows for every degree of freedom to the variance of
    a row; it is taken off again. Where nothing is explained the first order vanishes; what is left
    is a chi-square of (cells - 1)(classes - 1) degrees of freedom over twice the rows.

    The features, ascending, are all recorded. None without a row of all values, or with one class.
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
    names = ("codes", "recorded", "cardinalities")
    only = replace(cohort, **{name: getattr(cohort, name)[held] for name in names})
    every = np.arange(len(held))[None, :]
    share = float(joint_mutual_info(only, every, above_chance=True)[0]) / uncertainty
    freedom = float((len(counts) - 1) * (np.count_nonzero(by_class) - 1))
    off = np.zeros(len(rows))
    off[whole] = (pointwise - np.average(pointwise, weights=rows[whole])) / n_rows
    surprise = np.log(rows.sum() / by_class[cohort.target]) - uncertainty
    says = (off - max(share, 0.0) * surprise / rows.sum()) / uncertainty
    by_rows = n_rows * float((rows * says**2).sum()) - freedom / n_rows / uncertainty**2
    # Of weak sets the variance of a score is twice the score over the rows, of complete ones none:
    # whatever few rows show, what one row says varies at least so much.
    within = min(max(share, 0.0), 1.0)
    spread = max(by_rows, 2.0 * within * (1.0 - within) / uncertainty)
    chance = freedom / (2.0 * n_rows**2) / uncertainty**2
    return SampledShare(share, n_rows, spread, chance, freedom)
