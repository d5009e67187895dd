"""Scores of all sets that were worked out elsewhere, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from misfeat.information.count_tables import LARGEST

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoresAlone:
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
        Where scores come from counts with noise: how many rows, counted exactly, would tell as much
        about sets of one, two and three features. None: the rows that were counted.
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

    def rows_worth(self, size: int) -> Floats:
        """How many exactly counted rows of every cohort would tell as much about sets of a size."""
        if self.effective is None:
            rows: Floats = self.by_class.sum(axis=1)
            return rows
        return self.effective[:, min(size, LARGEST) - 1]

    def of_size(self, size: int) -> Floats:
        """The scores of all sets of a size."""
        return (self.singles, self.pairs, self.triples)[size - 1]

    @property
    def largest(self) -> int:
        """Features of the largest sets that there are scores of."""
        held = [size for size in range(1, LARGEST + 1) if self.of_size(size).shape[1]]
        return max(held, default=0)
