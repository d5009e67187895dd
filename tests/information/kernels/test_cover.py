from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from misfeat.information.kernels.cover import drop_trees, greedy_cover
from misfeat.lattice.levels import binomials


@pytest.mark.parametrize(("n", "size", "block_size"), [(8, 2, 4), (9, 3, 5), (6, 6, 6), (7, 1, 1)])
def test_every_subset_lies_in_some_block(n, size, block_size):
    blocks = greedy_cover(n, size, block_size, binomials(n, size))
    covered = {subset for block in blocks for subset in combinations(block.tolist(), size)}
    assert covered == set(combinations(range(n), size))


def test_a_larger_block_means_fewer_of_them():
    table = binomials(15, 5)
    n_blocks = [len(greedy_cover(15, 5, size, table)) for size in (5, 6, 7, 8)]
    assert n_blocks == sorted(n_blocks, reverse=True)
    assert n_blocks[0] == 3003


def test_steps_drop_one_member_of_a_step_before():
    table = binomials(7, 3)
    blocks = greedy_cover(7, 3, 5, table)
    offsets = np.concatenate([[0, 0], np.cumsum(table[7, 1:])])
    starts, kept, _ = drop_trees(blocks, 1, 3, table, offsets)
    for first, last in pairwise(starts):
        seen = {2**5 - 1}
        for step in kept[first:last].tolist():
            assert step in seen or any(step | 1 << j in seen for j in range(5))
            seen.add(step)
