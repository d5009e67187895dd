"""Tables fitted to smaller ones: a set's table to those of all sets of one feature less.

Iterative proportional fitting: scale a table so that its sums over each feature in turn are those
wanted, again and again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.count_tables import table_starts
from misfeat.lattice import level, rank
from misfeat.sites.kernels.raking import rake

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SWEEPS = 25
"""Rounds of fitting."""


def each_set(
    tables: Floats,
    smaller: Floats,
    cards: NDArray[np.int64],
    size: int,
    make: Callable[[Floats, list[Floats], str], Floats],
) -> Floats:
    """What a function makes of the table of every set of a size, and of the tables of its parts.

    `make` takes a table with an axis a feature and one of classes, those of its parts in the order
    of the feature that each lacks, and the name of the set. The part of a single feature is the
    classes.
    """
    subsets = level(len(cards), size)
    starts = table_starts(subsets, cards)
    ends = table_starts(level(len(cards), size - 1), cards) if size > 1 else np.array([0, 1])
    made = np.empty(tables.shape)
    for number, subset in enumerate(subsets):
        parts = []
        for member in range(size):
            rest = np.delete(subset, member)
            place = int(rank(rest[None])[0]) if size > 1 else 0
            shape = (*cards[rest], tables.shape[1])
            parts.append(smaller[ends[place] : ends[place + 1]].reshape(shape))
        table = tables[starts[number] : starts[number + 1]].reshape(*cards[subset], -1)
        found = make(table, parts, "-".join(map(str, subset)))
        made[starts[number] : starts[number + 1]] = found.reshape(-1, tables.shape[1])
    return made


def members_of(name: str) -> tuple[int, ...]:
    """The features of a set by the name that `each_set` gives it.

    Examples
    --------
    >>> members_of("0-3-12")
    (0, 3, 12)
    """
    return tuple(map(int, name.split("-")))


def each_size(
    by_class: Floats,
    tables: list[Floats],
    cards: NDArray[np.int64],
    make: Callable[[Floats, list[Floats], str], Floats],
) -> list[Floats]:
    """The same for all sizes from 1 on, parts being what was made of the size below."""
    smaller, found = by_class[None], []
    for size, table in enumerate(tables, start=1):
        smaller = each_set(table, smaller, cards, size, make)
        found.append(smaller)
    return found


def restricted(
    tables: list[Floats], cards: NDArray[np.int64], some: NDArray[np.int64]
) -> list[Floats]:
    """The tables of all sets of some features.

    Examples
    --------
    >>> singles = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> restricted([singles], np.array([2, 3]), np.array([1]))[0].ravel().tolist()
    [3.0, 4.0, 5.0]
    """
    found = []
    for size, held in enumerate(tables[: len(some)], start=1):
        starts = table_starts(level(len(cards), size), cards)
        places = rank(some[level(len(some), size)])
        found.append(np.concatenate([held[starts[p] : starts[p + 1]] for p in places]))
    return found


def raked(table: Floats, parts: list[Floats], sweeps: int = SWEEPS) -> Floats:
    """A table scaled until its sums over each feature are those of its parts.

    Parts lack the first feature, the second, and so on.

    Examples
    --------
    >>> table = np.array([[[1.0], [1.0]], [[1.0], [3.0]]])
    >>> raked(table, [np.array([[4.0], [6.0]]), np.array([[5.0], [5.0]])])[:, :, 0].round(2)
    array([[2.64, 2.36],
           [1.36, 3.64]])
    """
    cards = np.array(table.shape[:-1], dtype=np.int64)
    fitted = np.array(table, dtype=np.float64).reshape(-1)
    wanted = np.concatenate([np.ravel(part) for part in parts]).astype(np.float64)
    rake(fitted, cards, table.shape[-1], wanted, sweeps)
    return fitted.reshape(table.shape)
