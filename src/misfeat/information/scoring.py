"""Sums that every score is made of, for all subsets of some sizes or for listed ones.

Small subsets are read off counted blocks, large ones are searched for depth-first, whichever costs
less. Blocks and stretches of a search are independent tasks for threads; each subset is summed by
one of them in one order, so results are the same for any number.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.information.kernels import cube
from misfeat.information.logs import logs_of
from misfeat.information.plan import (
    block_size_for,
    buffer_words,
    cube_plan,
    lanes_of,
    largest_dense_size,
)
from misfeat.information.searching import level_tasks, list_levels, listed_tasks
from misfeat.lattice.levels import rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.information.prepared import PreparedRows
    from misfeat.machine.threads import Task, Work

Sums: TypeAlias = "NDArray[np.float64]"
"""Sums of f, a row a kind, a column a subset."""

WHOLE_LEVEL_SHARE = 0.1
"""Where this share of a level is asked for, scoring all of it costs less than searching."""
LISTED_AT_ONCE = 22
"""Up to so many features, all sizes are searched together, for they share their beginnings."""
TASKS_A_THREAD = 8


@dataclass(frozen=True, eq=False)
class _Part:
    """Successive sizes whose sums are found together; `places` tells where columns belong."""

    sizes: Sequence[int]
    sums: Sums
    places: NDArray[np.int64] | None = None

    def by_size(self, n_features: int) -> dict[int, Sums]:
        sums = self.sums
        if self.places is not None:
            sums = np.empty_like(self.sums)
            sums[:, self.places] = self.sums
        bounds = np.cumsum([0, *(comb(n_features, m) for m in self.sizes)])
        return {
            m: sums[:, start:stop]
            for m, start, stop in zip(self.sizes, bounds[:-1], bounds[1:], strict=True)
        }


def sums_of_levels(rows: PreparedRows, low: int, high: int, n_kinds: int, work: Work) -> list[Sums]:
    """Sums for every subset of sizes low to high, in the order of ranks, a list entry a size.

    `n_kinds` is 1 for differences, 2 to keep both sums apart; rows that lack values make it 4. Sums
    whose tasks are not in the share of `work` are NaN.
    """
    n = rows.n_features
    n_kinds = 4 if rows.lacks_values else n_kinds
    parts: list[_Part] = []
    tasks: list[Task] = []
    if low == 0:
        parts.append(_Part([0], np.full((n_kinds, 1), np.nan)))
        tasks += level_tasks(rows, 0, parts[-1].sums, work)
    smallest = max(low, 1)
    dense = largest_dense_size(rows, smallest, high)
    if dense >= smallest:
        sizes = range(smallest, dense + 1)
        n_sets = sum(comb(n, m) for m in sizes)
        parts.append(_Part(sizes, np.full((n_kinds, n_sets), np.nan)))
        tasks += counting_tasks(rows, smallest, dense, parts[-1].sums, work)
    sparse = range(max(dense + 1, smallest), high + 1)
    if sparse and n <= LISTED_AT_ONCE:
        members, lengths, places = list_levels(n, sparse)
        parts.append(_Part(sparse, np.full((n_kinds, len(lengths)), np.nan), places))
        tasks += listed_tasks(rows, members, lengths, parts[-1].sums, work)
    else:
        for m in sparse:
            parts.append(_Part([m], np.full((n_kinds, comb(n, m)), np.nan)))
            tasks += level_tasks(rows, m, parts[-1].sums, work)
    work.run(tasks)
    found: dict[int, Sums] = {}
    for part in parts:
        found |= part.by_size(n)
    return [found[m] for m in range(low, high + 1)]


def sums_of_subsets(
    rows: PreparedRows, subsets: NDArray[np.integer], n_kinds: int, work: Work
) -> Sums:
    """Sums for listed subsets of one size; NaN where a feature was never recorded."""
    subsets = np.asarray(subsets)
    size = subsets.shape[1]
    if (np.diff(subsets, axis=1) <= 0).any():
        raise MisfeatError("The features of a subset must be distinct and ascend along its row.")
    own = rows.positions[subsets]
    computable = np.flatnonzero((own >= 0).all(axis=1))
    found = np.full((4 if rows.lacks_values else n_kinds, len(subsets)), np.nan)
    if not len(computable):
        return found
    if not rows.lacks_values and len(computable) >= WHOLE_LEVEL_SHARE * comb(rows.n_features, size):
        (whole,) = sums_of_levels(rows, size, size, n_kinds, work)
        found[:, computable] = whole[:, rank(own[computable])]
    else:
        found[:, computable] = _sums_of_listed(rows, own[computable], len(found), work)
    return found


def _sums_of_listed(
    rows: PreparedRows, subsets: NDArray[np.integer], n_kinds: int, work: Work
) -> Sums:
    """Sums for subsets whose members are numbered among the features of `rows`."""
    order = np.lexsort(subsets.T[::-1]) if subsets.shape[1] else np.arange(len(subsets))
    members = np.ascontiguousarray(subsets[order], dtype=np.int16)
    sizes = np.full(len(members), members.shape[1], dtype=np.int64)
    listed = np.zeros((n_kinds, len(members)))
    work.run(listed_tasks(rows, members, sizes, listed, work))
    restored = np.empty_like(listed)
    restored[:, order] = listed
    return restored


def counting_tasks(
    rows: PreparedRows, low: int, high: int, sums: NDArray[np.float64], work: Work
) -> list[Task]:
    """Tasks that fill `sums` for every subset of sizes low to high, numbered as by `cube_plan`."""
    lanes, lane_type, word_type = lanes_of(rows.n_classes, rows.total, counts_rows=rows.counts_rows)
    lane_bytes = np.dtype(lane_type).itemsize
    plan = cube_plan(rows.n_features, low, high, block_size_for(rows, high, lanes, lane_bytes))
    words_a_cell = lanes * lane_bytes / np.dtype(word_type).itemsize
    capacity = buffer_words(rows.cardinalities, plan.blocks.shape[1], words_a_cell)
    logs = logs_of(rows, lanes if lane_bytes == 2 else 0)
    all_ones = bool((rows.weights == 1).all())
    counted = cube.CountedRows(
        codes=rows.codes,
        target=rows.target,
        weights=(rows.weights[:0] if all_ones else rows.weights).astype(lane_type),
        cardinalities=rows.cardinalities,
        n_classes=rows.n_classes,
        lanes=lanes,
    )
    own = threading.local()  # every thread keeps its memory from task to task

    def task(first: int, last: int) -> Task:
        def score() -> None:
            if not hasattr(own, "memory"):
                words: NDArray[Any] = np.empty(capacity, dtype=word_type)
                keys = np.empty((2, cube.CHUNK), dtype=np.uint16)
                own.memory = cube.Memory(words, words.view(lane_type), keys)
            cube.score_blocks(first, last, counted, plan, own.memory, logs, sums)

        return score

    return [task(*part) for part in work.stretches(len(plan.blocks), TASKS_A_THREAD)]
