# ruff: noqa: PT012
import ctypes
import signal
import sys
import threading
import weakref

import pytest

from misfeat.runtime.interrupts import (
    answer_interrupt,
    check_interrupt,
    interrupts_kept,
    interrupts_put_off,
)
from misfeat.runtime.threads import Work


@pytest.fixture
def interruptible():
    """Take Ctrl-C as in a terminal; a shell has commands in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def within_ctypes():
    ctypes.CFUNCTYPE(None)(ctrl_c)()


def within_a_weak_reference():
    class Thing:
        pass

    thing = Thing()
    _reference = weakref.ref(thing, lambda _: ctrl_c())
    del thing


def as_an_error_of_an_engine():
    try:
        ctrl_c()
    except KeyboardInterrupt:
        raise RuntimeError("Query interrupted") from None


class Deleted:
    def __del__(self):
        ctrl_c()


def test_an_interrupt_that_was_dropped_is_raised_all_the_same(interruptible, capfd):
    for drop in (within_ctypes, within_a_weak_reference, Deleted, as_an_error_of_an_engine):
        with pytest.raises(KeyboardInterrupt), interrupts_kept():
            drop()
        assert capfd.readouterr().err == "", drop
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_interrupt_stops_the_tasks_not_yet_begun(interruptible, n_jobs):
    ran = []

    def task():
        ran.append(1)
        if len(ran) == 2:
            within_ctypes() if n_jobs == 1 else signal.pthread_kill(
                threading.main_thread().ident, signal.SIGINT
            )
        threading.Event().wait(0.01)

    with pytest.raises(KeyboardInterrupt), interrupts_kept():
        Work(n_jobs).run([task] * 300)
    assert len(ran) < 300


def test_an_answered_interrupt_is_not_raised_again(interruptible):
    with interrupts_kept():
        within_ctypes()
        answer_interrupt()
        check_interrupt()


def test_what_is_put_off_comes_at_the_end(interruptible):
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_kept():
        with interrupts_put_off():
            ctrl_c()
            done.append("the block")
        done.append("after it")
    assert done == ["the block", "after it"]


def test_other_errors_pass_and_other_drops_are_told(interruptible, monkeypatch):
    dropped = []
    monkeypatch.setattr(sys, "unraisablehook", lambda error: dropped.append(error.exc_type))
    with pytest.raises(KeyError), interrupts_kept():
        ctypes.CFUNCTYPE(None)(lambda: 1 / 0)()
        raise KeyError
    assert dropped == [ZeroDivisionError]


def test_a_handler_of_the_users_own_stays(interruptible):
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(1))
    try:
        with interrupts_kept():
            ctrl_c()
        assert came == [1]
    finally:
        signal.signal(signal.SIGINT, before)
