from __future__ import annotations

import numpy as np

from misfeat.information.kernels.codes import squeeze


def test_codes_are_renumbered_without_gaps_and_lacking_values_stay():
    lines = np.array([[4, -1, 0, 4], [1, 0, 1, 0], [-1, -1, -1, -1]], dtype=np.int16)
    cardinalities = np.empty(3, dtype=np.int64)
    squeeze(lines, 5, cardinalities)
    assert lines.tolist() == [[1, -1, 0, 1], [1, 0, 1, 0], [-1, -1, -1, -1]]
    assert cardinalities.tolist() == [2, 2, 1]
