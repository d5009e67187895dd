"""A covering design of blocks, and for each block the tree of subsets to read off it."""

from __future__ import annotations

import numpy as np

from misfeat.runtime.compilation import compiled, copy_lines, copy_values


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
def _rank_with(block, chosen, feature, table):
    """The rank of the chosen members of a block together with one more feature."""
    rank = 0
    place = 1
    inserted = False
    for j in range(len(chosen)):
        member = block[chosen[j]]
        if not inserted and feature < member:
            rank += table[feature, place]
            place += 1
            inserted = True
        rank += table[member, place]
        place += 1
    if not inserted:
        rank += table[feature, place]
    return rank


@compiled
def _newly_covered(block, n_members, feature, size, covered, table):
    """How many uncovered subsets of `size` a feature would add to a block."""
    gain = 0
    chosen = np.arange(size - 1)
    more = True
    while more:
        gain += covered[_rank_with(block, chosen, feature, table)] == 0
        more = _next_combination(chosen, n_members)
    return gain


@compiled
def _insert(block, n_members, feature):
    j = n_members
    while j > 0 and block[j - 1] > feature:
        block[j] = block[j - 1]
        j -= 1
    block[j] = feature


@compiled
def greedy_cover(n, size, block_size, table):
    """Blocks that cover every subset of `size`.

    Take the first subset that no block covers, and add the feature that covers most uncovered
    subsets until the block is full.
    """
    covered = np.zeros(table[n, size], dtype=np.uint8)
    blocks = np.empty((64, block_size), dtype=np.int64)
    n_blocks = 0
    first = np.arange(size)
    block = np.empty(block_size, dtype=np.int64)
    chosen = np.empty(size, dtype=np.int64)
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
                _insert(block, n_members, best)
            for j in range(size):
                chosen[j] = j
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
