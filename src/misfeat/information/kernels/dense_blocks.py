"""Dense joint tables: the sums of all subsets of small sizes, where tables have few cells.

The cover-cube of docs/explanation/scores.md. Each block of the plan is counted once, jointly with
the target, into a dense table: cells of the block's features, and within a cell one lane per class.
The tables of its subsets follow by summing features out, several lanes to a machine word. A subset
needs one pass over its table and no logarithm: f is looked up, and totals of cells in g, f again or
its null expectation. Every subset is summed in one order, whatever block its table comes from.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from misfeat.information.null_expectation import c_log_c, sum_of_expectations, sum_of_weighted
from misfeat.runtime.array_types import Indices, Integers
from misfeat.runtime.compilation import compiled, compiled_fast, copy_lines, copy_values

CHUNK = 1024  # rows whose keys are made together, so that they stay in the first-level cache
SMALL_KEYS = 2**16  # tables with at most so many lanes have 16-bit keys
ALIGNED_WORDS = 8  # tables start at multiples of this, whole cache lines


class BlockPlan(NamedTuple):
    """Which blocks to count, and which subsets to read off each."""

    blocks: Integers  # (n_blocks, block_size): the features of each block, ascending
    starts: Integers  # block b owns steps starts[b]:starts[b + 1], parents first
    kept: NDArray[np.int32]  # the members of the block that a step's subset keeps, as bits
    outputs: Integers  # the subset's number among all wanted ones; -1 on the way only


class CountedRows(NamedTuple):
    """Rows without missing values, as they are counted into tables."""

    codes: Indices  # (n_features, n_rows)
    target: NDArray[np.unsignedinteger]
    weights: NDArray[np.unsignedinteger]  # of the type of a lane; empty where all are 1
    cardinalities: Integers
    n_classes: int
    lanes: int  # of a cell: at least one per class


class Memory(NamedTuple):
    """What a thread counts in: the same memory as summed words and as the counts they hold."""

    words: NDArray[np.unsignedinteger]
    lanes: NDArray[np.unsignedinteger]
    keys: NDArray[np.uint16]  # (CHUNK,)
    long_keys: NDArray[np.uint32]  # (CHUNK,), for tables of more lanes than SMALL_KEYS


@compiled
def squeeze(lines, most, cardinalities):
    """Renumber the codes (< `most`) of every line without gaps; negative codes stay."""
    renumbered = np.empty(most, dtype=np.int64)
    for j in range(len(lines)):
        line = lines[j]
        renumbered[:] = 0
        for i in range(len(line)):
            code = np.int64(line[i])
            if code >= 0:
                renumbered[code] = 1
        n_codes = 0
        idle = False
        for code in range(most):
            if renumbered[code]:
                idle = idle or n_codes < code
                renumbered[code] = n_codes
                n_codes += 1
        if idle:
            for i in range(len(line)):
                code = np.int64(line[i])
                if code >= 0:
                    line[i] = renumbered[code]
        cardinalities[j] = max(n_codes, 1)


@compiled
def _next_combination(members, n):
    """Step to the next combination of ``0 .. n - 1``; False after the last one."""
    size = len(members)
    j = size - 1
    while j >= 0 and members[j] == n - size + j:
        j -= 1
    if j < 0:
        return False
    members[j] += 1
    for i in range(j + 1, size):
        members[i] = members[i - 1] + 1
    return True


@compiled
def _newly_covered(block, n_members, feature, size, covered, table):
    """How many uncovered subsets of `size` a feature would add to a block."""
    gain = 0
    chosen = np.arange(size - 1)
    more = True
    while more:
        rank, below = 0, 0  # of the chosen members of the block together with the feature
        for j in range(len(chosen)):
            member = block[chosen[j]]
            below += member < feature
            rank += table[member, j + 1 + (member > feature)]
        gain += covered[rank + table[feature, below + 1]] == 0
        more = _next_combination(chosen, n_members)
    return gain


@compiled
def greedy_cover(n, size, block_size, table):
    """Blocks that cover every subset of `size`, each filled up with what covers most."""
    covered = np.zeros(table[n, size], dtype=np.uint8)
    blocks = np.empty((64, block_size), dtype=np.int64)
    n_blocks = 0
    first = np.arange(size)
    block = np.empty(block_size, dtype=np.int64)
    for rank in range(len(covered)):
        if covered[rank] == 0:
            copy_values(first, block)
            for n_members in range(size, block_size):
                best, most = -1, -1
                for feature in range(n):
                    if feature in block[:n_members]:
                        continue
                    gain = _newly_covered(block, n_members, feature, size, covered, table)
                    if gain > most:
                        best, most = feature, gain
                j = n_members
                while j > 0 and block[j - 1] > best:
                    block[j] = block[j - 1]
                    j -= 1
                block[j] = best
            chosen = np.arange(size)
            more = True
            while more:
                position = 0
                for j in range(size):
                    position += table[block[chosen[j]], j + 1]
                covered[position] = 1
                more = _next_combination(chosen, block_size)
            if n_blocks == len(blocks):
                larger = np.empty((2 * n_blocks, block_size), dtype=np.int64)
                copy_lines(blocks, larger)
                blocks = larger
            copy_values(block, blocks[n_blocks])
            n_blocks += 1
        # The next subset in the order of ranks.
        j = 0
        while j < size - 1 and first[j] + 1 == first[j + 1]:
            first[j] = j
            j += 1
        first[j] += 1
    return blocks[:n_blocks].copy()


@compiled
def _highest_dropped(kept, block_size):
    for j in range(block_size - 1, -1, -1):
        if not (kept >> j) & 1:
            return j
    return -1


@compiled
def _claim(block, low, high, table, offsets, claimed, output, needed):
    """Number the new subsets of a block, and mark those that lead to a new one."""
    block_size = len(block)
    for kept in range(1, 1 << block_size):
        output[kept] = -1
        needed[kept] = 0
        size = 0
        rank = 0
        for j in range(block_size):
            if (kept >> j) & 1:
                size += 1
                if size <= high:
                    rank += table[block[j], size]
        if low <= size <= high and claimed[offsets[size] + rank] == 0:
            claimed[offsets[size] + rank] = 1
            output[kept] = offsets[size] + rank
            needed[kept] = 1
        if size > low:
            for j in range(_highest_dropped(kept, block_size) + 1, block_size):
                if (kept >> j) & 1 and needed[kept ^ (1 << j)]:
                    needed[kept] = 1


@compiled
def drop_trees(blocks, low, high, table, offsets):
    """The steps of every block: which members each keeps, and the number of its subset or -1."""
    n_blocks, block_size = blocks.shape
    n_masks = 1 << block_size
    claimed = np.zeros(offsets[high + 1], dtype=np.uint8)
    starts = np.zeros(n_blocks + 1, dtype=np.int64)
    capacity = 32 * n_blocks + 1024
    kept_steps = np.empty(capacity, dtype=np.int32)
    outputs = np.empty(capacity, dtype=np.int64)
    output = np.empty(n_masks, dtype=np.int64)
    needed = np.zeros(n_masks, dtype=np.uint8)  # the empty subset stays unneeded
    stack = np.empty(block_size * block_size + block_size + 1, dtype=np.int32)
    n_steps = 0
    for b in range(n_blocks):
        _claim(blocks[b], low, high, table, offsets, claimed, output, needed)
        depth = 0
        if needed[n_masks - 1]:
            stack[0] = n_masks - 1
            depth = 1
        while depth > 0:
            depth -= 1
            kept = stack[depth]
            if n_steps == capacity:
                capacity *= 2
                longer_kept = np.empty(capacity, dtype=np.int32)
                copy_values(kept_steps, longer_kept)
                kept_steps = longer_kept
                longer_outputs = np.empty(capacity, dtype=np.int64)
                copy_values(outputs, longer_outputs)
                outputs = longer_outputs
            kept_steps[n_steps] = kept
            outputs[n_steps] = output[kept]
            n_steps += 1
            for j in range(block_size - 1, _highest_dropped(kept, block_size), -1):
                if (kept >> j) & 1 and needed[kept ^ (1 << j)]:
                    stack[depth] = kept ^ (1 << j)
                    depth += 1
        starts[b + 1] = n_steps
    return starts, kept_steps[:n_steps].copy(), outputs[:n_steps].copy()


@compiled
def make_keys(codes, features, cardinalities, start, keys):
    """Write the cells of a chunk of rows in a block's table, as mixed-radix numbers."""
    length = len(keys)
    keys[:] = 0
    for j in range(len(features)):
        line = codes[features[j], start : start + length]
        radix = keys.dtype.type(cardinalities[features[j]])
        for i in range(length):
            keys[i] = keys[i] * radix + line[i]


