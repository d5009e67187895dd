"""Steps A, B3 and C for subsets of three or more of which a cohort lacks some members."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.kernels.expectation import note_score
from misfeat.completion.transfer.kernels.fitting import (
    FITTING_SWEEPS,
    donors_mean,
    fit_conditional,
)
from misfeat.completion.transfer.kernels.smoothing import smoothed_triple
from misfeat.completion.transfer.kernels.splits import (
    cohorts_lacking,
    parts_of,
    recorded_rows,
    split_of,
)
from misfeat.completion.transfer.kernels.tables import donors_of, in_lanes
from misfeat.runtime.compilation import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.transfer.kernels.expectation import Completed, Poisson
    from misfeat.completion.transfer.kernels.smoothing import Smoothed
    from misfeat.completion.transfer.kernels.tables import Rows


class Evidence(NamedTuple):
    """What sets are completed from.

    Attributes
    ----------
    rows : Rows
        The rows of all cohorts.
    pairs : Smoothed
        The donors' smoothed tables of pairs.
    joint : bool
        Whether donors' own tables of the whole set are used; for triples only.
    margins : ndarray of shape (n_cohorts, n_features, most_categories, n_classes)
        p̂(q|y) of features that were not recorded.
    kept : tuple of Completed
        Completed singles, pairs, and triples, these without lines where they are not kept.
    members : ndarray of int64 of shape (n_parts, 2 or 3)
        Which members of a set the pairs or triples are that it is fitted to.
    poisson : Poisson
        Means of n log n.
    """

    rows: Rows
    pairs: Smoothed
    joint: bool
    margins: NDArray[np.float64]
    kept: tuple[Completed, Completed, Completed]
    members: NDArray[np.int64]
    poisson: Poisson


@compiled
def complete_sets(subsets, evidence, first, last, completed):
    """Steps A (where `joint`), B3 and C for the sets first to last, where a member is lacking.

    The tables of the cohorts that recorded all members are counted before.
    """
    rows = evidence.rows
    for s in range(first, last):
        subset = subsets[s]
        donors, donated = _donated(s, subset, evidence, completed)
        for pattern in range(1, 2 ** len(subset)):
            lacking = cohorts_lacking(subset, pattern, rows.missing)
            if not len(lacking):
                continue
            split = split_of(subset, rows.cards[subset], pattern)
            mean = donors_mean(donated, rows.sizes[donors], split.cards, split.o_strides, split.n_o)
            for i in lacking:
                _complete_set(i, s, split, mean, evidence, completed)


@compiled
def _donated(s, subset, evidence, completed):
    """Step A: the donors of a set and their smoothed tables, none where they are of no use."""
    rows = evidence.rows
    donors = donors_of(subset, rows.missing)
    if not evidence.joint or len(donors) == len(rows.missing):
        donors = donors[:0]
    n_cells = rows.cards[subset].prod()
    counts = in_lanes(completed.tables, donors, completed.starts[s], n_cells)
    if not len(donors):
        return donors, counts
    return donors, smoothed_triple(rows, subset, donors, evidence.pairs, counts)


@compiled
def _complete_set(i, s, split, mean, evidence, completed):
    """Steps B3 and C for one set of cohort i."""
    seen, own = recorded_rows(i, evidence.rows, split, evidence.kept)
    shares = _product_of_margins(evidence.margins[i], split, len(seen))
    if len(mean.average):
        _start_from_donors(shares, mean, split, seen)
    parts = parts_of(i, split, seen, evidence.kept, evidence.members)
    if len(parts.sizes):
        once = len(parts.sizes) + (len(split.recorded) >= 2) <= 1
        fit_conditional(shares, own, parts, 1 if once else FITTING_SWEEPS)
    note_score(i, s, shares, own, evidence.poisson, completed)
    completed.informed[i, s] = len(mean.average) > 0 or len(parts.sizes) > 0
    _keep(completed.tables[i, completed.starts[s] :], shares, own, split, seen)


@compiled
def _product_of_margins(margins, split, n_o):
    """P0 = Π p̂(q|y): the unrecorded features independent of all others within every class."""
    n_q, n_classes = len(split.q_digits), margins.shape[2]
    shares = np.empty((n_o, n_q, n_classes))
    for q in range(n_q):
        for y in range(n_classes):
            share = 1.0
            place = 0
            for a in range(len(split.subset)):
                if split.pattern >> a & 1:
                    share *= margins[split.subset[a], split.q_digits[q, place], y]
                    place += 1
            for o in range(n_o):
                shares[o, q, y] = share
    return shares


@compiled
def _start_from_donors(shares, mean, split, seen):
    """P(q|o,y) = Σ_j w_j (T_j(o,q,y) + ε P0) / (T_j(o,y) + ε), the shares being P0."""
    average, of_prior, _ = mean
    for o in range(shares.shape[0]):
        for q in range(shares.shape[1]):
            cell = split.of_o[seen[o]] + split.of_q[q]
            for y in range(shares.shape[2]):
                shares[o, q, y] = average[cell, y] + of_prior[seen[o], y] * shares[o, q, y]


@compiled
def _keep(table, shares, rows, split, seen):
    """Write P(q|o,y) n_i(o,y) as a table of the whole set."""
    for o in range(shares.shape[0]):
        for q in range(shares.shape[1]):
            cell = split.of_o[seen[o]] + split.of_q[q]
            for y in range(shares.shape[2]):
                table[cell, y] = shares[o, q, y] * rows[o, y]
