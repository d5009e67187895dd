"""What a site shares: counts by the codebook, and how they were protected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.count_tables import table_starts
from misfeat.lattice import level, rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.sites.codebook import Codebook
    from misfeat.sites.spending import Noise

    Counts = NDArray[np.int64]

TABLES = {"tables2": 2, "tables3": 3}
"""What may be shared: tables of all sets of so many features."""


@dataclass(frozen=True, eq=False)
class Summary:
    """The counts of one site.

    Attributes
    ----------
    site : str
        Its name.
    codebook : Codebook
        How its columns were coded.
    share : {"tables2", "tables3"}
        What is shared.
    recorded : ndarray of bool of shape (n_features,)
        Which features of the codebook the site recorded.
    by_class : ndarray of int64 of shape (n_classes,)
        Rows of every class.
    tables : ndarray of int64 of shape (n_lines, n_classes)
        The tables of all sets of `size` recorded features, laid end to end in the order of ranks.
    smaller : tuple of ndarray of int64 of shape (n_lines, n_classes)
        Of rounded or noisy counts, the tables of smaller sets, from single features on; those of
        exact ones follow from `tables`.
    min_cell : int
        Counts are multiples of this.
    noise : Noise or None
        The noise in all counts, where they have any.
    signed_by : str or None
        The public key of whoever signed the file that it was read from.
    misfeat : str
        The version that made it.
    """

    site: str
    codebook: Codebook
    share: str
    recorded: NDArray[np.bool_]
    by_class: Counts
    tables: Counts
    smaller: tuple[Counts, ...] = ()
    min_cell: int = 1
    noise: Noise | None = None
    signed_by: str | None = None
    misfeat: str = ""

    @property
    def exact(self) -> bool:
        """Whether counts are told as they are."""
        return self.min_cell == 1 and self.noise is None

    @property
    def rows(self) -> int:
        """How many rows the site counted."""
        return int(self.by_class.sum())

    @property
    def size(self) -> int:
        """Features of the sets whose tables are shared; fewer where fewer were recorded."""
        return size_shared(self.share, self.recorded)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that the site recorded."""
        names = [feature.column for feature in self.codebook.features]
        return tuple(name for name, held in zip(names, self.recorded, strict=True) if held)

    @property
    def cards(self) -> NDArray[np.int64]:
        """How many codes each recorded feature has, the one for missing values included."""
        return np.array(self.codebook.cards, dtype=np.int64)[self.recorded]

    def of_sizes(self) -> list[NDArray[np.int64]]:
        """The tables of all sets of 1, 2, … recorded features as they were told."""
        if not self.exact:
            return [*self.smaller, self.tables]
        found = [self.tables]
        for size in range(self.size, 1, -1):
            found.append(margins(found[-1], self.cards, size))
        return found[::-1]


def size_shared(share: str, recorded: NDArray[np.bool_]) -> int:
    """Features of the sets whose tables are shared."""
    return min(TABLES[share], int(recorded.sum()))


def margins(tables: Counts, cards: NDArray[np.int64], size: int) -> Counts:
    """The tables of all sets of one feature less.

    `tables` are those of all sets of a size of 2 at least, in the order of ranks.
    """
    whole, parts = level(len(cards), size), level(len(cards), size - 1)
    starts, ends = table_starts(whole, cards), table_starts(parts, cards)
    found = np.zeros((int(ends[-1]), tables.shape[1]), dtype=tables.dtype)
    done = np.zeros(len(parts), dtype=bool)
    for number, subset in enumerate(whole):
        for member in range(size):
            place = int(rank(np.delete(subset, member)[None])[0])
            if not done[place]:
                table = tables[starts[number] : starts[number + 1]]
                found[ends[place] : ends[place + 1]] = _summed(table, cards[subset], member)
                done[place] = True
    return found


def agree_in_margins(tables: Counts, cards: NDArray[np.int64], size: int) -> bool:
    """Whether tables have the same smaller tables in common wherever they overlap."""
    smaller = margins(tables, cards, size)
    whole, parts = level(len(cards), size), level(len(cards), size - 1)
    starts, ends = table_starts(whole, cards), table_starts(parts, cards)
    for number, subset in enumerate(whole):
        for member in range(size):
            place = int(rank(np.delete(subset, member)[None])[0])
            summed = _summed(tables[starts[number] : starts[number + 1]], cards[subset], member)
            if not np.array_equal(summed, smaller[ends[place] : ends[place + 1]]):
                return False
    return True


def _summed(table: Counts, cards: NDArray[np.int64], member: int) -> Counts:
    """A table with one of its features summed over."""
    summed: Counts = table.reshape(*cards, -1).sum(axis=member)
    return summed.reshape(-1, table.shape[1])
