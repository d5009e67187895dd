"""Many permutations of the target over the same rows, counted side by side.

Where the target is permuted, the features stay: the key of a row in a table is made once and serves
every permutation. A cell holds the counts of all classes of all permutations, so that a row is
added with a few wide additions, and features are summed out of all permutations at once. The rows
of every cell stay as many, so that of a score only the sum of f(c) = c log c over cells and classes
changes. See docs/explanation/intervals.md (p-values).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.kernels.dense_blocks import CHUNK, make_keys, step_shape, take_step
from misfeat.information.null_expectation import c_log_c
from misfeat.runtime.compilation import compiled, compiled_fast, copy_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.runtime.array_types import Integers


class PermutedRows(NamedTuple):
    """Distinct rows of features, and the rows of the table that they stand for."""

    codes: NDArray[np.unsignedinteger]  # (n_features, n_patterns), none missing
    cardinalities: Integers
    patterns: Integers  # the distinct row of each row of the table, by stratum
    classes: NDArray[np.uint16]  # the class of each row of the table
    starts: Integers  # stratum i owns the rows starts[i]:starts[i + 1]
    n_classes: int


@compiled
def shuffled(classes, starts, seed):
    """The classes in a random order within every stratum; every order is as likely."""
    permuted = classes.copy()
    state = seed
    for stratum in range(len(starts) - 1):
        first = starts[stratum]
        for left in range(starts[stratum + 1] - first, 1, -1):
            # The next random 64 bits of a splitmix generator.
            state += np.uint64(0x9E3779B97F4A7C15)
            bits = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            bits ^= bits >> np.uint64(31)
            other = first + np.int64(((bits >> np.uint64(32)) * np.uint64(left)) >> np.uint64(32))
            last = first + left - 1
            permuted[last], permuted[other] = permuted[other], permuted[last]
    return permuted


@compiled
def count_classes(rows, seeds, lanes):
    """Count the classes of every distinct row in every permutation; seed 0: as recorded."""
    lanes[:] = 0
    n_rows = len(rows.classes)
    permuted = np.empty((len(seeds), n_rows), dtype=np.uint16)
    for number in range(len(seeds)):
        if seeds[number] == np.uint64(0):
            copy_values(rows.classes, permuted[number])
        else:
            copy_values(shuffled(rows.classes, rows.starts, seeds[number]), permuted[number])
    for start in range(0, n_rows, CHUNK):  # whose counts stay in a cache for all permutations
        for number in range(len(seeds)):
            first = number * rows.n_classes
            for i in range(start, min(start + CHUNK, n_rows)):
                lanes[rows.patterns[i], first + permuted[number, i]] += 1


@compiled
def _count(rows, features, words, table, keys):
    """Add the words of every row to its cell of a block's table."""
    n_words = words.shape[1]
    for start in range(0, len(words), CHUNK):
        key = keys[: min(CHUNK, len(words) - start)]
        make_keys(rows.codes, features, rows.cardinalities, start, key)
        for i in range(len(key)):
            cell = table[key[i] * n_words : (key[i] + 1) * n_words]
            row = words[start + i]
            for w in range(n_words):
                cell[w] += row[w]


@compiled_fast
def _sums(lanes, width, n_classes, f, sums):
    """The sum of f over cells and classes, of every permutation."""
    for number in range(len(sums)):
        total = 0.0
        for first in range(number * n_classes, len(lanes), width):
            for y in range(n_classes):
                total += c_log_c(np.int64(lanes[first + y]), f)
        sums[number] = total


@compiled
def score_permutations(rows, plan, words, buffer, buffer_lanes, f, sums):
    """Write the sum of f of every subset of a plan, of every permutation, to `sums`."""
    # `words` holds the counts of `count_classes`, several to a machine word; `buffer` and
    # `buffer_lanes` are the same memory, as such words and as counts.
    cardinalities, n_classes = rows.cardinalities, rows.n_classes
    blocks, starts, kept, outputs = plan
    block_size, n_words = blocks.shape[1], words.shape[1]
    lanes_a_word = len(buffer_lanes) // len(buffer)
    width = n_words * lanes_a_word
    keys = np.empty(CHUNK, dtype=np.int64)
    at = np.zeros(block_size + 2, dtype=np.int64)  # where the table of each depth starts, in words
    for b in range(len(blocks)):
        features = blocks[b]
        _, _, n_cells = step_shape(np.int32(-1), features, cardinalities, 1)
        table = buffer[: n_cells * n_words]
        table[:] = 0
        _count(rows, features, words, table, keys)
        for step in range(starts[b], starts[b + 1]):
            depth, size = take_step(kept[step], features, cardinalities, n_words, 1, buffer, at)
            if outputs[step] >= 0:
                begin = at[depth] * lanes_a_word
                lanes = buffer_lanes[begin : begin + size * lanes_a_word]
                _sums(lanes, width, n_classes, f, sums[outputs[step]])
