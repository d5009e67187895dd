"""Count tables of all sets of up to three features by class: what scores need in place of rows.

The tables of all sets of a size are laid end to end in the order of ranks, a line a cell, a column
a class. The values of a set's last feature change fastest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.lattice.levels import level, rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LARGEST = 3
"""Features of the largest sets that tables are held of."""


def table_starts(subsets: NDArray[np.integer], cards: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where the tables of sets start when they are laid end to end, and where the last one ends.

    Examples
    --------
    >>> table_starts(np.array([[0, 1], [0, 2]]), np.array([2, 3, 4])).tolist()
    [0, 6, 14]
    """
    return np.concatenate([[0], np.cumsum(cards[subsets].prod(axis=1))]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class CountTables:
    """Rows by cell and class of all sets of up to three features, in every cohort.

    Attributes
    ----------
    features : tuple of str
        The features.
    categories : tuple of tuple of str
        What the values of each feature mean.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features each cohort never recorded; tables with one of them hold zeros.
    by_class : ndarray of shape (n_cohorts, n_classes)
        Rows of every class.
    singles, pairs, triples : ndarray of shape (n_cohorts, n_lines, n_classes)
        The tables of all sets of one, two and three features; without lines where there are none.
    effective : ndarray of shape (n_cohorts, 3) or None
        Where counts were made less exact on purpose: how many rows, counted exactly, would tell as
        much about sets of one, two and three features. None: the rows that were counted.
    bias : ndarray of shape (n_cohorts, 3, 2) or None
        And how much too high scores above chance are then, for every nat, and every square of a
        nat, that chance alone gives a set. None: nothing.
    noise : ndarray of shape (n_cohorts,) or None
        And how many times as noisy as exact ones the counts of the largest sets are.
    """

    features: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    missing: NDArray[np.bool_]
    by_class: Floats
    singles: Floats
    pairs: Floats
    triples: Floats
    effective: Floats | None = None
    bias: Floats | None = None
    noise: Floats | None = None

    @property
    def protected(self) -> bool:
        """Whether some counts were made less exact on purpose."""
        return self.effective is not None

    @property
    def largest(self) -> int:
        """Features of the largest sets that tables are held of."""
        held = [size for size in range(1, LARGEST + 1) if self.of_size(size).shape[1]]
        return max(held, default=0)

    def of_size(self, size: int) -> Floats:
        """The tables of all sets of a size."""
        return (self.singles, self.pairs, self.triples)[size - 1]

    def rows_worth(self, size: int) -> Floats:
        """How many exactly counted rows of every cohort would tell as much about sets of a size."""
        if self.effective is None or size == 0:
            rows: Floats = self.by_class.sum(axis=1)
            return rows
        return self.effective[:, min(size, LARGEST) - 1]

    @property
    def cards(self) -> NDArray[np.int64]:
        """How many values each feature has."""
        return np.array([len(labels) for labels in self.categories], dtype=np.int64)

    def starts(self, size: int) -> NDArray[np.int64]:
        """The first line of every set's table, and the end of the last."""
        return table_starts(level(len(self.features), size), self.cards)

    def of(self, cohort: int, members: Any) -> Floats:
        """The table of one set in one cohort."""
        place = int(rank(np.asarray([members]))[0])
        first, last = self.starts(len(members))[place : place + 2]
        return self.of_size(len(members))[cohort, first:last]
