from __future__ import annotations

import numpy as np

from misfeat.completion.model import support_of
from misfeat.lattice import level


def test_support_tells_what_was_recorded_together():
    # 0 lacks a; a and b were recorded together in 1, a and c nowhere; d nowhere at all.
    missing = np.array(
        [[True, False, False, True], [False, False, True, True], [True, False, False, True]]
    )
    subsets = level(4, 2)
    names = {tuple(s): place for place, s in enumerate(subsets.tolist())}
    support = support_of(missing, subsets)[0]
    assert support[names[0, 1]] == 3
    assert support[names[0, 2]] == 1
    assert support[names[1, 2]] == 4
    assert support[names[0, 3]] == 0
    triple = support_of(missing[:, :3], level(3, 3))
    assert triple.ravel().tolist() == [1, 1, 1]
    in_pairs = np.array([[True, False, False], [False, True, False], [False, False, True]])
    assert support_of(in_pairs, level(3, 3)).ravel().tolist() == [2, 2, 2]
