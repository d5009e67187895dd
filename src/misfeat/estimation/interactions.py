"""Pairs and triples that explain more together than one beside the other, as further columns.

In every cell of a pair (or triple), the mean residual of the target after its additive part is what
only the combination explains. Whether that is more than noise, a U-statistic says,

    U = Σ over cells of [(Σ r)² - Σ r²] / n,      Var U ≈ 2 Σ over cells of (Σ r²)² (n - 1) / n³,

which is 0 on the mean without an interaction, however few rows cells have (step 4 of
docs/explanation/population.md). A pair that stands out among all pairs becomes columns of its own:
its cells' effects, shrunk by their noise. From there on it is treated as features are: pooled over
subgroups, completed where it was not recorded, and part of every set that holds its features.
"""

from __future__ import annotations

from math import comb
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.estimation.additive import (
    POOL_RIDGE,
    Term,
    recorded_all,
    set_columns,
    slopes_of,
    whitened,
    whitening,
)
from misfeat.estimation.kernels import interaction_statistic, residual_sums
from misfeat.estimation.sources import cells_within
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.estimation.additive import Moments
    from misfeat.estimation.sources import Source

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

FALSE_TERMS = 0.05  # pairs (triples) of a table without interactions that pass for one
MARGIN = 0.8  # allows for the tails of the normal distribution
LEAST_DEVIATIONS = {2: 4.5, 3: 5.5}  # by which an interaction of two or three features stands out
MOST_TERMS = {2: 24, 3: 8}  # interactions of two and three features that become columns
LEAST_EFFECT = 0.003  # interactions that explain a smaller share of the target's variance do not
MOST_DIRECTIONS = 2  # columns of an interaction, where the target has several
MOST_WORK = 1.5e8  # triples times rows; beyond, only triples of features in the strongest pairs
LEAST_ROWS_PER_CELL = 2  # sets with fewer rows a cell say nothing about interactions


class _Residuals(NamedTuple):
    """What is left of the target in the cells of a set, after its additive part."""

    n_rows: Floats  # in every cell
    sums: Floats  # of residuals, and of their squares; a column a target column
    squares: Floats
    n_fitted: int  # columns of the additive part
    whiten: Floats  # what whitened the target

    @property
    def variance(self) -> Floats:
        """The residual variance of one row, a number a target column."""
        return np.asarray(self.squares.sum(axis=0) / self.n_rows.sum())


class _Candidate(NamedTuple):
    """A set with what its residuals say: `deviations` from 0, and `effect`, U itself."""

    features: tuple[int, ...]
    deviations: float
    effect: float


def find_terms(table: Source, moments: Moments) -> Moments:
    """Moments with columns for the interactions of two and three features that stand out."""
    terms: tuple[Term, ...] = ()
    hidden = ~moments.recorded
    strongest: list[int] = []
    for size in (2, 3):
        if min(moments.n_features, table.largest_set) < size or moments.n_targets == 0:
            break
        sets = _sets_to_try(moments, table, size, strongest)
        found = _candidates(table, moments, sets)
        found.sort(key=lambda candidate: (-candidate.deviations, candidate.features))
        strongest = list(dict.fromkeys(f for candidate in found for f in candidate.features))
        expected = NormalDist().inv_cdf(FALSE_TERMS / max(len(found), 1))
        least = max(LEAST_DEVIATIONS[size], MARGIN - expected)
        outstanding = [c for c in found[: MOST_TERMS[size]] if c.deviations > least]
        new = [_term(table, moments, candidate) for candidate in outstanding]
        if any(new):
            terms = (*terms, *filter(None, new))
            moments = table.moments(terms).hidden(hidden)
    return moments


