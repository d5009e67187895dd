from __future__ import annotations

import numpy as np

from misfeat.completion.baselines.iterative.rows import cut_rows
from tests.completion.coded import cohorts_of


def test_rows_are_cut_to_single_ones_where_they_are_few_and_to_few_pieces_where_many():
    cohorts = cohorts_of(
        np.array([[0, 1, 0, 1]]),
        np.array([0, 1, 0, 1]),
        np.array([1000, 3, 5, 7]),
        [0, 2, 4],
        np.array([[True], [False]]),
    )
    fine, coarse = (cut_rows(cohorts, cohorts.missing, many) for many in (2000, 10))
    assert fine.offsets.tolist() == [0, 1003, 1005]
    assert fine.weights.tolist() == [1] * 1003 + [5, 7]
    assert coarse.weights[:-3].tolist() == [100] * 10
    assert coarse.weights[-3:].tolist() == [3, 5, 7]
    assert coarse.codes[0].tolist() == [0] * 10 + [1, 0, 1]
    assert coarse.target_codes.tolist() == [0] * 10 + [1, 0, 1]
