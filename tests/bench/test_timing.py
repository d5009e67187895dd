from __future__ import annotations

import numpy as np

from misfeat.bench import timing
from misfeat.bench.timing import StepClock, forget_peak, held_memory, peak_memory
from misfeat.machine.progress import progress_shown, progress_told

MEGABYTE = 2**20


def clock_of(*seconds):
    times = iter([(float(second), 2.0 * second) for second in seconds])
    return StepClock({"A": "first", "B": "second"}, times.__next__)


def test_a_step_ends_where_another_begins():
    clock = clock_of(0, 1, 3, 6, 10)
    with clock.part("rest"):
        clock("A", 0, 2)
        clock("B", 0, 2)
        clock("B", 2, 2)
    assert clock.seconds == {"rest": (5.0, 10.0), "first": (2.0, 4.0), "second": (3.0, 6.0)}


def test_a_step_that_is_not_known_goes_to_the_part():
    clock = clock_of(0, 1, 4)
    with clock.part("rest"):
        clock("something else", 0, 2)
    assert clock.seconds == {"rest": (4.0, 8.0)}


def test_parts_of_one_name_are_added():
    clock = clock_of(0, 1, 10, 12)
    for _ in range(2):
        with clock.part("rest"):
            pass
    assert clock.seconds == {"rest": (3.0, 6.0)}


def test_what_is_told_reaches_the_listener_though_nothing_is_shown():
    told = []
    with progress_told(lambda *said: told.append(said)):
        with progress_shown(True) as progress:
            progress("A", 1, 2)
        with progress_shown(False) as progress:
            assert progress is None
    assert told == [("A", 1, 2)]


def test_the_peak_holds_what_was_given_back():
    forget_peak()
    before = peak_memory()
    assert np.ones(64 * MEGABYTE, dtype=np.int8).sum() == 64 * MEGABYTE
    assert peak_memory() >= before
    assert peak_memory() >= held_memory() // 2


def test_where_the_system_keeps_no_status_the_peak_is_what_is_held(monkeypatch, tmp_path):
    monkeypatch.setattr(timing, "STATUS", tmp_path / "none")
    monkeypatch.setattr(timing, "RESET", tmp_path / "no" / "folder")
    forget_peak()
    assert peak_memory() > 0
