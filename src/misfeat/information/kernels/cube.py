"""Cover-cube: scores of all subsets of small sizes, where tables have few cells.

Each block of the plan is counted once, jointly with the target, into a dense table: cells of the
block's features, and within a cell one lane a class. The tables of its subsets follow by summing
features out, several lanes to a machine word. With f(c) = c log c and N rows,

    N H(S, Y) = N log N - sum over cells and classes of f(count),
    N H(S)    = N log N - sum over cells of f(count),

so a subset needs one pass over its table and no logarithm: f is looked up. Totals of cells are
looked up in a table of their own, g: f again, or what chance would give.

Every subset is summed in one order by one thread, so results do not depend on how many there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.kernels.chance import sum_of_chance, sum_of_weighted_chance
from misfeat.information.kernels.logs import f_of
from misfeat.runtime.compilation import compiled, compiled_fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 1024
"""Rows whose keys are made together, so that they stay in the first-level cache."""
SMALL_KEYS = 2**16
"""Tables with at most so many lanes have 16-bit keys."""
ALIGNED_WORDS = 8
"""Tables start at multiples of this, whole cache lines."""


class CubePlan(NamedTuple):
    """What to count and which subsets to read off.

    Attributes
    ----------
    blocks : ndarray of int64 of shape (n_blocks, block_size)
        The features of each block, ascending.
    starts : ndarray of int64 of shape (n_blocks + 1,)
        Block b owns the steps ``starts[b]:starts[b + 1]``, parents before their children.
    kept : ndarray of int32 of shape (n_steps,)
        The members of the block that the step's subset keeps, as bits.
    outputs : ndarray of int64 of shape (n_steps,)
        Where the score goes: the subset's number among all wanted ones; -1 on the way only.
    """

    blocks: NDArray[np.int64]
    starts: NDArray[np.int64]
    kept: NDArray[np.int32]
    outputs: NDArray[np.int64]


class CountedRows(NamedTuple):
    """Rows as they are counted into tables.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_rows)
        Categories; none is lacking.
    target : ndarray of shape (n_rows,)
        Classes.
    weights : ndarray of the type of a lane, of shape (n_rows,)
        How many rows each stands for; empty where all of them stand for one.
    cardinalities : ndarray of int64 of shape (n_features,)
        Categories of each feature.
    n_classes, lanes : int
        Classes of the target, and lanes of a cell: at least as many.
    """

    codes: NDArray[np.integer]
    target: NDArray[np.unsignedinteger]
    weights: NDArray[np.unsignedinteger]
    cardinalities: NDArray[np.int64]
    n_classes: int
    lanes: int


class Memory(NamedTuple):
    """What a thread counts in.

    Attributes
    ----------
    words, lanes : ndarray
        The same memory, as machine words that are summed and as the counts they hold.
    keys : ndarray of uint16 of shape (2, CHUNK)
        Keys of a chunk of rows, in two halves where tables are large.
    """

    words: NDArray[np.unsignedinteger]
    lanes: NDArray[np.unsignedinteger]
    keys: NDArray[np.uint16]


@compiled
def _make_keys(codes, features, cardinalities, start, keys):
    """Write the codes of a chunk of rows as mixed-radix keys; how many features were taken in.

    One feature may be left over: `_append_class` takes it in together with the class, for several
    lines a pass mean fewer loads and stores.
    """
    length = len(keys)
    n = len(features)
    first = codes[features[0], start : start + length]
    if n < 3:
        for i in range(length):
            keys[i] = first[i]
        j = 1
    else:
        second = codes[features[1], start : start + length]
        third = codes[features[2], start : start + length]
        inner = np.uint16(cardinalities[features[2]])
        outer = np.uint16(cardinalities[features[1]] * cardinalities[features[2]])
        for i in range(length):
            keys[i] = first[i] * outer + second[i] * inner + third[i]
        j = 3
    while j + 1 < n:
        left = codes[features[j], start : start + length]
        right = codes[features[j + 1], start : start + length]
        inner = np.uint16(cardinalities[features[j + 1]])
        outer = np.uint16(cardinalities[features[j]] * cardinalities[features[j + 1]])
        for i in range(length):
            keys[i] = keys[i] * outer + left[i] * inner + right[i]
        j += 2
    return j


@compiled
def _append_last(codes, feature, cardinality, start, keys):
    """Take a feature that is left over in."""
    line = codes[feature, start : start + len(keys)]
    outer = np.uint16(cardinality)
    for i in range(len(keys)):
        keys[i] = keys[i] * outer + line[i]


@compiled
def _append_class(codes, features, n_taken, cardinalities, target, start, lanes, keys):
    """Take the class in, and the feature that is left over."""
    length = len(keys)
    classes = target[start : start + length]
    inner = np.uint16(lanes)
    if n_taken == len(features):
        for i in range(length):
            keys[i] = keys[i] * inner + classes[i]
    else:
        line = codes[features[n_taken], start : start + length]
        outer = np.uint16(cardinalities[features[n_taken]] * lanes)
        for i in range(length):
            keys[i] = keys[i] * outer + line[i] * inner + classes[i]


@compiled
def _count_small(rows, features, table, keys):
    """One key of 16 bits a row."""
    codes, target, weights, cardinalities, _, lanes = rows
    n_rows = len(target)
    for start in range(0, n_rows, CHUNK):
        length = min(CHUNK, n_rows - start)
        key = keys[0, :length]
        taken = _make_keys(codes, features, cardinalities, start, key)
        _append_class(codes, features, taken, cardinalities, target, start, lanes, key)
        if len(weights):
            weight = weights[start : start + length]
            for i in range(length):
                table[key[i]] += weight[i]
        else:
            for i in range(length):
                table[key[i]] += 1


@compiled
def _count_large(rows, features, table, keys):
    """Two half keys of 16 bits a row, joined where the table is touched."""
    codes, target, weights, cardinalities, _, lanes = rows
    n_rows = len(target)
    split = len(features)
    inner = lanes
    while split > 1 and inner * cardinalities[features[split - 1]] <= SMALL_KEYS:
        split -= 1
        inner *= cardinalities[features[split]]
    for start in range(0, n_rows, CHUNK):
        length = min(CHUNK, n_rows - start)
        upper, lower = keys[0, :length], keys[1, :length]
        taken = _make_keys(codes, features[:split], cardinalities, start, upper)
        if taken < split:
            last = features[taken]
            _append_last(codes, last, cardinalities[last], start, upper)
        taken = 0
        if split < len(features):
            taken = _make_keys(codes, features[split:], cardinalities, start, lower)
        else:
            lower[:] = 0
        _append_class(codes, features[split:], taken, cardinalities, target, start, lanes, lower)
        if len(weights):
            weight = weights[start : start + length]
            for i in range(length):
                table[np.int64(upper[i]) * inner + np.int64(lower[i])] += weight[i]
        else:
            for i in range(length):
                table[np.int64(upper[i]) * inner + np.int64(lower[i])] += 1


@compiled
def sum_out(source, result, outer, cardinality, inner):
    """Sum the middle axis of a table of shape (outer, cardinality, inner), in words."""
    if inner == 1 and cardinality == 4:
        for i in range(outer):
            result[i] = source[4 * i] + source[4 * i + 1] + source[4 * i + 2] + source[4 * i + 3]
    elif inner == 1 and cardinality == 2:
        for i in range(outer):
            result[i] = source[2 * i] + source[2 * i + 1]
    elif inner == 1 and cardinality == 3:
        for i in range(outer):
            result[i] = source[3 * i] + source[3 * i + 1] + source[3 * i + 2]
    elif cardinality == 4:
        for o in range(outer):
            at = o * 4 * inner
            a = source[at : at + inner]
            b = source[at + inner : at + 2 * inner]
            c = source[at + 2 * inner : at + 3 * inner]
            d = source[at + 3 * inner : at + 4 * inner]
            total = result[o * inner : (o + 1) * inner]
            for i in range(inner):
                total[i] = a[i] + b[i] + c[i] + d[i]
    else:
        for o in range(outer):
            at = o * cardinality * inner
            total = result[o * inner : (o + 1) * inner]
            first = source[at : at + inner]
            for i in range(inner):
                total[i] = first[i]
            for value in range(1, cardinality):
                more = source[at + value * inner : at + (value + 1) * inner]
                for i in range(inner):
                    total[i] += more[i]


@compiled
def _difference_of_fours(cells, f, g, small):
    """Sum of f over four 16-bit lanes less g of their sum, for cells that are 64-bit words."""
    looked_up = 0.0
    computed = 0.0
    spread = np.uint64((1 << 48) + (1 << 36) + (1 << 24) + (1 << 12))
    large = np.uint64(0xFFF0FFF0FFF0FFF0)
    lane = np.uint64(0xFFFF)
    for i in range(len(cells)):
        cell = cells[i]
        if cell & large == np.uint64(0):
            looked_up += small[(cell * spread) >> np.uint64(48)]
        else:
            a = cell & lane
            b = (cell >> np.uint64(16)) & lane
            c = (cell >> np.uint64(32)) & lane
            d = cell >> np.uint64(48)
            # A fixed order, for the compiler's choice would depend on what f and g are.
            computed = ((computed + f[a]) + (f[b] + f[c])) + f[d] - g[a + b + c + d]
    return looked_up + computed


@compiled_fast
def _difference_of_pairs(cells, f, g, small):
    """The same for cells of two 16-bit lanes in 32-bit words."""
    looked_up = 0.0
    computed = 0.0
    for i in range(len(cells)):
        cell = np.uint64(cells[i])
        if cell & np.uint64(0xFF00FF00) == np.uint64(0):
            looked_up += small[(cell | (cell >> np.uint64(8))) & np.uint64(0xFFFF)]
        else:
            a = cell & np.uint64(0xFFFF)
            b = cell >> np.uint64(16)
            computed += f[a] + f[b] - g[a + b]
    return looked_up + computed


@compiled_fast
def _difference_of_words(words, words_a_cell, f, g, small):
    """The same for cells of several 64-bit words of four 16-bit lanes each."""
    joint = 0.0
    marginal = 0.0
    spread = np.uint64((1 << 48) + (1 << 36) + (1 << 24) + (1 << 12))
    ones = np.uint64((1 << 48) + (1 << 32) + (1 << 16) + 1)
    large = np.uint64(0xFFF0FFF0FFF0FFF0)
    lane = np.uint64(0xFFFF)
    for start in range(0, len(words), words_a_cell):
        total = np.uint64(0)
        for w in range(words_a_cell):
            word = words[start + w]
            total += (word * ones) >> np.uint64(48)
            if word & large == np.uint64(0):
                joint += small[(word * spread) >> np.uint64(48)]
            else:
                a = word & lane
                b = (word >> np.uint64(16)) & lane
                c = (word >> np.uint64(32)) & lane
                d = word >> np.uint64(48)
                joint += (f[a] + f[b]) + (f[c] + f[d])
        marginal += g[total]
    return joint - marginal


@compiled_fast
def _sums(table, lanes, n_classes, logs):
    """The sum of f over lanes, and that of g over cells."""
    f, g, by_class, _, _, _, _ = logs
    is_chance = len(by_class) > 0
    joint = 0.0
    marginal = 0.0
    n_beyond = 0
    for start in range(0, len(table), lanes):
        total = np.int64(0)
        for y in range(n_classes):
            count = np.int64(table[start + y])
            total += count
            joint += f_of(count, f)
        if total < len(g):
            marginal += g[total]
        elif is_chance:
            n_beyond += 1  # few cells, so they are looked for again
        else:
            marginal += f_of(total, g)
    if n_beyond > 0:
        marginal += _chance_beyond(table, lanes, n_beyond, logs)
    return joint, marginal


@compiled
def _chance_beyond(table, lanes, n_beyond, logs):
    """The sum of what chance gives over the cells whose totals are beyond the table of g."""
    _, g, by_class, _, unit, shift, entropies = logs
    beyond = np.empty(n_beyond, dtype=np.int64)
    at = 0
    for start in range(0, len(table), lanes):
        total = np.int64(0)
        for y in range(len(by_class)):
            total += np.int64(table[start + y])
        if total >= len(g):
            beyond[at] = total
            at += 1
    if unit != 1.0:
        return sum_of_weighted_chance(beyond, by_class, unit, shift, entropies)
    return sum_of_chance(beyond, by_class)


@compiled
def score_blocks(first, last, rows, plan, memory, logs, sums):
    """Count the blocks ``first:last`` and write the sums of their new subsets.

    `sums` has one row, for the sum of f over lanes less that of g over cells, or two rows that
    keep them apart.
    """
    # Taking an array out of a tuple counts a reference, too dear for every step.
    cardinalities, lanes, n_classes = rows.cardinalities, rows.lanes, rows.n_classes
    blocks, starts, kept, outputs = plan
    buffer, buffer_lanes, _ = memory
    f, g, _, small, _, _, _ = logs
    block_size = blocks.shape[1]
    lanes_a_word = len(buffer_lanes) // len(buffer)
    at = np.zeros(block_size + 2, dtype=np.int64)  # where the table of each depth starts, in words
    short = len(small) > 0 and len(sums) == 1  # lanes of 16 bits, and differences alone
    for b in range(first, last):
        features = blocks[b]
        _count(rows, features, memory)
        for step in range(starts[b], starts[b + 1]):
            depth, dropped, size = place_of(kept[step], features, cardinalities, lanes)
            words = size // lanes_a_word
            here = buffer[at[depth] : at[depth] + words]
            if depth > 0:
                inner = lanes
                for j in range(dropped + 1, block_size):
                    inner *= cardinalities[features[j]]
                sum_out(
                    buffer[at[depth - 1] : at[depth]],
                    here,
                    size // inner,
                    cardinalities[features[dropped]],
                    inner // lanes_a_word,
                )
            at[depth + 1] = at[depth] + (words + ALIGNED_WORDS - 1) // ALIGNED_WORDS * ALIGNED_WORDS
            output = outputs[step]
            if output < 0:
                continue
            if short and lanes == 4:
                sums[0, output] = _difference_of_fours(here, f, g, small)
            elif short and lanes == 2:
                sums[0, output] = _difference_of_pairs(here, f, g, small)
            elif short:
                sums[0, output] = _difference_of_words(here, lanes // 4, f, g, small)
            else:
                begin = at[depth] * lanes_a_word
                table = buffer_lanes[begin : begin + size]
                _write_sums(table, lanes, n_classes, logs, output, sums)


@compiled
def _count(rows, features, memory):
    """Count a block jointly with the target, into the first lanes of the memory."""
    size = rows.lanes
    for j in range(len(features)):
        size *= rows.cardinalities[features[j]]
    table = memory.lanes[:size]
    table[:] = 0
    if size <= SMALL_KEYS:
        _count_small(rows, features, table, memory.keys)
    else:
        _count_large(rows, features, table, memory.keys)


@compiled
def place_of(kept, features, cardinalities, lanes):
    """Of a step: how many members it drops, the last of them, and the lanes of its table."""
    depth = 0
    dropped = -1
    size = lanes
    for j in range(len(features)):
        if (kept >> j) & 1:
            size *= cardinalities[features[j]]
        else:
            depth += 1
            dropped = j
    return depth, dropped, size


@compiled
def _write_sums(table, lanes, n_classes, logs, output, sums):
    """Write the sums of one table as one number or two."""
    joint, marginal = _sums(table, lanes, n_classes, logs)
    if len(sums) == 1:
        sums[0, output] = joint - marginal
    else:
        sums[0, output] = joint
        sums[1, output] = marginal
