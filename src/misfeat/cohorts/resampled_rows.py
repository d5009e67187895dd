"""Rows counted anew: with other counts or weights, and drawn without putting any back."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.weights import MOST_MASS, heaviest_of, squares_of, weights_of
from misfeat.runtime.array_types import Floats, Integers

if TYPE_CHECKING:
    from misfeat.cohorts.cohort_data import Cohorts

LARGEST_SUM = 2.0**40  # What weights sum up to that are no longer those of the table
LARGEST_TO_DRAW_FROM = 10**9  # Of more rows, each is drawn by itself
NEARLY_NORMAL = 1000.0  # The variance of a count from which on it is drawn as a normal one


def reweighted(cohorts: "Cohorts", weights: Integers) -> "Cohorts":
    """The same table with other counts; rows that count nothing are gone."""
    # What a row weighs changes with its count: by the mean weight of the rows that it stands for.
    # The effective size of a subgroup stays the same share of its rows.
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
        ranks=cohorts.ranks[kept] if len(cohorts.grids) else cohorts.ranks,
        weights=weights[kept],
        offsets=before[cohorts.offsets],
        masses=masses,
        heaviest=heaviest,
        effective=effective,
    )


def times_weights(cohorts: "Cohorts", each: Floats, effects: Iterable[float]) -> "Cohorts":
    """Cohorts whose rows weigh some times what they did, by design effects of the subgroups."""
    times, masses, heaviest = weights_of(cohorts)
    unit = each * (LARGEST_SUM / (masses @ each))
    whole = np.maximum(np.rint(masses * unit), 1.0)
    heaviest = np.clip(heaviest * unit, whole / times, whole)
    sums = np.add.reduceat(
        [whole, squares_of(times, whole, heaviest)], cohorts.offsets[:-1], axis=1
    )
    kish = sums[0] ** 2 / sums[1] / np.fromiter(effects, dtype=np.float64)
    return replace(
        cohorts, masses=whole.astype(np.int64), heaviest=heaviest, effective=np.maximum(kish, 1.0)
    )


def subsample(cohorts: "Cohorts", share: float, rng: np.random.Generator) -> "Cohorts":
    """A share of the rows of every subgroup, one at least, drawn without putting any back."""
    drawn = [rows_drawn(c.weights, max(1, round(share * c.size)), rng) for c in cohorts]
    return reweighted(cohorts, np.concatenate(drawn))


def rows_drawn(weights: Integers, n_rows: int, rng: np.random.Generator) -> Integers:
    """How many of the rows that each coded row stands for are drawn, none of them twice."""
    total = int(weights.sum())
    if total < LARGEST_TO_DRAW_FROM:
        return rng.multivariate_hypergeometric(weights, n_rows, method="marginals")
    drawn = np.zeros_like(weights)
    for at, own in enumerate(weights.tolist()):
        share, rest = n_rows / max(total, 1), total - own
        found = float(rng.binomial(own, share))
        if own * share * (1.0 - share) > NEARLY_NORMAL:  # a binomial spreads too far
            found = rng.normal(own * share, np.sqrt(own * share * (1.0 - share) * rest / total))
        drawn[at] = min(max(round(found), n_rows - rest, 0), own, n_rows)
        total, n_rows = rest, n_rows - int(drawn[at])
    return drawn
