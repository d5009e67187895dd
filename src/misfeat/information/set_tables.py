"""Tables of counts of many feature sets, of the target as it was recorded and as it was dealt out.

Rows with the same features are one line, with the rows of every class for every deal beside each
other. The table of a set is the sum of the lines of each of its cells: a product with a matrix that
has a single one in every column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_matrix

from misfeat.information.dealing_weights import design_effect, one_by_one
from misfeat.information.prepared import prepare_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort

    Floats = NDArray[np.float64]

LARGEST_LINES = 2**24
"""Numbers in the lines of deals that are held at once: 128 MiB."""
LARGEST_STACK = 2**20
"""Numbers in the tables that are made at once, about: 8 MiB."""


@dataclass(frozen=True, eq=False)
class DealtLines:
    """Lines of a cohort: distinct combinations of features, and the rows of each by deal and class.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_lines)
        One line per recorded feature.
    cards : ndarray of int64 of shape (n_features,)
        How many codes each has.
    positions : ndarray of int64
        The place of every feature of the table among those recorded; -1 where it was not.
    rows : ndarray of shape (n_lines, n_deals, n_classes)
        Rows, or what they weigh.
    """

    codes: NDArray[np.integer]
    cards: NDArray[np.int64]
    positions: NDArray[np.int64]
    rows: Floats

    @property
    def n_deals(self) -> int:
        """How many deals there are."""
        return int(self.rows.shape[1])

    def tables(self, subsets: NDArray[np.integer]) -> Iterator[tuple[slice, Floats]]:
        """Tables of sets of one size, all of whose features were recorded, a stack at a time.

        Which of the sets, and their tables, of shape (n_sets, n_deals, n_cells, n_classes); filled
        up with cells without rows.
        """
        own = self.positions[subsets]
        n_lines, (n_deals, n_classes) = self.codes.shape[1], self.rows.shape[1:]
        flat = self.rows.reshape(n_lines, -1)
        cells = np.minimum(self.cards[own].prod(axis=1, dtype=np.float64), n_lines)
        for first, last in _stacks(cells * flat.shape[1]):
            some = own[first:last]
            numbered = [_cells(self.codes[members], self.cards[members]) for members in some]
            most = max(int(cell.max(initial=0)) + 1 for cell in numbered)
            found = np.empty((last - first, most, flat.shape[1]))
            ones, ends = np.ones(n_lines), np.arange(n_lines + 1)
            for place, cell in enumerate(numbered):
                found[place] = csc_matrix((ones, cell, ends), shape=(most, n_lines)) @ flat
            apart = found.reshape(last - first, most, n_deals, n_classes)
            yield slice(first, last), np.ascontiguousarray(apart.transpose(0, 2, 1, 3))


class DealtRows:
    """The rows of a cohort one by one, whose classes can be dealt out anew.

    Deals have numbers, each with a chance of its own, whatever else is dealt. Number 0 is the
    target as it was recorded.

    Where there are strata, a number for every distinct row, classes stay among rows of the same
    one.
    """

    def __init__(
        self,
        cohort: Cohort,
        seed: np.random.SeedSequence,
        strata: NDArray[np.integer] | None = None,
    ) -> None:
        rows = prepare_rows(cohort)
        if cohort.effective is None:
            unit = np.repeat(np.arange(rows.n_rows), rows.weights)
            weights = np.ones(len(unit))
        else:
            alone, unit = one_by_one(rows, cohort)
            weights = alone.weights * (cohort.effective_size / alone.weights.sum())
        lines, line_of = np.unique(rows.codes, axis=1, return_inverse=True)
        self._lines = DealtLines(lines, rows.cardinalities, rows.positions, np.zeros((0, 0, 0)))
        self._line = line_of.reshape(-1)[unit]
        self._target, self._weights = cohort.target[unit].astype(np.int64), weights
        self._n_classes, self._seed = cohort.n_classes, seed
        self._strata = None if strata is None else np.asarray(strata)[unit]
        self.effect = design_effect(cohort)
        self.n_rows = cohort.effective_size
        self.by_class = np.bincount(self._target, weights, cohort.n_classes)

    def deals(self, numbers: Sequence[int]) -> DealtLines:
        """The lines of some deals, by their numbers."""
        n_lines = self._lines.codes.shape[1]
        rows = np.empty((n_lines, len(numbers), self._n_classes))
        for place, number in enumerate(numbers):
            keys = self._line * self._n_classes + self._dealt(number)
            counts = np.bincount(keys, self._weights, n_lines * self._n_classes)
            rows[:, place] = counts.reshape(n_lines, self._n_classes)
        return replace(self._lines, rows=rows)

    def stretches(self, n_deals: int) -> Iterator[tuple[slice, DealtLines]]:
        """The first deals, as many at a time as take little memory: which, and their lines."""
        numbers = self._lines.codes.shape[1] * self._n_classes
        together = max(1, LARGEST_LINES // max(numbers, 1))
        for first in range(0, n_deals, together):
            some = range(first, min(first + together, n_deals))
            yield slice(some.start, some.stop), self.deals(some)

    def _dealt(self, number: int) -> NDArray[np.int64]:
        """The class of every row in one deal."""
        if number == 0:
            return self._target
        key = (*self._seed.spawn_key, number)
        rng = np.random.default_rng(np.random.SeedSequence(self._seed.entropy, spawn_key=key))
        if self._strata is None:
            return rng.permutation(self._target)
        dealt = np.empty_like(self._target)
        order = np.lexsort((rng.random(len(dealt)), self._strata))
        dealt[np.argsort(self._strata, kind="stable")] = self._target[order]
        return dealt


def _stacks(numbers: Floats) -> Iterator[tuple[int, int]]:
    """Stretches of sets whose tables, all as large as the largest, hold so many numbers at most."""
    first, largest = 0, 0.0
    for place, own in enumerate(numbers.tolist()):
        largest = max(largest, own)
        if place > first and largest * (place + 1 - first) > LARGEST_STACK:
            yield first, place
            first, largest = place, own
    if len(numbers):
        yield first, len(numbers)


def _cells(codes: NDArray[np.integer], cards: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cell of every line; where there are more cells than lines, those that hold one."""
    cells, most = np.zeros(codes.shape[1], dtype=np.int64), 1
    for line, card in zip(codes, cards.tolist(), strict=True):
        cells, most = cells * card + line, most * card
        if most > len(cells):
            held, cells = np.unique(cells, return_inverse=True)
            cells, most = cells.reshape(-1), len(held)
    return cells
