"""What to count: how tables are laid out, how large blocks are, and which subsets they serve.

Counting a block of b features once serves all its subsets: they follow by summing features out. A
covering design, found greedily, puts every subset of the largest wanted size into some block. The
plan depends only on the number of features and the sizes, so one plan serves every cohort.

For each block a tree says which subsets to visit: a node drops one feature of its parent, behind
those that were dropped before, so each subset has one parent. Subsets that an earlier block has
claimed are visited only where they lead to new ones.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, log2
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.kernels.cover import drop_trees, greedy_cover
from misfeat.information.kernels.cube import ALIGNED_WORDS, CubePlan
from misfeat.lattice.levels import binomials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.prepared import PreparedRows

DENSE_LANES_A_ROW = 5
"""Tables with more lanes than this a row are searched depth-first instead."""
FEW_LANES = 1024
"""Tables with at most so many lanes are always counted."""
ROWS_A_FEATURE = 30
"""With fewer rows a feature, searching takes less time than making a plan for counting."""
LARGEST_PLAN = 2_000_000
"""Levels with more subsets are searched: a plan for them would take too long to make."""
LARGEST_TABLE = 2**22
"""No block has more lanes than this: more would not fit two 16-bit keys, nor the caches."""
COVER_SURPLUS = 0.3
"""How many more blocks a greedy cover has than the least, a feature beyond the largest subsets."""
NEAR_BYTES = 2**16
"""Tables of up to so many bytes stay in the first-level cache."""
LARGEST_BLOCK = 24
"""Members of a block are bits of an integer, and no table of more features would fit anyway."""


@lru_cache(maxsize=64)
def cube_plan(n_features: int, low: int, high: int, block_size: int) -> CubePlan:
    """Plan the scores of all subsets of sizes low to high.

    The subsets are numbered size by size, each size in the order of ranks.
    """
    table = binomials(n_features, high)
    blocks = greedy_cover(n_features, high, block_size, table)
    offsets = np.zeros(high + 2, dtype=np.int64)
    for size in range(low, high + 1):
        offsets[size + 1] = offsets[size] + table[n_features, size]
    starts, kept, outputs = drop_trees(blocks, low, high, table, offsets)
    return CubePlan(blocks, starts, kept, outputs)


def lanes_of(
    n_classes: int, total: int, *, counts_rows: bool = True
) -> tuple[int, type[np.unsignedinteger], type]:
    """How a cell is laid out: lanes, their type, and the type of the words they are summed in.

    Two 16-bit lanes fill a 32-bit word, four a 64-bit word; more classes take several words. What
    cells weigh, where rows have weights, is never in 16-bit lanes, for which all is looked up.
    """
    if total < 2**16 and counts_rows:
        if n_classes <= 2:
            return 2, np.uint16, np.uint32
        return -(-n_classes // 4) * 4, np.uint16, np.uint64
    if total < 2**32:
        return -(-n_classes // 2) * 2, np.uint32, np.uint64
    return n_classes, np.uint64, np.uint64


def buffer_words(cardinalities: NDArray[np.int64], block_size: int, words_a_cell: float) -> int:
    """Words that hold a block's table and those on the way down its tree, at worst."""
    largest = np.sort(cardinalities)[::-1][:block_size]
    cells = [int(np.prod(largest[:kept])) for kept in range(block_size + 1)]
    return int(sum(cells) * words_a_cell) + (block_size + 2) * ALIGNED_WORDS


def largest_dense_size(rows: PreparedRows, low: int, high: int) -> int:
    """The largest size whose tables are worth counting; below `low` where none is."""
    if rows.lacks_values or rows.n_rows < ROWS_A_FEATURE * rows.n_features:
        return low - 1
    lanes = lanes_of(rows.n_classes, rows.total, counts_rows=rows.counts_rows)[0]
    mean_cells = mean_cells_of(rows.cardinalities, high)
    largest = np.sort(rows.cardinalities)[::-1]
    most = max(DENSE_LANES_A_ROW * rows.n_rows, FEW_LANES)
    size = low - 1
    while (
        size < high
        and mean_cells[size + 1] * lanes <= most
        and np.prod(largest[: size + 1], dtype=float) * lanes <= LARGEST_TABLE
        and comb(rows.n_features, size + 1) <= LARGEST_PLAN
    ):
        size += 1
    return size


def mean_cells_of(cardinalities: NDArray[np.int64], high: int) -> list[float]:
    """The mean number of cells of a subset's table, by size."""
    totals = np.zeros(high + 1)
    totals[0] = 1.0
    for cardinality in cardinalities:
        totals[1:] += totals[:-1] * float(cardinality)
    return [totals[m] / comb(len(cardinalities), m) for m in range(high + 1)]


def block_size_for(
    rows: PreparedRows, high: int, lanes: int, lane_bytes: int, additions: float = 1.0
) -> int:
    """The block size that should cost least: many small tables to count, or few large ones.

    Counting a row takes so many additions.
    """
    n = rows.n_features
    largest = np.sort(rows.cardinalities)[::-1]
    mean = mean_cells_of(rows.cardinalities, min(n, LARGEST_BLOCK))
    best, least = high, np.inf
    for size in range(high, min(n, LARGEST_BLOCK) + 1):
        if np.prod(largest[:size], dtype=float) * lanes > LARGEST_TABLE and size > high:
            break
        surplus = 1.0 + COVER_SURPLUS * (size - high)
        n_blocks = surplus * comb(n, high) / comb(size, high) if size < n else 1.0
        in_bytes = mean[size] * lanes * lane_bytes
        cost = n_blocks * (
            rows.n_rows * additions * _count_a_row(in_bytes) + in_bytes * _touch_a_byte(in_bytes)
        )
        if cost < least:
            best, least = size, cost
    return best


def _count_a_row(table_bytes: float) -> float:
    """Nanoseconds to count a row into a table: the more, the farther its cache is."""
    beyond = max(log2(table_bytes / (NEAR_BYTES / 2)), 0.0)
    return 0.7 + 0.1 * beyond + table_bytes / 1.5e6


def _touch_a_byte(table_bytes: float) -> float:
    """Nanoseconds to clear a byte of a block's table and sum it out."""
    return 0.1 if table_bytes <= NEAR_BYTES else 0.2
