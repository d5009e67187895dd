"""What is left out of a table to see how far its answers can be trusted: features, and rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from math import comb
from typing import TYPE_CHECKING, cast

import numpy as np

from misfeat.cohorts.features import hide_features, product_sums_without, without_features
from misfeat.cohorts.weights import reweighted
from misfeat.information.grids import information_of
from misfeat.lattice import level, rank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion import CompletedScores, Known

    Flags = NDArray[np.bool_]

FEWEST_ROWS = 4
"""A cohort with fewer rows cannot be halved."""
MOST_JUDGED = 60_000
"""Sets, over all cohorts, up to which answers for all of them are made again and compared."""
BEST_SHARE = 0.5
"""The share of the features to judge that are those of the best-looking sets."""


def features_to_judge(
    shown: CompletedScores, n_features: int, rng: np.random.Generator, most: int = MOST_JUDGED
) -> NDArray[np.int64] | None:
    """Features whose sets are few enough to be answered for again and again; None: all of them.

    Half of them are those of the sets that look best anywhere, so that what competes for the first
    places does so here, too. The other half is drawn from the rest. Numbers ascend.
    """
    (n_cohorts, _), size = shown.score.shape, shown.subsets.shape[1]
    n_kept = n_features
    while n_kept > size + 1 and comb(n_kept, size) * n_cohorts > most:
        n_kept -= 1
    if n_kept == n_features:
        return None
    best = shown.score.max(axis=1, keepdims=True)
    told = (shown.score / np.where(best > 0, best, 1.0)).max(axis=0)
    of_feature = np.zeros(n_features)
    for members in shown.subsets.T:
        np.maximum.at(of_feature, members, told)
    order = np.argsort(-of_feature, kind="stable")
    n_best = round(BEST_SHARE * n_kept)
    drawn = rng.choice(order[n_best:], n_kept - n_best, replace=False)
    return np.sort(np.concatenate([order[:n_best], drawn]))


def with_features(known: Known, kept: NDArray[np.int64]) -> Known:
    """What would be known if the table had some of its features only, given in ascending order."""
    exact, cohorts, sums = known.exact, known.cohorts, known.sums
    left_out = np.setdiff1d(np.arange(exact.missing.shape[1]), kept)
    by_size = [exact.by_size[0]]
    for size, scores in enumerate(exact.by_size[1:], start=1):
        by_size.append(scores[:, rank(kept[level(len(kept), size)])])
    if cohorts is not None:
        cohorts = without_features(cohorts, [cohorts.features[f] for f in left_out])
    if sums is not None:
        sums = product_sums_without(sums, [sums.features[f] for f in left_out])
    return replace(
        known,
        exact=replace(exact, by_size=tuple(by_size), missing=exact.missing[:, kept]),
        cohorts=cohorts,
        sums=sums,
        grids=tuple(with_features(grid, kept) for grid in known.grids),
    )


def patchy_rounds(
    missing: Flags, lacking: Flags, rounds: int, rng: np.random.Generator
) -> Iterator[Flags]:
    """Features to hide, a mask of shape (n_cohorts, n_features) a round.

    Of the features that a cohort recorded as large a share is hidden as it lacks of all, at least
    one. Cohorts take turns, as few a round as let every one have a turn, and the others stay as
    patchy as they are: what is hidden meets the same donors as what is missing. Only features that
    another cohort has left are hidden, and every cohort keeps at least one. `lacking`, of shape
    (n_cohorts,), marks cohorts that something was predicted for; nothing is hidden from others.
    """
    recorded = ~missing
    n_recorded = recorded.sum(axis=1)
    wanted = np.maximum(1, np.round(missing.mean(axis=1) * n_recorded)).astype(int)
    wanted = np.minimum(wanted, n_recorded - 1)
    times_hidden = np.zeros(missing.shape, dtype=int)
    turns = rng.permutation(np.flatnonzero(lacking))
    order = cycle(turns)
    for _ in range(rounds):
        mask = np.zeros_like(missing)
        for cohort in islice(order, -(-len(turns) // rounds)):
            elsewhere = (recorded & ~mask).sum(axis=0) - recorded[cohort]
            able = np.flatnonzero(recorded[cohort] & (elsewhere > 0))
            turn = np.lexsort((rng.random(len(able)), times_hidden[cohort, able]))
            mask[cohort, able[turn[: max(0, wanted[cohort])]]] = True
        times_hidden += mask
        yield mask


def with_hidden(known: Known, mask: Flags) -> Known:
    """What would be known without some features; they are gone from the rows, too."""
    rows = None if known.cohorts is None else hide_features(known.cohorts, mask)
    grids = tuple(with_hidden(grid, mask) for grid in known.grids)
    return replace(known, exact=known.exact.hidden(mask), cohorts=rows, progress=None, grids=grids)


def half_weights(rows: Cohorts | None, rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """How many of the rows that each row stands for are in either half, drawn at random.

    There are no halves where there are no rows, or a cohort has too few of them.
    """
    if rows is None or not can_be_halved(rows):
        return ()
    drawn = np.concatenate(
        [rng.multivariate_hypergeometric(c.weights, c.size // 2, method="marginals") for c in rows]
    )
    return drawn, rows.weights - drawn


def can_be_halved(rows: Cohorts | None) -> bool:
    """Whether there are rows, enough of them in every cohort."""
    return rows is not None and min(cohort.size for cohort in rows) >= FEWEST_ROWS


def half_of(known: Known, weights: NDArray[np.int64]) -> Known:
    """What would be known with so many of the rows that each row stands for."""
    return _scored(known, reweighted(cast("Cohorts", known.cohorts), weights))


def _scored(known: Known, rows: Cohorts) -> Known:
    """The same sets, scored in other rows: above chance, and counted from rows."""
    measure = information_of(rows, above_chance=known.exact.above_chance)
    reach = len(known.exact.by_size) - 1
    by_cohort = [measure.of_levels(i, 0, reach, known.n_jobs) for i in range(len(rows))]
    by_size = tuple(
        np.where(np.isnan(scored), np.nan, np.array(found))
        for scored, found in zip(known.exact.by_size, zip(*by_cohort, strict=True), strict=True)
    )
    exact = replace(known.exact, by_size=by_size, ceiling=measure.ceiling)
    grids = tuple(map(_scored, known.grids, rows.by_grid())) if known.grids else ()
    return replace(known, exact=exact, cohorts=rows, progress=None, grids=grids)