def _sets_to_try(
    moments: Moments, table: Source, size: int, strongest: Sequence[int]
) -> NDArray[np.integer]:
    """All sets of a size, or those of the features in the strongest pairs."""
    n_features, n_rows = moments.n_features, table.work
    if size == 2 or comb(n_features, size) * n_rows <= MOST_WORK:
        return level(n_features, size)
    chosen = len(strongest)
    while chosen > size and comb(chosen, size) * n_rows > MOST_WORK:
        chosen -= 1
    return np.sort(np.array(strongest[:chosen]))[level(chosen, size)]


def _candidates(table: Source, moments: Moments, sets: NDArray[np.integer]) -> list[_Candidate]:
    """What the cells of sets say beyond their additive parts, where anything can be said."""
    recorded = recorded_all(moments.recorded, sets) & table.shows_interactions[:, None]
    n_cells = table.cards[sets].prod(axis=1)
    enough = n_cells * LEAST_ROWS_PER_CELL <= moments.rows @ recorded
    patterns, which = np.unique(recorded, axis=1, return_inverse=True)
    found = []
    for number, pattern in enumerate(patterns.T):
        chosen = sets[(which.reshape(-1) == number) & enough]
        cohorts = np.flatnonzero(pattern)
        if not len(cohorts) or not len(chosen):
            continue
        for features, residuals in _residuals(table, moments, chosen, cohorts):
            effect, deviation = interaction_statistic(*residuals[:4])
            if deviation > 0:
                found.append(_Candidate(features, effect / deviation, effect))
    return found


def _residuals(
    table: Source, moments: Moments, sets: NDArray[np.integer], cohorts: Integers
) -> Iterator[tuple[tuple[int, ...], _Residuals]]:
    """What is left of the target in the cells of sets that some subgroups recorded."""
    pooled, n_targets = moments.pooled(cohorts), moments.n_targets
    whiten = whitening(pooled[-n_targets:, -n_targets:])
    targets = np.eye(table.by_class.shape[1])[:, table.classes_shown] @ whiten.T
    columns = set_columns(moments, sets)
    slopes = slopes_of(whitened(pooled, n_targets), columns, POOL_RIDGE)
    for members, own, betas in zip(sets, columns.columns, slopes, strict=True):
        features, n_fitted = tuple(map(int, members)), int((own >= 0).sum())
        fitted = _fitted(table, moments, features, betas[:n_fitted])
        rows, sums, squares = residual_sums(table.counts(features, cohorts), fitted, targets)
        yield features, _Residuals(rows, sums, squares, n_fitted, whiten)


def _fitted(table: Source, moments: Moments, features: tuple[int, ...], slopes: Floats) -> Floats:
    """What a set's additive part, terms last, gives in every cell, (n_cells, n_targets)."""
    first, n_targets = 0, slopes.shape[1]
    fitted = np.zeros((1, n_targets))
    for f in features:
        last = first + table.cards[f] - 1
        values = np.zeros((table.cards[f], n_targets))
        values[np.arange(len(values)) != table.usual[f]] = slopes[first:last]
        fitted = (fitted[:, None] + values).reshape(-1, n_targets)
        first = last
    for term in moments.terms:
        if set(term.features) <= set(features):
            n_columns = term.effects.shape[1]
            added = term.effects @ slopes[first : first + n_columns]
            fitted = fitted + added[cells_within(table.cards, features, term.features)]
            first += n_columns
    return fitted


def _term(table: Source, moments: Moments, candidate: _Candidate) -> Term | None:
    """The effects of a set's cells, shrunk by their noise, as columns of about unit range."""
    recorded = recorded_all(moments.recorded, candidate.features)
    cohorts = np.flatnonzero(recorded & table.shows_interactions)
    ((_, left),) = _residuals(table, moments, np.array([candidate.features]), cohorts)
    n_rows, whole = left.n_rows, left.n_rows.sum()
    per_target = candidate.effect / (whole * left.sums.shape[1])
    if per_target <= LEAST_EFFECT:
        return None
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
        candidate.features, effects / spread, directions @ optimism @ unwhiten.T / spread[:, None]
    )
