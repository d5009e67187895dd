"""Pairs and triples that explain more together than one beside the other, as further columns.

In every cell of a pair (or triple), the mean residual of the target after its additive part is what
only the combination explains. Whether that is more than noise, a U-statistic says,

    U = Σ over cells of [(Σ r)² - Σ r²] / n,      Var U ≈ 2 Σ over cells of (Σ r²)² (n - 1) / n³,

which is 0 on the mean without an interaction, however unequal variances are and however few rows
cells have; for Var U, no cell's variance counts less than that of all. A pair that stands out among
all pairs becomes columns of its own: its cells' effects, shrunk by their noise. From there on it is
treated as features are: pooled over subgroups, completed where it was not recorded, and part of
every set that holds its features.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from misfeat.estimation.additive import POOL_RIDGE, whitening
from misfeat.estimation.moments import Term, one_hot
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.estimation.moments import Counted, Moments

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

FALSE_TERMS = 0.05
"""So many pairs (and so many triples) of a table without interactions pass for one, by the normal
distribution; `MARGIN` allows for its tails."""
MARGIN = 0.8
LEAST_DEVIATIONS = {2: 4.5, 3: 5.5}
"""An interaction of two or three features stands out by at least so many standard deviations."""
MOST_TERMS = {2: 24, 3: 8}
"""Interactions of two and three features that become columns: those that stand out most."""
LEAST_EFFECT = 0.003
"""Interactions that explain a smaller share of the target's variance do not."""
MOST_DIRECTIONS = 2
"""Columns of an interaction, where the target has several."""
MOST_WORK = 1.5e8
"""Triples times rows that are looked through; beyond, triples of the features in the strongest
pairs alone."""
LEAST_ROWS_PER_CELL = 2
"""Sets whose cells have fewer rows on the mean say nothing about interactions."""
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class _Residuals:
    """What is left of the target in the cells of a set, after its additive part.

    `n_rows` in every cell; `sums` and `squares` of residuals, a column a target column; the
    residual `variance` of one row; `n_fitted` columns of the additive part; and what whitened the
    target.
    """

    n_rows: Floats
    sums: Floats
    squares: Floats
    variance: Floats
    n_fitted: int
    whiten: Floats


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A set with what its residuals say: `deviations` from 0, and `effect`, U itself."""

    features: tuple[int, ...]
    deviations: float
    effect: float
    residuals: _Residuals


def find_terms(table: Counted, moments: Moments) -> Moments:
    """Moments with columns for the interactions of two and three features that stand out.

    Parameters
    ----------
    table : CodedTable
        The rows; features that `moments` takes for unrecorded are not read.
    moments : Moments
        Of the same rows, without terms.
    """
    terms: tuple[Term, ...] = ()
    hidden = ~moments.recorded
    strongest: list[int] = []
    for size in (2, 3):
        if min(moments.n_features, table.largest_set) < size or moments.n_targets == 0:
            break
        sets = _sets_to_try(moments, table, size, strongest)
        found = [
            candidate
            for features in sets
            if (candidate := _candidate(table, moments, tuple(map(int, features)))) is not None
        ]
        found.sort(key=lambda candidate: (-candidate.deviations, candidate.features))
        strongest = list(dict.fromkeys(f for candidate in found for f in candidate.features))
        least = max(LEAST_DEVIATIONS[size], MARGIN - float(ndtri(FALSE_TERMS / max(len(found), 1))))
        new = [_term(c) for c in found[: MOST_TERMS[size]] if _is_believed(c, least)]
        if new:
            terms = (*terms, *new)
            moments = table.moments(terms).hidden(hidden)
    return moments


def _sets_to_try(
    moments: Moments, table: Counted, size: int, strongest: Sequence[int]
) -> NDArray[np.integer]:
    """All sets of a size, or those of the features in the strongest pairs."""
    n_features, n_rows = moments.n_features, table.work
    if size == 2 or comb(n_features, size) * n_rows <= MOST_WORK:
        return level(n_features, size)
    chosen = len(strongest)
    while chosen > size and comb(chosen, size) * n_rows > MOST_WORK:
        chosen -= 1
    return np.sort(np.array(strongest[:chosen]))[level(chosen, size)]


def _candidate(table: Counted, moments: Moments, features: tuple[int, ...]) -> _Candidate | None:
    """What the cells of a set say beyond its additive part; None where nothing can be said."""
    cohorts = np.flatnonzero(moments.recorded[:, features].all(axis=1))
    n_cells = table.cards[list(features)].prod()
    if not len(cohorts) or n_cells * LEAST_ROWS_PER_CELL > moments.rows[cohorts].sum():
        return None
    residuals = _residuals(table, moments, features, cohorts)
    n_rows = residuals.n_rows
    several = n_rows > 1.0
    if several.sum() - 1 <= residuals.n_fitted:
        return None
    share = np.where(several, 1.0 / np.maximum(n_rows, 1.0), 0.0)[:, None]
    spent = residuals.n_fitted * residuals.variance.sum()  # the additive part was fitted
    effect = float(((residuals.sums**2 - residuals.squares) * share).sum() + spent)
    squares = np.maximum(residuals.squares, n_rows[:, None] * residuals.variance)
    deviation = np.sqrt(2.0 * ((squares * share) ** 2 * (1.0 - share)).sum())
    return _Candidate(features, effect / max(deviation, TINY), effect, residuals)


def _residuals(
    table: Counted, moments: Moments, features: tuple[int, ...], cohorts: Integers
) -> _Residuals:
    """Sums over the rows of cells, from counts by subgroup, cell and class.

    The residual of a row depends on its subgroup, cell and class alone.
    """
    counts = table.counts(features, cohorts)
    columns, values = _cell_columns(table, moments, features)
    pooled, n_targets = moments.pooled(cohorts), moments.n_targets
    whiten = whitening(pooled[-n_targets:, -n_targets:])
    within = pooled[np.ix_(columns, columns)] + POOL_RIDGE * np.eye(len(columns))
    slopes = np.linalg.solve(within, pooled[columns, -n_targets:] @ whiten.T)
    targets = np.eye(counts.shape[2])[:, table.classes_shown] @ whiten.T
    by_cell, by_class = counts.sum(axis=2), counts.sum(axis=0)
    n_rows, fitted = by_cell.sum(axis=0), values @ slopes
    whole = np.maximum(by_cell.sum(axis=1), TINY)[:, None]
    target = counts @ targets  # summed over the rows of every subgroup and cell
    centre = (target.sum(axis=1) - by_cell @ fitted) / whole
    summed, shift = target.sum(axis=0), by_cell.T @ centre
    squares = by_class @ targets**2 + n_rows[:, None] * fitted**2 + by_cell.T @ centre**2
    squares += 2.0 * fitted * (shift - summed) - 2.0 * np.einsum("kct,kt->ct", target, centre)
    return _Residuals(
        n_rows=n_rows,
        sums=summed - n_rows[:, None] * fitted - shift,
        squares=np.maximum(squares, 0.0),
        variance=np.maximum(squares, 0.0).sum(axis=0) / whole.sum(),
        n_fitted=len(columns),
        whiten=whiten,
    )


def _cell_columns(
    table: Counted, moments: Moments, features: tuple[int, ...]
) -> tuple[Integers, Floats]:
    """The columns of a set's additive part, and their values in every cell."""
    cards = table.cards[list(features)]
    codes = np.indices(cards.tolist()).reshape(len(cards), -1)
    columns = [moments.columns[f] for f in features]
    values = [
        one_hot(table.cards[f], table.usual[f])[code]
        for f, code in zip(features, codes, strict=True)
    ]
    for term, own in zip(moments.terms, moments.columns[moments.n_features :], strict=True):
        if set(term.features) <= set(features):
            cell = np.zeros(codes.shape[1], dtype=np.int64)
            for f in term.features:
                cell = cell * table.cards[f] + codes[features.index(f)]
            columns.append(own)
            values.append(term.effects[cell])
    return np.concatenate(columns), np.concatenate(values, axis=1)


