"""Count tables of all sets of up to three features by class: what scores need in place of rows.

The tables of all sets of a size are laid end to end in the order of ranks, a line a cell, a column
a class. The values of a set's last feature change fastest. Where not even tables are at hand, there
are the scores of these sets alone.
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


class _OfUpToThree:
    """What is held of all sets of up to three features, size by size."""

    by_class: Floats
    singles: Floats
    pairs: Floats
    triples: Floats
    effective: Floats | None

    @property
    def largest(self) -> int:
        """Features of the largest sets that something is held of."""
        held = [size for size in range(1, LARGEST + 1) if self.of_size(size).shape[1]]
        return max(held, default=0)

    def of_size(self, size: int) -> Floats:
        """What is held of all sets of a size."""
        return (self.singles, self.pairs, self.triples)[size - 1]

    def rows_worth(self, size: int) -> Floats:
        """How many exactly counted rows of every cohort would tell as much about sets of a size."""
        if self.effective is None or size == 0:
            rows: Floats = self.by_class.sum(axis=1)
            return rows
        return self.effective[:, min(size, LARGEST) - 1]


@dataclass(frozen=True, eq=False)
class CountTables(_OfUpToThree):
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
    variance : ndarray of shape (n_cohorts, 3) or None
        And how many times as large the variance of scores of sets that tell nothing is; with noise,
        for so few rows: less than 1 where noise leaves some cells without any.
    noise : ndarray of shape (n_cohorts,) or None
        And how many times as noisy as exact ones the counts of the largest sets are.
    as_few : ndarray of bool of shape (n_cohorts,) or None
        Which cohorts have noise in their counts: their scores are as uncertain as those of so few
        rows, whatever they tell; of others, `variance` says all. None: no cohort.
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
    variance: Floats | None = None
    noise: Floats | None = None
    as_few: NDArray[np.bool_] | None = None

    @property
    def protected(self) -> bool:
        """Whether some counts were made less exact on purpose."""
        return self.effective is not None

    def rows_counted(self, size: int) -> Floats:
        """As many rows of every cohort as make scores of a size as uncertain as they are."""
        rows: Floats = self.by_class.sum(axis=1)
        return rows if self.as_few is None else np.where(self.as_few, self.rows_worth(size), rows)

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


@dataclass(frozen=True, eq=False)
class ScoresAlone(_OfUpToThree):
    """Scores above chance of all sets of up to three features, in every cohort.

    Attributes
    ----------
    features : tuple of str
        The features.
    cards : ndarray of int64 of shape (n_features,)
        How many values each feature has.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features each cohort never recorded.
    by_class : ndarray of shape (n_cohorts, n_classes)
        Rows of every class.
    singles, pairs, triples : ndarray of shape (n_cohorts, n_sets)
        Scores in nats, in the order of ranks; NaN where a cohort did not record a set, and without
        columns where there are none.
    steps : ndarray of shape (n_cohorts,)
        What scores were rounded to.
    effective : ndarray of shape (n_cohorts, 3) or None
        As in `CountTables`, where scores come from counts that were made less exact on purpose.
    noisy : ndarray of bool of shape (n_cohorts,) or None
        Which cohorts' scores come from counts with noise. None: no cohort's.
    """

    features: tuple[str, ...]
    cards: NDArray[np.int64]
    missing: NDArray[np.bool_]
    by_class: Floats
    singles: Floats
    pairs: Floats
    triples: Floats
    steps: Floats
    effective: Floats | None = None
    noisy: NDArray[np.bool_] | None = None
