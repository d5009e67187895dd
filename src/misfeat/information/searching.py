"""Tasks that search for the sums of subsets depth-first, from a list or through whole levels."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.kernels import depth_first, depth_first_packed
from misfeat.information.kernels.order import list_in_search_order
from misfeat.information.logs import logs_of
from misfeat.lattice.levels import binomials, unrank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from misfeat.information.prepared import PreparedRows
    from misfeat.machine.threads import Task, Work

    Members = NDArray[np.int16]
    Sums = NDArray[np.float64]
    Search = Callable[[Members, NDArray[np.int64], Sums], None]

SEARCHES_A_THREAD = 32
"""Stretches of a search differ in length, so there are many."""
LONGEST_SEARCH = 100_000
"""Subsets of a level that are listed at once."""
FEWEST_VISITS = 200_000
"""Rows times subsets of a stretch: a fraction of a millisecond."""


def listed_tasks(
    rows: PreparedRows, members: Members, sizes: NDArray[np.int64], sums: Sums, work: Work
) -> list[Task]:
    """Tasks that fill `sums` for listed subsets; common beginnings must follow each other."""
    search = _search(rows, int(sizes.max(initial=0)), len(sums))

    def task(first: int, last: int) -> Task:
        return lambda: search(members[first:last], sizes[first:last], sums[:, first:last])

    parts = work.stretches(len(sizes), SEARCHES_A_THREAD, shortest=_shortest(rows))
    return [task(*part) for part in parts]


def level_tasks(rows: PreparedRows, size: int, sums: Sums, work: Work) -> list[Task]:
    """Tasks that fill `sums` for every subset of one size, by rank, listing a stretch at a time."""
    search = _search(rows, size, len(sums))

    def task(first: int, last: int) -> Task:
        def score() -> None:
            # Ranks that follow each other share their largest members, so those come first.
            subsets = unrank(np.arange(first, last), size)[:, ::-1]
            members = np.ascontiguousarray(subsets, dtype=np.int16)
            search(members, np.full(last - first, size, dtype=np.int64), sums[:, first:last])

        return score

    count = comb(rows.n_features, size)
    parts = work.stretches(count, SEARCHES_A_THREAD, LONGEST_SEARCH, _shortest(rows))
    return [task(*part) for part in parts]


def _shortest(rows: PreparedRows) -> int:
    """How many subsets a stretch has at least."""
    return max(1, FEWEST_VISITS // max(rows.n_rows, 1))


def list_levels(
    n_features: int, sizes: Sequence[int]
) -> tuple[Members, NDArray[np.int64], NDArray[np.int64]]:
    """All subsets of successive sizes so that common beginnings follow each other.

    Returns the members, padded; the sizes; and the place of each subset, size by size, by rank.
    """
    low, high = min(sizes), max(sizes)
    total = sum(comb(n_features, m) for m in sizes)
    members = np.empty((total, high), dtype=np.int16)
    lengths, places = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    table = binomials(n_features, high)
    list_in_search_order(n_features, low, high, table, members, lengths, places)
    return members, lengths, places


def _search(rows: PreparedRows, largest: int, n_kinds: int) -> Search:
    """The kernel for these rows: four classes packed into a word, or any number of them."""
    packed = (
        n_kinds == 1
        and rows.counts_rows
        and rows.n_classes <= depth_first_packed.PACKED_CLASSES
        and rows.total < 2**depth_first_packed.PACKED_BITS
    )
    if packed:
        shift = rows.target.astype(np.uint64) * np.uint64(depth_first_packed.PACKED_BITS)
        packed_rows = depth_first_packed.PackedRows(
            codes=rows.codes,
            cardinalities=rows.cardinalities,
            counts=rows.weights.astype(np.uint64) << shift,
            drop_pure=not rows.above_chance,
            logs=logs_of(rows, depth_first_packed.PACKED_CLASSES),
        )

        def search_packed(members: Members, sizes: NDArray[np.int64], sums: Sums) -> None:
            depth_first_packed.score_listed_packed(members, sizes, packed_rows, sums[0])

        return search_packed
    searched_rows = depth_first.SearchedRows(
        codes=rows.codes,
        cardinalities=rows.cardinalities,
        target=rows.target,
        weights=rows.weights,
        n_classes=rows.n_classes,
        n_cells=_cells(rows, largest),
        drop_pure=n_kinds == 1 and not rows.above_chance,
        negligible=1 if n_kinds == 1 else 0,
        lacks_values=rows.lacks_values,
        logs=logs_of(rows, 0),
    )

    def search(members: Members, sizes: NDArray[np.int64], sums: Sums) -> None:
        found = np.zeros((n_kinds, len(sizes)))
        depth_first.score_listed(members, sizes, searched_rows, found)
        sums[:] = found

    return search


def _cells(rows: PreparedRows, size: int) -> int:
    """Cells that a split may touch: the groups that can exist, times the largest cardinality."""
    largest = np.sort(rows.cardinalities)[::-1]
    groups = min(float(rows.n_rows), float(np.prod(largest[: max(size - 1, 0)], dtype=float)))
    return int(max(groups, 1.0) * largest[:1].max(initial=1))
