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
    Members = tuple[int, ...]

SWEEPS = 25
"""Rounds of fitting."""


def each_set(
    tables: Floats,
    smaller: Floats,
    cards: NDArray[np.int64],
    size: int,
    make: Callable[[Floats, list[Floats], Members], Floats],
) -> Floats:
    """What a function makes of the table of every set of a size, and of the tables of its parts.

    `make` takes a table with an axis a feature and one of classes, those of its parts in the order
    of the feature that each lacks, and the features of the set. The part of a single feature is the
    classes.
    """
    subsets = level(len(cards), size)
    starts = table_starts(subsets, cards)
    ends, places = np.array([0, 1]), np.zeros((1, len(subsets)), dtype=np.int64)
    if size > 1:
        ends = table_starts(level(len(cards), size - 1), cards)
        places = np.array([rank(np.delete(subsets, lacks, axis=1)) for lacks in range(size)])
    first, last = ends[places].T.tolist(), ends[places + 1].T.tolist()
    made = np.empty(tables.shape)
    for number, subset in enumerate(subsets.tolist()):
        shape = tuple(cards[subset].tolist())
        parts = [
            smaller[start:end].reshape(*shape[:lacks], *shape[lacks + 1 :], -1)
            for lacks, (start, end) in enumerate(zip(first[number], last[number], strict=True))
        ]
        lines = slice(starts[number], starts[number + 1])
        found = make(tables[lines].reshape(*shape, -1), parts, tuple(subset))
        made[lines] = found.reshape(-1, tables.shape[1])
    return made


def each_size(
    by_class: Floats,
    tables: list[Floats],
    cards: NDArray[np.int64],
    make: Callable[[Floats, list[Floats], Members], Floats],
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
