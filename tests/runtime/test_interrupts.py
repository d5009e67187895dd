from __future__ import annotations

import ctypes
import signal
import sys
import threading
import weakref

import pytest

from misfeat.runtime.threads import (
    Work,
    answer_interrupt,
    check_interrupt,
    interrupts_kept,
    interrupts_put_off,
)


@pytest.fixture(autouse=True)
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


DROPPED = {
    "a ctypes callback": within_ctypes,
    "a weak reference": within_a_weak_reference,
    "__del__": Deleted,
    "an engine": as_an_error_of_an_engine,
}


@pytest.mark.parametrize("where", DROPPED)
def test_an_interrupt_that_was_dropped_is_raised_all_the_same(where, capfd):
    with pytest.raises(KeyboardInterrupt), interrupts_kept():
        DROPPED[where]()
    assert capfd.readouterr().err == ""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_dropped_interrupt_is_raised_at_the_next_check():
    went_on = []

    def work():
        with interrupts_kept():
            within_ctypes()
            check_interrupt()
            went_on.append(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not went_on


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_interrupt_stops_the_tasks_not_yet_begun(n_jobs):
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


def test_an_answered_interrupt_is_not_raised_again():
    with interrupts_kept():
        within_ctypes()
        answer_interrupt()
        check_interrupt()


def test_what_is_put_off_comes_at_the_end():
    done = []

    def work():
        with interrupts_kept():
            with interrupts_put_off():
                ctrl_c()
                done.append("the block")
            done.append("after it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["the block", "after it"]


def test_other_errors_pass_and_other_drops_are_told(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropped: told.append(dropped.exc_type))
    before = sys.unraisablehook

    def work():
        with interrupts_kept():
            ctypes.CFUNCTYPE(None)(lambda: 1 / 0)()
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert told == [ZeroDivisionError]
    assert sys.unraisablehook is before


def test_a_handler_of_the_users_own_stays():
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(1))
    try:
        with interrupts_kept():
            ctrl_c()
        assert came == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_are_left_alone():
    ended = []

    def work():
        with interrupts_kept(), interrupts_put_off():
            check_interrupt()
        ended.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [1]
