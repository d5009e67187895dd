"""Steps A, B3 and C for subsets of three or more of which a cohort lacks some members."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.kernels.completed import note_score
from misfeat.completion.transfer.kernels.fitting import (
    FITTING_SWEEPS,
    Parts,
    donors_mean,
    fit_conditional,
)
from misfeat.completion.transfer.kernels.smoothing import smoothed_triple
from misfeat.completion.transfer.kernels.splits import (
    add_steps,
    cohorts_lacking,
    digits_of,
    recorded_rows,
    split_of,
    whole_cells,
)
from misfeat.completion.transfer.kernels.tables import donors_of, rank_of, strides_of
from misfeat.machine.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.transfer.kernels.completed import Completed
    from misfeat.completion.transfer.kernels.expectation import Poisson
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
    smaller : Completed
        Completed pairs or triples, which sets are fitted to.
    members : ndarray of int64 of shape (n_parts, 2 or 3)
        Which members of a set these are.
    poisson : Poisson
        Means of n log n.
    """

    rows: Rows
    pairs: Smoothed
    joint: bool
    margins: NDArray[np.float64]
    smaller: Completed
    members: NDArray[np.int64]
    poisson: Poisson


@compiled
def complete_sets(subsets, evidence, first, last, completed):
    """Steps A (where `joint`), B3 and C for the sets first to last, where a member is lacking."""
    rows = evidence.rows
    for s in range(first, last):
        subset = subsets[s]
        donors, donated = _donated(subset, evidence)
        for pattern in range(1, 2 ** len(subset)):
            lacking = cohorts_lacking(subset, pattern, rows.missing)
            if not len(lacking):
                continue
            split = split_of(subset, rows.cards[subset], pattern)
            mean = donors_mean(donated, rows.sizes[donors], split.cards, split.o_strides, split.n_o)
            for i in lacking:
                _complete_set(i, s, split, mean, evidence, completed)


@compiled
def _donated(subset, evidence):
    """Step A: the donors of a set and their smoothed tables, none where they are of no use."""
    rows = evidence.rows
    donors = donors_of(subset, rows.missing)
    if not evidence.joint or len(donors) == len(rows.missing):
        donors = donors[:0]
    if not len(donors):
        return donors, np.empty((0, 0, rows.by_class.shape[1]))
    return donors, smoothed_triple(rows, subset, donors, evidence.pairs)


@compiled
def _complete_set(i, s, split, mean, evidence, completed):
    """Steps B3 and C for one set of cohort i."""
    seen, own = recorded_rows(i, evidence.rows, split)
    o_digits = digits_of(seen, split.o_cards)
    shares = _product_of_margins(evidence.margins[i], split, len(seen))
    if len(mean.average):
        _start_from_donors(shares, mean, split, seen, o_digits)
    parts = _parts_of(i, split, o_digits, evidence)
    if len(parts.starts):
        once = len(parts.starts) + (o_digits.shape[1] >= 2) <= 1
        fit_conditional(shares, own, parts, 1 if once else FITTING_SWEEPS)
    note_score(i, s, shares, own, evidence.poisson, completed)
    completed.informed[i, s] = len(mean.average) > 0 or len(parts.starts) > 0
    if completed.tables.shape[1]:
        _keep(completed.tables[i, completed.starts[s] :], shares, own, split, o_digits)


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
def _start_from_donors(shares, mean, split, seen, o_digits):
    """P(q|o,y) = Σ_j w_j (T_j(o,q,y) + ε P0) / (T_j(o,y) + ε), the shares being P0."""
    average, of_prior, _ = mean
    of_o, of_q = whole_cells(split, o_digits)
    for o in range(shares.shape[0]):
        for q in range(shares.shape[1]):
            cell = of_o[o] + of_q[q]
            for y in range(shares.shape[2]):
                shares[o, q, y] = average[cell, y] + of_prior[seen[o], y] * shares[o, q, y]


@compiled
def _parts_of(i, split, o_digits, evidence):
    """The parts of a set that cohort i has an informed table of."""
    smaller, members = evidence.smaller, evidence.members
    n_parts, part_size = members.shape
    starts, n_cells = np.empty(n_parts, np.int64), np.empty(n_parts, np.int64)
    o_steps = np.zeros((n_parts, len(o_digits)), np.int64)
    q_steps = np.zeros((n_parts, len(split.q_digits)), np.int64)
    strides = np.empty(part_size, np.int64)
    many = 0
    for u in range(n_parts):
        rank = rank_of(split.subset[members[u]])
        if smaller.informed[i, rank]:
            starts[many] = smaller.starts[rank]
            n_cells[many] = strides_of(split.cards[members[u]], strides)
            add_steps(split.pattern, members[u], strides, o_digits, False, o_steps[many])
            add_steps(split.pattern, members[u], strides, split.q_digits, True, q_steps[many])
            many += 1
    return Parts(smaller.tables[i], starts[:many], n_cells[:many], o_steps[:many], q_steps[:many])


@compiled
def _keep(table, shares, rows, split, o_digits):
    """Write P(q|o,y) n_i(o,y) as a table of the whole set."""
    of_o, of_q = whole_cells(split, o_digits)
    for o in range(shares.shape[0]):
        for q in range(shares.shape[1]):
            for y in range(shares.shape[2]):
                table[of_o[o] + of_q[q], y] = shares[o, q, y] * rows[o, y]
