"""Cohorts with other counts of their rows: halves, draws, rows left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.weighing import MOST_MASS, heaviest_of, squares_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts

LARGEST_TO_DRAW_FROM = 10**9
"""NumPy draws an exact number of rows from fewer; of more, every row is drawn by itself."""


def reweighted(cohorts: Cohorts, weights: NDArray[np.int64]) -> Cohorts:
    """The same table with other counts; rows that count nothing are gone.

    What a row weighs changes with its count: by the mean weight of the rows that it stands for. The
    effective size of a subgroup stays the same share of its rows.
    """
    kept = weights > 0
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    masses, heaviest, effective = cohorts.masses, cohorts.heaviest, cohorts.effective
    if masses is not None and heaviest is not None:
        squares = squares_of(cohorts.weights, masses, heaviest)[kept]
        shares = masses[kept] * (weights[kept] / cohorts.weights[kept])
        masses = np.maximum(np.rint(shares * (MOST_MASS / shares.sum())), 1.0).astype(np.int64)
        squares *= weights[kept] / cohorts.weights[kept] * (MOST_MASS / shares.sum()) ** 2
        heaviest = heaviest_of(weights[kept], masses, squares)
    if effective is not None:
        starts = cohorts.offsets[:-1]
        rows = [np.add.reduceat(counts, starts) for counts in (weights, cohorts.weights)]
        effective = np.maximum(effective * rows[0] / rows[1], np.minimum(rows[0], 1.0))
    return replace(
        cohorts,
        codes=np.ascontiguousarray(cohorts.codes[:, kept]),
        target_codes=cohorts.target_codes[kept],
        ranks=cohorts.ranks[kept] if cohorts.is_number else cohorts.ranks,
        weights=weights[kept],
        offsets=before[cohorts.offsets],
        masses=masses,
        heaviest=heaviest,
        effective=effective,
    )


def drawn_anew(cohorts: Cohorts, share: float, rng: np.random.Generator) -> Cohorts:
    """A share of the rows of every subgroup, at random and without putting any back.

    Whatever a subgroup never recorded stays so. A row is left at least.
    """
    drawn = [
        rows_drawn(cohort.weights, max(1, round(share * cohort.size)), rng) for cohort in cohorts
    ]
    return reweighted(cohorts, np.concatenate(drawn))


def rows_drawn(
    weights: NDArray[np.int64], n_rows: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """How many of the rows that each coded row stands for are drawn, none of them twice."""
    total = int(weights.sum())
    if total < LARGEST_TO_DRAW_FROM:
        return rng.multivariate_hypergeometric(weights, n_rows, method="marginals")
    return rng.binomial(weights, n_rows / total)