def _is_believed(candidate: _Candidate, least: float) -> bool:
    """Whether an interaction stands out by so many deviations and explains something worthwhile."""
    residuals = candidate.residuals
    share = candidate.effect / (residuals.n_rows.sum() * residuals.sums.shape[1])
    return candidate.deviations > least and share > LEAST_EFFECT


def _term(candidate: _Candidate) -> Term:
    """The effects of a set's cells, shrunk by their noise, as columns of about unit range."""
    left, n_rows = candidate.residuals, candidate.residuals.n_rows
    whole, n_targets = n_rows.sum(), left.sums.shape[1]
    per_target = max(candidate.effect / (whole * n_targets), TINY)
    shrunk = n_rows / (n_rows + left.variance.mean() / per_target)
    effects = left.sums / np.maximum(n_rows, 1.0)[:, None] * shrunk[:, None]
    several = max(int((n_rows > 1.0).sum()), 1)
    free = max(several - 1 - left.n_fitted, 0) / several
    optimism = np.diag(free * left.variance * shrunk[n_rows > 0].sum() / whole)
    directions = np.linalg.svd(np.sqrt(n_rows)[:, None] * effects, full_matrices=False)[2]
    directions = directions[:MOST_DIRECTIONS]
    effects = effects @ directions.T
    spread = 2.0 * np.sqrt((n_rows @ effects**2) / whole)
    spread = np.where(spread > 0, spread, 1.0)
    unwhiten = np.linalg.inv(left.whiten)
    return Term(
        candidate.features,
        effects / spread,
        directions @ optimism @ unwhiten.T / spread[:, None],
    )
