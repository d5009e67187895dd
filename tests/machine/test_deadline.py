from __future__ import annotations

import pytest

from misfeat import MisfeatError, max_minutes
from misfeat.machine.deadline import check_time, in_time, minutes_allowed
from misfeat.machine.threads import Work


class Clock:
    """Tells the time that a test sets."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_work_ends_at_the_first_look_at_the_clock_after_the_time_is_up():
    clock, done = Clock(), []

    def task():
        done.append(1)
        clock.now += 25.0

    with max_minutes(1, clock):
        assert in_time(lambda: Work(1).run([task] * 9)) is None
    assert len(done) == 3


def test_what_may_not_be_left_out_is_done_to_its_end():
    clock = Clock()
    with max_minutes(1, clock):
        clock.now += 1000.0
        check_time()
        assert in_time(lambda: 3) == 3  # at hand already
        assert in_time(check_time) is None


def test_without_a_limit_nothing_ends():
    with max_minutes(None):
        assert minutes_allowed() is None
        assert in_time(lambda: 3) == 3


def test_the_limit_holds_within_its_block_alone():
    with max_minutes(2.5):
        assert minutes_allowed() == 2.5
    assert minutes_allowed() is None


@pytest.mark.parametrize("minutes", [0, -1, "5", True, float("nan"), float("inf"), [1]])
def test_anything_but_a_positive_number_is_refused(minutes):
    with pytest.raises(MisfeatError, match="max_minutes"), max_minutes(minutes):
        pass
