"""How scores of a measure of one's own vary from sample to sample.

Of sets that tell nothing, deals of the target say it. Of others the variance is the mean of what
one row says, squared, over the rows: what a little more of a cell does to the score (its influence,
by small changes of counts). Tables of few rows look less even than the population is, which adds to
that, and adds as much where the target was dealt out; so that is taken off. What is left depends on
the score above chance x about as

    n var(x) = null n + slope x + bend x²,

with a slope and a bend for the measure and the table, by least squares over some sets. For mutual
information that is 2 x, for R² 4 x (1 - x)². A bootstrap of cells comes out 12 to 39 % too high
where this is 2 to 5 % too low (benchmarks/measures/variance.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.count_measure import scores_of
from misfeat.information.set_tables import DealtRows
from misfeat.lattice.levels import level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort
    from misfeat.information.count_measure import CountMeasure
    from misfeat.information.set_tables import DealtLines

    Floats = NDArray[np.float64]

NEIGHBOURS = 25
"""The variance by chance is averaged over so many sets on either side of a set."""
STEP = 1e-4
"""By how much of all rows a cell is made larger."""
SETS_LOOKED_AT = 60
"""Sets of every size and cohort whose influences are worked out, at most."""
LARGEST_TABLES = 2**21
"""Numbers in the changed tables of the sets of a size and cohort, at most about."""
DEALS = 4
"""Deals that say what chance does to influences."""
FEW_SETS = 6
"""With fewer sets that score above chance, the variance grows with the score alone."""


@dataclass(frozen=True)
class NoiseCurve:
    """How the variance of one row grows with the score and with its square."""

    slope: float
    bend: float

    def __call__(self, scores: Floats) -> Floats:
        """The variance of one row at scores above chance; none at scores below 0."""
        within = np.maximum(scores, 0.0)
        variance: Floats = np.maximum(self.slope * within + self.bend * within**2, 0.0)
        return variance


@dataclass(frozen=True, eq=False)
class ScoreNoise:
    """How scores above chance of all sets of one size vary.

    Attributes
    ----------
    null : ndarray of shape (n_cohorts, n_sets)
        The variance that the score of a set that tells nothing has.
    n_rows : ndarray of shape (n_cohorts,)
        Rows of each cohort, or as many of equal weight as tell as much.
    curve : NoiseCurve
        What is added for a set that tells something, times the rows.
    """

    null: Floats
    n_rows: Floats
    curve: NoiseCurve


def curve_of(measure: CountMeasure, cohorts: Sequence[Cohort], largest: int) -> NoiseCurve:
    """How the variance of one row grows with the score, from some sets of every cohort."""
    scores, variances = [np.zeros(0)], [np.zeros(0)]
    for number, cohort in enumerate(cohorts):
        rows = DealtRows(cohort, np.random.SeedSequence(0, spawn_key=(number,)))
        recorded_target, dealt = rows.deals([0]), rows.deals(range(1 + DEALS))
        recorded = np.flatnonzero(cohort.recorded)
        for size in range(1, min(largest, len(recorded)) + 1):
            subsets = recorded[level(len(recorded), size)]
            for _, tables in dealt.tables(_some(measure, recorded_target, subsets)):
                stack = tables.reshape(-1, *tables.shape[2:])
                found = scores_of(measure, stack).reshape(len(tables), -1)
                of_rows = row_variances(measure, stack).reshape(len(tables), -1)
                scores.append(found[:, 0] - rows.effect * found[:, 1:].mean(axis=1))
                variances.append(of_rows[:, 0] - of_rows[:, 1:].mean(axis=1))
    return fitted(np.concatenate(scores), np.concatenate(variances))


def _some(
    measure: CountMeasure, lines: DealtLines, subsets: NDArray[np.integer]
) -> NDArray[np.integer]:
    """Some sets, from those that score least to those that score most; fewer of large tables."""
    scores, numbers = np.empty(len(subsets)), 1
    for some, tables in lines.tables(subsets):
        scores[some] = scores_of(measure, tables[:, 0])
        numbers = max(numbers, tables[0].size)
    n_sets = min(SETS_LOOKED_AT, LARGEST_TABLES // numbers**2, len(subsets))
    order = np.argsort(scores, kind="stable")[::-1]
    return subsets[order[np.linspace(0, len(subsets) - 1, n_sets).astype(np.int64)]]


def row_variances(measure: CountMeasure, counts: Floats) -> Floats:
    """The variance of what one row says, of every table: the mean square of influences.

    Examples
    --------
    >>> from misfeat.information.count_measure import GiniExplained
    >>> row_variances(GiniExplained(), np.array([[[30.0, 10.0], [10.0, 30.0]]])).round(3)
    array([0.75])
    """
    found = np.zeros(len(counts))
    for place, (table, score) in enumerate(zip(counts, scores_of(measure, counts), strict=True)):
        held = np.flatnonzero(table)
        step = STEP * table.sum()
        changed = np.repeat(table.reshape(1, -1), len(held), axis=0)
        changed[np.arange(len(held)), held] += step
        influence = (scores_of(measure, changed.reshape(-1, *table.shape)) - score) / STEP
        found[place] = (table.flat[held] * influence**2).sum() / table.sum()
    return found


def fitted(scores: Floats, variances: Floats) -> NoiseCurve:
    """Slope and bend by least squares; sets weigh the more, the less they score.

    Examples
    --------
    >>> scores = np.linspace(0.01, 0.2, 20)
    >>> fitted(scores, 2 * scores)(np.array([0.1])).round(4)
    array([0.2])
    """
    told = scores > 0
    x, y = scores[told], variances[told]
    if not len(x):
        return NoiseCurve(0.0, 0.0)
    weight = 1.0 / (x + x.mean())
    slope = max(float((weight**2 * x * y).sum() / (weight**2 * x**2).sum()), 0.0)
    if len(x) < FEW_SETS:
        return NoiseCurve(slope, 0.0)
    columns = np.stack([x, x**2], axis=1) * weight[:, None]
    (first, second), *_ = np.linalg.lstsq(columns, y * weight, rcond=None)
    return NoiseCurve(float(first), float(second)) if first > 0 else NoiseCurve(slope, 0.0)


def smoothed(variances: Floats, chance: Floats) -> Floats:
    """Variances by chance, each the mean over sets that chance gives about the same score.

    The variance of a few deals is noisy; `chance` is their mean.

    Examples
    --------
    >>> smoothed(np.array([1.0, 3.0]), np.array([0.1, 0.2]))
    array([2., 2.])
    """
    order = np.argsort(chance, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(variances[order])])
    places = np.arange(len(order))
    low, high = np.maximum(places - NEIGHBOURS, 0), np.minimum(places + NEIGHBOURS + 1, len(order))
    found = np.empty_like(variances)
    found[order] = (sums[high] - sums[low]) / (high - low)
    return found


def filled_up(null: Floats, n_rows: Floats) -> Floats:
    """Variances by chance of all sets: those of unrecorded ones as others have, at their rows.

    NaN is where a cohort did not record a set. Variances by chance go with one over the square of
    rows.

    Examples
    --------
    >>> filled_up(np.array([[0.04, 0.01], [np.nan, np.nan]]), np.array([10.0, 20.0]))
    array([[0.04  , 0.01  ],
           [0.01  , 0.0025]])
    """
    squares = n_rows[:, None] ** 2
    known = ~np.isnan(null)
    of_rows = np.where(known, null, 0.0) * squares
    usual = of_rows.sum() / max(known.sum(), 1)
    of_sets = of_rows.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    of_sets = np.where(known.any(axis=0), of_sets, usual)
    filled: Floats = np.where(known, null, of_sets / squares)
    return filled
