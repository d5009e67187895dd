"""Pairs and triples that explain more together than one beside the other, as further columns.

Step 4 of docs/explanation/population.md. What stands out is then treated as features are: pooled
over subgroups, completed where it was not recorded, and part of every set that holds its features.
"""

from collections.abc import Sequence
from math import comb
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from misfeat.estimation import interaction_kernels
from misfeat.estimation.covariance_scores import (
    POOL_RIDGE,
    Whitened,
    set_columns,
    slopes_of,
    whitening,
)
from misfeat.estimation.covariance_sources import Source, cells_within
from misfeat.estimation.moments import Moments, Term, recorded_all
from misfeat.lattice.levels import level
from misfeat.runtime.array_types import Floats, Indices, Integers

FALSE_TERMS = 0.05  # pairs (triples) of a table without interactions that pass for one
MARGIN = 0.8  # allows for the tails of the normal distribution
LEAST_DEVIATIONS = {2: 4.5, 3: 5.5}  # by which an interaction of two or three features stands out
MOST_TERMS = {2: 24, 3: 8}  # interactions of two and three features that become columns
LEAST_EFFECT = 0.003  # interactions that explain a smaller share of the target's variance do not
MOST_DIRECTIONS = 2  # columns of an interaction, where the target has several
LEAST_DIRECTION = 0.01  # of the largest one: smaller ones are rounding
MOST_WORK = 1.5e8  # triples times rows; beyond, only triples of features in the strongest pairs
NUMBERS_AT_ONCE = 2**21  # counts of tables that are made together
LEAST_ROWS_PER_CELL = 2  # sets with fewer rows a cell say nothing about interactions


class _Fit(NamedTuple):
    """Tables of sets that some subgroups recorded, and their additive parts."""

    counts: Floats  # by set, subgroup, cell and class, in line
    fitted: Floats  # (cells of all sets, n_targets): what additive parts give
    targets: Floats  # (n_classes, n_targets): the whitened target of every class
    n_fitted: Indices  # (n_sets,): columns of the additive parts
    whiten: Floats  # what whitened the target


def find_terms(table: Source, moments: Moments) -> Moments:
    """Moments with columns for the interactions of two and three features that stand out."""
    terms: tuple[Term, ...] = ()
    hidden, plain = ~moments.recorded, moments.own
    strongest: list[int] = []
    for size in (2, 3):
        if min(moments.n_features, table.largest_set) < size or moments.n_targets == 0:
            break
        sets = _sets_to_try(moments, table, size, strongest)
        sets, deviations, effects = _candidates(table, moments, sets.astype(np.int64))
        strongest = list(dict.fromkeys(sets.ravel().tolist()))
        expected = NormalDist().inv_cdf(FALSE_TERMS / max(len(sets), 1))
        least = max(LEAST_DEVIATIONS[size], MARGIN - expected)
        most = min(MOST_TERMS[size], int((deviations > least).sum()))
        outstanding = zip(sets[:most].tolist(), effects[:most].tolist(), strict=True)
        new = [_term(table, moments, tuple(members), effect) for members, effect in outstanding]
        if any(new):
            terms = (*terms, *filter(None, new))
            moments = table.moments(terms, plain).hidden(hidden)
    return moments


def _sets_to_try(moments: Moments, table: Source, size: int, strongest: Sequence[int]) -> Indices:
    """All sets of a size, or those of the features in the strongest pairs."""
    n_features, n_rows = moments.n_features, table.work
    if size == 2 or comb(n_features, size) * n_rows <= MOST_WORK:
        return level(n_features, size)
    chosen = len(strongest)
    while chosen > size and comb(chosen, size) * n_rows > MOST_WORK:
        chosen -= 1
    return np.sort(np.array(strongest[:chosen]))[level(chosen, size)]


