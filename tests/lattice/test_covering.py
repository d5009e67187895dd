from __future__ import annotations

from itertools import combinations

import pytest

from misfeat.lattice.covering import covering_blocks


@pytest.mark.parametrize("n_features", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("most_cells", [1, 600, 5**9, 10**30])
def test_every_set_lies_in_a_block(n_features, size, most_cells):
    blocks = covering_blocks([5] * n_features, size, most_cells)
    held = {chosen for block in blocks for chosen in combinations(block, min(size, n_features))}
    assert held >= set(combinations(range(n_features), min(size, n_features)))
    assert all(block == tuple(sorted(set(block))) for block in blocks)


def test_blocks_have_no_more_cells_than_they_may():
    blocks = covering_blocks([5] * 20, 3, 5**9)
    assert max(map(len, blocks)) == 9
    assert len(blocks) == 35
