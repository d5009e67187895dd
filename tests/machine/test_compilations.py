from __future__ import annotations

import gc

import numba as nb
import numpy as np
import pytest
from numba.core import event
from numba.core.errors import TypingError

from misfeat.machine.compilations import EVENT, CollectorPaused, compilations_counted


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


@pytest.fixture
def paused():
    """A pause, whether or not a kernel of misfeat's was imported, which brings another."""
    listener = CollectorPaused()
    event.register(EVENT, listener)
    yield
    event.unregister(EVENT, listener)


@pytest.mark.usefixtures("paused")
def test_the_collector_rests_while_a_kernel_is_compiled_and_not_after():
    states = []
    with compilations_counted(lambda _: states.append(gc.isenabled())):
        nb.njit(lambda x: x + 1)(2.5)
    assert states == [False]
    assert gc.isenabled()


@pytest.mark.usefixtures("paused")
def test_the_collector_goes_on_after_a_kernel_that_cannot_be_compiled():
    with pytest.raises(TypingError):
        nb.njit(lambda x: x.nothing)(1)
    assert gc.isenabled()


@pytest.mark.usefixtures("paused")
def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        nb.njit(lambda x: x + 2)(2.5)
        assert not gc.isenabled()
    finally:
        gc.enable()