@compiled
def _count_rows(rows, features, table, keys):
    """Add every row to its lane of a block's table; keys are as wide as the table needs."""
    codes, target, weights, cardinalities, _, lanes = rows
    n_rows = len(target)
    n_lanes = keys.dtype.type(lanes)
    for start in range(0, n_rows, CHUNK):
        length = min(CHUNK, n_rows - start)
        key = keys[:length]
        make_keys(codes, features, cardinalities, start, key)
        classes = target[start : start + length]
        for i in range(length):
            key[i] = key[i] * n_lanes + classes[i]
        if len(weights):
            weight = weights[start : start + length]
            for i in range(length):
                table[key[i]] += weight[i]
        else:
            for i in range(length):
                table[key[i]] += 1


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
    is_null = len(by_class) > 0
    joint = 0.0
    marginal = 0.0
    n_beyond = 0
    for start in range(0, len(table), lanes):
        total = np.int64(0)
        for y in range(n_classes):
            count = np.int64(table[start + y])
            total += count
            joint += c_log_c(count, f)
        if total < len(g):
            marginal += g[total]
        elif is_null:
            n_beyond += 1  # few cells, so they are looked for again
        else:
            marginal += c_log_c(total, g)
    if n_beyond > 0:
        marginal += _beyond_table(table, lanes, n_beyond, logs)
    return joint, marginal


