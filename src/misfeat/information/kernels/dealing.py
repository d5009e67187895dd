"""Many ways to deal the target out over the same rows, counted side by side.

Where the target is dealt out anew, the features stay: the key of a row in a table is made once and
serves every deal. A cell holds the counts of all classes of all deals, so that a row is added with
a few wide additions, and features are summed out of all deals at once. The rows of every cell stay
as many, so that of a score only the sum of f(c) = c log c over cells and classes changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.kernels.cube import ALIGNED_WORDS, place_of, sum_out
from misfeat.information.kernels.logs import f_of
from misfeat.runtime.compilation import compiled, compiled_fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 1024
"""Rows whose keys are made together, so that they stay in the first-level cache."""


class DealtRows(NamedTuple):
    """Distinct rows of features, and the rows of the table that they stand for.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_patterns)
        Categories of every distinct row; none is lacking.
    cardinalities : ndarray of int64 of shape (n_features,)
        Categories of each feature.
    patterns : ndarray of int64 of shape (n_rows,)
        The distinct row that each row of the table is, stratum by stratum.
    classes : ndarray of uint16 of shape (n_rows,)
        The class of each row of the table.
    starts : ndarray of int64 of shape (n_strata + 1,)
        Stratum i owns the rows ``starts[i]:starts[i + 1]``; classes stay within it.
    n_classes : int
        Classes of the target.
    weights : ndarray of uint32 of shape (n_rows,) or (0,)
        What each row of the table weighs; empty where all of them weigh one.
    """

    codes: NDArray[np.unsignedinteger]
    cardinalities: NDArray[np.int64]
    patterns: NDArray[np.int64]
    classes: NDArray[np.uint16]
    starts: NDArray[np.int64]
    n_classes: int
    weights: NDArray[np.uint32]


@compiled
def _next(state):
    """The next random 64 bits of a splitmix generator, and its next state."""
    state += np.uint64(0x9E3779B97F4A7C15)
    bits = state
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31)), state


@compiled
def shuffled(classes, starts, seed):
    """The classes in a random order within every stratum; every order is as likely."""
    dealt = classes.copy()
    state = seed
    for stratum in range(len(starts) - 1):
        first = starts[stratum]
        for left in range(starts[stratum + 1] - first, 1, -1):
            bits, state = _next(state)
            other = first + np.int64(((bits >> np.uint64(32)) * np.uint64(left)) >> np.uint64(32))
            last = first + left - 1
            dealt[last], dealt[other] = dealt[other], dealt[last]
    return dealt


@compiled
def deal(rows, seeds, lanes):
    """Count the classes of every distinct row in every deal; seed 0 leaves them as they are."""
    lanes[:] = 0
    for number in range(len(seeds)):
        dealt = rows.classes
        if seeds[number] != np.uint64(0):
            dealt = shuffled(rows.classes, rows.starts, seeds[number])
        first = number * rows.n_classes
        if len(rows.weights):
            for i in range(len(dealt)):
                lanes[rows.patterns[i], first + dealt[i]] += rows.weights[i]
        else:
            for i in range(len(dealt)):
                lanes[rows.patterns[i], first + dealt[i]] += 1


@compiled
def _count(codes, features, cardinalities, words, table, keys):
    """Add the words of every row to its cell of a block's table."""
    n_words = words.shape[1]
    for start in range(0, len(words), CHUNK):
        length = min(CHUNK, len(words) - start)
        key = keys[:length]
        key[:] = 0
        for j in range(len(features)):
            line = codes[features[j], start : start + length]
            cardinality = np.int64(cardinalities[features[j]])
            for i in range(length):
                key[i] = key[i] * cardinality + np.int64(line[i])
        for i in range(length):
            cell = table[key[i] * n_words : (key[i] + 1) * n_words]
            row = words[start + i]
            for w in range(n_words):
                cell[w] += row[w]


@compiled_fast
def _sums(lanes, width, n_classes, f, sums):
    """The sum of f over cells and classes, of every deal."""
    for number in range(len(sums)):
        total = 0.0
        for first in range(number * n_classes, len(lanes), width):
            for y in range(n_classes):
                total += f_of(np.int64(lanes[first + y]), f)
        sums[number] = total


@compiled
def score_deals(rows, plan, words, buffer, buffer_lanes, f, sums):
    """Write the sum of f of every subset of a plan, of every deal, to `sums`.

    `words` holds the counts of `deal`, several to a machine word; `buffer` and `buffer_lanes` are
    the same memory, as such words and as counts.
    """
    codes, cardinalities, n_classes = rows.codes, rows.cardinalities, rows.n_classes
    blocks, starts, kept, outputs = plan
    block_size, n_words = blocks.shape[1], words.shape[1]
    lanes_a_word = len(buffer_lanes) // len(buffer)
    width = n_words * lanes_a_word
    keys = np.empty(CHUNK, dtype=np.int64)
    at = np.zeros(block_size + 2, dtype=np.int64)  # where the table of each depth starts, in words
    for b in range(len(blocks)):
        features = blocks[b]
        _, _, n_cells = place_of(np.int32(-1), features, cardinalities, 1)
        table = buffer[: n_cells * n_words]
        table[:] = 0
        _count(codes, features, cardinalities, words, table, keys)
        for step in range(starts[b], starts[b + 1]):
            depth, dropped, size = place_of(kept[step], features, cardinalities, n_words)
            here = buffer[at[depth] : at[depth] + size]
            if depth > 0:
                inner = n_words
                for j in range(dropped + 1, block_size):
                    inner *= cardinalities[features[j]]
                sum_out(
                    buffer[at[depth - 1] : at[depth]],
                    here,
                    size // inner,
                    cardinalities[features[dropped]],
                    inner,
                )
            at[depth + 1] = at[depth] + (size + ALIGNED_WORDS - 1) // ALIGNED_WORDS * ALIGNED_WORDS
            if outputs[step] >= 0:
                begin = at[depth] * lanes_a_word
                lanes = buffer_lanes[begin : begin + size * lanes_a_word]
                _sums(lanes, width, n_classes, f, sums[outputs[step]])
