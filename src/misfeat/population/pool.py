"""The pool: what all cohorts together tell about every set, once chance is shrunk away.

The tables of all cohorts are added up, with expected counts for what a cohort did not record, so
that every set is pooled over the same cohorts. Tables of single features are shrunk towards
independence of the target, larger ones towards what the shrunken tables of their parts lead one to
expect. The information of a shrunken table needs no correction for chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.count_tables import table_starts
from misfeat.lattice import rank
from misfeat.population.kernels.shrinking import Parts, Sets, Shrunken, shrink_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LARGEST_PART = 3
"""Larger sets are expected from the tables of their triples, the largest that are kept."""
SWEEPS = 4
"""Rounds of fitting a table to those of its parts."""


@dataclass(frozen=True, eq=False)
class PooledSets:
    """The shrunken tables of sets of one size.

    Attributes
    ----------
    subsets : ndarray of int of shape (n_sets, size)
        The sets; where larger ones are expected from these, all of the size in the order of ranks.
    starts : ndarray of int of shape (n_sets + 1,)
        The first line of each table in `tables`.
    tables : ndarray of shape (n_lines, n_classes)
        A line a cell, cells in the order of their values, the last member's fastest. Without lines
        where tables were not kept.
    kept : ndarray of shape (n_sets, 2)
        The share of what the parts did not explain that each of two turns kept.
    information : ndarray of shape (n_sets,)
        In nats; NaN where no cohort has a row.
    """

    subsets: NDArray[np.int64]
    starts: NDArray[np.int64]
    tables: Floats
    kept: Floats
    information: Floats


def shrink(
    subsets: NDArray[np.integer],
    counts: Floats,
    cards: NDArray[np.integer],
    parts: PooledSets | None = None,
    *,
    keep: bool = True,
) -> PooledSets:
    """Shrink the pooled tables of sets of one size; memory for one set at a time beside the result.

    `counts` are their pooled tables, laid end to end, and `parts` all sets one smaller, or all
    triples for sets of more than three; None for single features.

    Examples
    --------
    >>> feature = shrink(np.array([[0]]), np.array([[30.0, 10.0], [10.0, 30.0]]), np.array([2]))
    >>> feature.information.round(3)
    array([0.12])
    """
    n_sets = len(subsets)
    starts = table_starts(subsets, cards)
    found = Shrunken(
        np.zeros(counts.shape if keep else (0, counts.shape[1])),
        np.zeros((n_sets, 2)),
        np.zeros(n_sets),
    )
    members = subsets.astype(np.int64)
    sets = Sets(members, starts, cards.astype(np.int64))
    counted = np.ascontiguousarray(counts, dtype=np.float64)
    shrink_sets(sets, _parts_of(members, parts), counted, SWEEPS, 0, n_sets, found)
    return PooledSets(members, starts, found.tables, found.kept, found.information)


def joined(stretches: Sequence[PooledSets]) -> PooledSets:
    """Stretches of the sets of one size, one after the other.

    Examples
    --------
    >>> counts = np.array([[30.0, 10.0], [10.0, 30.0]])
    >>> cards = np.array([2, 2])
    >>> both = joined([shrink(np.array([[f]]), counts, cards) for f in range(2)])
    >>> both.subsets.tolist(), both.starts.tolist(), both.information.round(3)
    ([[0], [1]], [0, 2, 4], array([0.12, 0.12]))
    """
    lines = np.concatenate([np.diff(stretch.starts) for stretch in stretches])
    return PooledSets(
        subsets=np.concatenate([stretch.subsets for stretch in stretches]),
        starts=np.concatenate([[0], np.cumsum(lines)]).astype(np.int64),
        tables=np.concatenate([stretch.tables for stretch in stretches]),
        kept=np.concatenate([stretch.kept for stretch in stretches]),
        information=np.concatenate([stretch.information for stretch in stretches]),
    )


def _parts_of(subsets: NDArray[np.int64], parts: PooledSets | None) -> Parts:
    n_sets, size = subsets.shape
    if parts is None:
        none = np.zeros((0, 1), dtype=np.int64)
        no_tables = np.zeros((0, 1))
        return Parts(none, none, np.zeros(1, dtype=np.int64), no_tables, np.zeros((0, 2)))
    members = np.array(list(combinations(range(size), parts.subsets.shape[1])), dtype=np.int64)
    numbers = np.empty((n_sets, len(members)), dtype=np.int64)
    for place, chosen in enumerate(members):
        numbers[:, place] = rank(subsets[:, chosen])
    return Parts(members, numbers, parts.starts, parts.tables, parts.kept)
