"""Many permutations of the target over the same rows, counted side by side.

Where the target is permuted, the features stay: the key of a row in a table is made once and serves
every permutation. A cell holds the counts of all classes of all permutations, so that a row is
added with a few wide additions, and features are summed out of all permutations at once. The rows
of every cell stay as many, so that of a score only the sum of f(c) = c log c over cells and classes
changes. See docs/explanation/intervals.md (p-values).

Where a set has few rows a cell, they are sorted into its cells instead, feature by feature. A row
that is alone in its cell adds nothing, whichever class it gets, and is left out from there on.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from misfeat.information.kernels.dense_blocks import CHUNK, make_keys, step_shape, take_step
from misfeat.information.null_expectation import c_log_c
from misfeat.runtime.array_types import Integers
from misfeat.runtime.compilation import compiled, compiled_fast, copy_values

BYTE = 255  # rows whose classes are counted in bytes
FEW = 16  # lower counts are counted themselves, f is looked up for others


class PermutedRows(NamedTuple):
    """Distinct rows of features, and the rows of the table that they stand for."""

    codes: NDArray[np.unsignedinteger]  # (n_features, n_patterns), none missing
    cardinalities: Integers
    patterns: Integers  # the distinct row of each row of the table, by stratum
    classes: NDArray[np.uint16]  # the class of each row of the table
    starts: Integers  # stratum i owns the rows starts[i]:starts[i + 1]
    n_classes: int


class Counts(NamedTuple):
    """Memory for counts of classes in all permutations: as words, and as the bytes they hold."""

    words: NDArray[np.uint64]  # of one cell
    counts: NDArray[np.uint8]
    seen_words: NDArray[np.uint64]  # (FEW, ...): in how many cells each low count was seen
    seen: NDArray[np.uint8]


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


@compiled
def _sort(codes, rows, starts, n_cells, sorted_rows, sorted_starts, places, own):
    """Sort the rows of every cell by a feature; those that lack it or are alone are left out."""
    filled = n_sorted = 0
    for cell in range(n_cells):
        first, n_rows = starts[cell], starts[cell + 1] - starts[cell]
        for i in range(n_rows):
            own[i] = codes[rows[first + i]]  # the last of `places` is of rows that lack a value
            places[own[i]] += 1
        places[-1] = 1
        for i in range(n_rows):
            place = places[own[i]]
            if place > 1:  # the first row of a value that several have
                n_sorted += 1
                sorted_starts[n_sorted] = filled + place
                place, filled = -filled, filled + place
            if place <= 0:
                sorted_rows[-place] = rows[first + i]
                places[own[i]] = place - 1
        for i in range(n_rows):
            places[own[i]] = 0
    return n_sorted


@compiled
def _add_words(total, words):
    for w in range(len(total)):
        total[w] += words[w]


@compiled
def _add_large_cell(rows, words, memory, n_classes, f, sign, sums):
    """Add the sum of f over the classes of a cell of any number of rows."""
    long_counts = np.zeros(len(memory.counts), dtype=np.int64)
    for first in range(0, len(rows), BYTE):
        memory.words[:] = 0
        for i in range(first, min(first + BYTE, len(rows))):
            _add_words(memory.words, words[rows[i]])
        for lane in range(len(long_counts)):
            long_counts[lane] += memory.counts[lane]
    for lane in range(len(sums) * n_classes):
        sums[lane // n_classes] += sign * c_log_c(long_counts[lane], f)


@compiled
def _add_seen(memory, n_classes, f, sums):
    """Add f as often as each low count was seen."""
    for value in range(2, FEW):
        for number in range(len(sums)):
            times = 0
            for lane in range(number * n_classes, (number + 1) * n_classes):
                times += memory.seen[value, lane]
            sums[number] += f[value] * times
    memory.seen_words[:] = 0


@compiled
def _see(counts, seen):
    """Note where each low count is; False, and nothing is noted, where one is not low."""
    greatest = np.uint8(0)
    for lane in range(len(counts)):
        greatest = max(greatest, counts[lane])
    for value in range(2, greatest + 1 if greatest < FEW else 0):
        own, low = seen[value], np.uint8(value)
        for lane in range(len(counts)):
            own[lane] += np.uint8(1) if counts[lane] == low else np.uint8(0)
    return greatest < FEW


@compiled
def _add_cells(rows, starts, n_cells, words, memory, n_classes, f, sums):
    """Add the sum of f over cells and classes, of every permutation."""
    n_seen, pairs = 0, memory.seen_words[2]
    for cell in range(n_cells):
        own = rows[starts[cell] : starts[cell + 1]]
        low = len(own) <= BYTE
        if len(own) == 2:
            one, other = words[own[0]], words[own[1]]
            for w in range(len(pairs)):
                pairs[w] += one[w] & other[w]
        elif low:
            memory.words[:] = 0
            for i in range(len(own)):
                _add_words(memory.words, words[own[i]])
            low = _see(memory.counts, memory.seen)
        if low:
            n_seen += 1
        else:
            _add_large_cell(own, words, memory, n_classes, f, 1.0, sums)
        if n_seen == BYTE or cell == n_cells - 1:
            _add_seen(memory, n_classes, f, sums)
            n_seen = 0


@compiled
def score_sorted(rows, of_classes, members, words, memory, f, scores):
    """Write the mutual information of every set and the target of every permutation to `scores`."""
    # `words` holds the counts of `count_classes` in bytes, one row of the table a line. Sets whose
    # first members are alike follow each other; -1 comes after the last member. The sum of f over
    # classes is NaN where rows lack values, so that it differs between sets.
    n_rows, n_classes = rows.codes.shape[1], rows.n_classes
    depths = members.shape[1] + 1
    own = np.empty((depths, n_rows), dtype=np.int32)  # rows in the cells of the first members
    starts = np.zeros((depths, n_rows + 1), dtype=np.int32)
    n_cells = np.ones(depths, dtype=np.int64)
    own[0] = np.arange(n_rows)
    starts[0, 1] = n_rows
    places = np.zeros(rows.cardinalities.max() + 1, dtype=np.int64)
    values = np.empty(n_rows, dtype=np.int64)
    whole = np.empty(n_rows, dtype=np.int32)
    for s in range(len(members)):
        depth, size = 0, (members[s] >= 0).sum()
        while s and depth < size - 1 and members[s, depth] == members[s - 1, depth]:
            depth += 1
        for d in range(depth, size):
            within, more = (own[d], starts[d], n_cells[d]), (own[d + 1], starts[d + 1])
            n_cells[d + 1] = _sort(rows.codes[members[s, d]], *within, *more, places, values)
        d = size
        _add_cells(own[d], starts[d], n_cells[d], words, memory, n_classes, f, scores[s])
        n_whole, fixed = n_rows, of_classes
        if np.isnan(of_classes):
            n_whole, fixed = 0, 0.0
            for i in range(n_rows):
                whole[n_whole] = i
                there = True
                for j in range(d):
                    there = there and rows.codes[members[s, j], i] >= 0
                n_whole += there
            _add_large_cell(whole[:n_whole], words, memory, n_classes, f, -1.0, scores[s])
        for cell in range(n_cells[d]):
            fixed += c_log_c(starts[d, cell + 1] - starts[d, cell], f)
        for number in range(scores.shape[1]):
            score = np.nan  # no row has all of the set's features
            if n_whole:
                score = np.log(np.float64(n_whole)) + (scores[s, number] - fixed) / n_whole
            scores[s, number] = score