@compiled
def _beyond_table(table, lanes, n_beyond, logs):
    """The sum of null expectations over the cells whose totals are beyond the table of g."""
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
        return sum_of_weighted(beyond, by_class, unit, shift, entropies)
    return sum_of_expectations(beyond, by_class)


@compiled
def score_blocks(first, last, rows, plan, memory, logs, sums):
    """Count the blocks ``first:last``; write sums of f over lanes less g over cells of subsets."""
    # Taking an array out of a tuple counts a reference, too dear for every step.
    cardinalities, lanes, n_classes = rows.cardinalities, rows.lanes, rows.n_classes
    blocks, starts, kept, outputs = plan
    buffer, buffer_lanes, keys, long_keys = memory
    f, g, _, small, _, _, _ = logs
    block_size = blocks.shape[1]
    lanes_a_word = len(buffer_lanes) // len(buffer)
    at = np.zeros(block_size + 2, dtype=np.int64)  # where the table of each depth starts, in words
    short = len(small) > 0  # lanes of 16 bits
    for b in range(first, last):
        features = blocks[b]
        _, _, size = step_shape(np.int32(-1), features, cardinalities, lanes)
        table = buffer_lanes[:size]
        table[:] = 0
        if size <= SMALL_KEYS:
            _count_rows(rows, features, table, keys)
        else:
            _count_rows(rows, features, table, long_keys)
        for step in range(starts[b], starts[b + 1]):
            depth, words = take_step(
                kept[step], features, cardinalities, lanes, lanes_a_word, buffer, at
            )
            size, here = words * lanes_a_word, buffer[at[depth] : at[depth] + words]
            output = outputs[step]
            if output < 0:
                continue
            if short and lanes == 4:
                sums[output] = _difference_of_fours(here, f, g, small)
            elif short and lanes == 2:
                sums[output] = _difference_of_pairs(here, f, g, small)
            elif short:
                sums[output] = _difference_of_words(here, lanes // 4, f, g, small)
            else:
                begin = at[depth] * lanes_a_word
                joint, marginal = _sums(buffer_lanes[begin : begin + size], lanes, n_classes, logs)
                sums[output] = joint - marginal


@compiled
def take_step(kept, features, cardinalities, lanes, lanes_a_word, buffer, at):
    """Sum a feature out of the table of a step's parent; its depth, and the words of its table."""
    depth, dropped, size = step_shape(kept, features, cardinalities, lanes)
    words = size // lanes_a_word
    if depth > 0:
        inner = lanes
        for j in range(dropped + 1, len(features)):
            inner *= cardinalities[features[j]]
        sum_out(
            buffer[at[depth - 1] : at[depth]],
            buffer[at[depth] : at[depth] + words],
            size // inner,
            cardinalities[features[dropped]],
            inner // lanes_a_word,
        )
    at[depth + 1] = at[depth] + (words + ALIGNED_WORDS - 1) // ALIGNED_WORDS * ALIGNED_WORDS
    return depth, words


@compiled
def step_shape(kept, features, cardinalities, lanes):
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