def _candidates(table: Source, moments: Moments, sets: Integers) -> tuple[Indices, Floats, Floats]:
    """Sets whose cells say more than additive parts, most first; deviations from 0, and U."""
    recorded = recorded_all(moments.recorded, sets) & table.shows_interactions[:, None]
    n_cells = table.cards[sets].prod(axis=1)
    enough = n_cells * LEAST_ROWS_PER_CELL <= moments.rows @ recorded
    which = np.zeros(len(sets), dtype=np.int64)
    for line in recorded:  # the same number for sets that the same subgroups have
        which = np.unique(2 * which + line, return_inverse=True)[1]
    parts, statistics = [sets[:0]], [np.empty((0, 2))]
    order = np.argsort(which, kind="stable")
    for chosen in np.split(order, np.flatnonzero(np.diff(which[order])) + 1):
        cohorts, chosen = np.flatnonzero(recorded[:, chosen[:1]]), chosen[enough[chosen]]
        if not len(cohorts) or not len(chosen):
            continue
        numbers = np.cumsum(n_cells[chosen]) * len(cohorts) * table.by_class.shape[1]
        ends = np.flatnonzero(np.diff(numbers // NUMBERS_AT_ONCE)) + 1
        for some in np.split(sets[chosen], ends):
            parts.append(some)
            statistics.append(np.empty((len(some), 2)))
            fit = _fit(table, moments, some.astype(np.int64, copy=False), cohorts)
            interaction_kernels.interaction_statistics(some, table.cards, *fit[:4], statistics[-1])
    sets, (effects, deviations) = np.concatenate(parts), np.concatenate(statistics).T
    shown = np.flatnonzero(deviations > 0)
    sets, effects = sets[shown], effects[shown]
    deviations = effects / deviations[shown]
    order = np.lexsort((*sets.T[::-1], -deviations))
    return sets[order], deviations[order], effects[order]


def _fit(table: Source, moments: Moments, sets: Integers, cohorts: Integers) -> _Fit:
    """Count the tables of sets, and fit their additive parts, terms of pairs last."""
    columns, n_targets, cards = set_columns(moments, sets), moments.n_targets, table.cards
    # The mean covariance of these columns and the target's: of all it takes most of the time.
    width, there = moments.own.shape[-1], columns.columns >= 0
    shown = np.append(np.unique(columns.columns[there]), np.arange(width - n_targets, width))
    rows, own = moments.rows[cohorts], moments.own[np.ix_(cohorts, shown, shown)]
    pooled = np.tensordot(rows / rows.sum(), own, 1)
    columns = columns._replace(columns=np.where(there, np.searchsorted(shown, columns.columns), -1))
    whiten = whitening(pooled[-n_targets:, -n_targets:])
    targets = np.eye(table.by_class.shape[1])[:, table.classes_shown] @ whiten.T
    slopes = slopes_of(Whitened(pooled, pooled[:, -n_targets:] @ whiten.T), columns, POOL_RIDGE)
    starts = np.concatenate([[0], np.cumsum(cards[sets].prod(axis=1))])
    fitted = np.zeros((int(starts[-1]), n_targets))
    interaction_kernels.add_main_effects(sets, cards, table.usual, slopes, fitted)
    first = (cards[sets] - 1).sum(axis=1)
    for term in moments.terms:
        n_columns = term.effects.shape[1]
        held = [(sets == feature).any(axis=1) for feature in term.features]
        for s in np.flatnonzero(np.logical_and.reduce(held)):
            added = term.effects @ slopes[s, first[s] : first[s] + n_columns]
            cells = cells_within(cards, sets[s].tolist(), term.features)
            fitted[starts[s] : starts[s + 1]] += added[cells]
            first[s] += n_columns
    n_fitted = (columns.columns >= 0).sum(axis=1)
    return _Fit(
        table.counts(sets, cohorts), fitted, np.ascontiguousarray(targets), n_fitted, whiten
    )


def _term(table: Source, moments: Moments, features: tuple[int, ...], effect: float) -> Term | None:
    """The effects of a set's cells, shrunk by their noise, as columns of about unit range."""
    recorded = recorded_all(moments.recorded, features)
    cohorts = np.flatnonzero(recorded & table.shows_interactions)
    fit = _fit(table, moments, np.array([features]), cohorts)
    tables = fit.counts.reshape(len(cohorts), len(fit.fitted), -1)
    n_rows, sums, squares = interaction_kernels.residual_sums(tables, fit.fitted, fit.targets)
    whole = n_rows.sum()
    variance = squares.sum(axis=0) / whole  # of one row, a number a target column
    per_target = effect / (whole * sums.shape[1])
    if per_target <= LEAST_EFFECT:
        return None
    shrunk = n_rows / (n_rows + variance.mean() / per_target)
    effects = sums / np.maximum(n_rows, 1.0)[:, None] * shrunk[:, None]
    several = max(int((n_rows > 1.0).sum()), 1)
    n_free = max(several - 1 - int(fit.n_fitted[0]), 0)
    optimism = np.diag(n_free / several * variance * shrunk[n_rows > 0].sum() / whole)
    _, sizes, directions = np.linalg.svd(np.sqrt(n_rows)[:, None] * effects, full_matrices=False)
    # Two flags have one interaction, whatever number of classes: other directions are rounding.
    kept = sizes[: min(MOST_DIRECTIONS, n_free)] > LEAST_DIRECTION * sizes[0]
    # Nor is there more than noise in a direction whose covariance is not beyond its optimism.
    directions = directions[: len(kept)][kept]
    covariances = ((effects @ directions.T) * (sums @ directions.T)).sum(axis=0) / whole
    directions = directions[covariances > np.diag(directions @ optimism @ directions.T)]
    if not len(directions):
        return None
    effects = effects @ directions.T
    spread = 2.0 * np.sqrt((n_rows @ effects**2) / whole)
    unwhiten = np.linalg.inv(fit.whiten)
    return Term(features, effects / spread, directions @ optimism @ unwhiten.T / spread[:, None])
