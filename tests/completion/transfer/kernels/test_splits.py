from __future__ import annotations

import numpy as np

from misfeat.completion.transfer.kernels.splits import cohorts_lacking, split_of


def test_a_subset_falls_into_what_was_recorded_and_what_was_not():
    split = split_of(np.array([1, 4, 6]), np.array([2, 3, 4]), 0b010)
    assert split.recorded.tolist() == [1, 6]
    assert split.o_cards.tolist() == [2, 4]
    assert split.o_strides.tolist() == [4, 0, 1]
    assert split.n_o == 8
    assert split.q_digits.tolist() == [[0], [1], [2]]


def test_cells_of_both_parts_add_up_to_every_cell_once():
    for pattern in range(1, 8):
        split = split_of(np.array([0, 1, 2]), np.array([2, 3, 4]), pattern)
        cells = split.of_o[:, None] + split.of_q
        assert sorted(cells.ravel()) == list(range(24))
        assert (np.diff(split.of_o) > 0).all()


def test_cohorts_are_told_apart_by_the_members_they_lack():
    missing = np.array([[True, False], [False, False], [True, True], [True, False]])
    lacking = {p: cohorts_lacking(np.array([0, 1]), p, missing).tolist() for p in range(4)}
    assert lacking == {0: [1], 1: [0, 3], 2: [], 3: [2]}
