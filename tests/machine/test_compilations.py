from __future__ import annotations

import numba as nb
import numpy as np

from misfeat.machine.compilations import compilations_counted


def inner(x):
    return x + 1


def test_kernels_within_others_are_counted_and_their_time_is_not_added():
    one = nb.njit(inner)

    @nb.njit
    def outer(x):
        return one(x) * 2

    names = []
    with compilations_counted(names.append) as found:
        assert outer(np.int64(3)) == 8
        outer(np.int64(4))
    assert found.count == 2
    assert names == ["outer", "inner"]
    assert found.seconds > 0


def test_nothing_is_counted_after_the_block():
    with compilations_counted() as found:
        pass
    nb.njit(inner)(1.5)
    assert (found.count, found.seconds) == (0, 0.0)
