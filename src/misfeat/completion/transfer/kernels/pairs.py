"""Steps B2 and C for pairs of which a cohort lacks one or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.kernels.expectation import note_score
from misfeat.completion.transfer.kernels.fitting import donors_mean, rake_pair
from misfeat.completion.transfer.kernels.splits import cohorts_lacking, split_of
from misfeat.completion.transfer.kernels.tables import donors_of, in_lanes
from misfeat.runtime.compilation import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Margins(NamedTuple):
    """How single features are distributed in every cohort.

    Attributes
    ----------
    counts : ndarray of shape (n_cohorts, n_cells, n_classes)
        n_i(x,y) of recorded features, laid end to end.
    starts : ndarray of int64 of shape (n_features,)
        The first line of each feature.
    predicted : ndarray of shape (n_cohorts, n_features, most_categories, n_classes)
        p̂(x|y) of features that were not recorded.
    """

    counts: NDArray[np.float64]
    starts: NDArray[np.int64]
    predicted: NDArray[np.float64]


@compiled
def complete_pairs(rows, pairs, margins, poisson, first, last, completed):
    """Steps B2 and C for the pairs first to last, in every cohort that lacks a member."""
    for s in range(first, last):
        pair, at = pairs.subsets[s], pairs.starts[s]
        cards = rows.cards[pair]
        stop = at + cards[0] * cards[1]
        donors = donors_of(pair, rows.missing)
        donated = in_lanes(pairs.tables, donors, at, stop - at)
        for pattern in range(1, 4):
            lacking = cohorts_lacking(pair, pattern, rows.missing)
            if not len(lacking):
                continue
            split = split_of(pair, cards, pattern)
            mean = donors_mean(donated, rows.sizes[donors], cards, split.o_strides, split.n_o)
            for i in lacking:
                table = completed.tables[i, at:stop]
                own = _pair_table(i, rows, split, mean, margins, table)
                shares = _as_shares(table, own, pattern, cards)
                completed.informed[i, s] = len(donors) > 0
                note_score(i, s, shares, own, poisson, completed)


@compiled
def _pair_table(i, rows, split, mean, margins, table):
    """Step B2: t(q|o,y) n_i(o,y), raked to n_i(a,y) and n_i(b,y) where there are donors.

    Returns n_i(o,y).
    """
    a, b = split.subset
    of_a, of_b = _margin(i, a, rows, margins), _margin(i, b, rows, margins)
    lacks_a, lacks_b = rows.missing[i, a], rows.missing[i, b]
    own = rows.by_class[i : i + 1]
    if not (lacks_a and lacks_b):
        own = of_b if lacks_a else of_a
    predicted_a, predicted_b = margins.predicted[i, a], margins.predicted[i, b]
    for k in range(len(table)):
        x, v, o = k // len(of_b), k % len(of_b), mean.o_cells[k]
        for y in range(table.shape[1]):
            share = 1.0
            if lacks_a:
                share *= predicted_a[x, y]
            if lacks_b:
                share *= predicted_b[v, y]
            if len(mean.average):
                share = mean.average[k, y] + mean.of_prior[o, y] * share
            table[k, y] = share * own[o, y]
    if len(mean.average):
        rake_pair(table, not lacks_b, of_a, of_b)
    return own


@compiled
def _margin(i, f, rows, margins):
    """n_i(f,y): counted, or n_i(y) p̂(f|y)."""
    n, by_class = rows.cards[f], rows.by_class
    if not rows.missing[i, f]:
        return margins.counts[i, margins.starts[f] : margins.starts[f] + n]
    spread = np.empty((n, by_class.shape[1]))
    for x in range(n):
        for y in range(by_class.shape[1]):
            spread[x, y] = margins.predicted[i, f, x, y] * by_class[i, y]
    return spread


@compiled
def _as_shares(table, rows, pattern, cards):
    """A pair's table as P(q|o,y)."""
    n_o, n_classes = rows.shape
    n_q, n_b = len(table) // n_o, cards[1]
    shares = np.empty((n_o, n_q, n_classes))
    for o in range(n_o):
        for q in range(n_q):
            k = q * n_b + o if pattern == 1 else (o * n_b + q if pattern == 2 else q)
            for y in range(n_classes):
                shares[o, q, y] = table[k, y] / rows[o, y] if rows[o, y] > 0 else 0.0
        for y in range(n_classes):
            total = 0.0
            for q in range(n_q):
                total += shares[o, q, y]
            if total > 0:
                for q in range(n_q):
                    shares[o, q, y] /= total
    return shares
