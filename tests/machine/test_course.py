from __future__ import annotations

import pytest

from misfeat.machine.course import ALMOST, BEFORE_IT_IS_KNOWN, Course


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_steps_of_their_own_begin_anew(clock):
    course = Course(clock=clock)
    course.tell("Scores", 0, 10)
    clock.now += 5
    course.tell("Scores", 5, 10)
    assert (course.share, course.left) == (0.5, 5.0)
    course.tell("Tests", 1, 10)
    assert (course.share, course.left) == (0.1, None)


def test_a_whole_counts_what_is_still_to_come(clock):
    course = Course(whole=True, clock=clock)
    course.expect({"Scores": 10.0, "Tests": 20.0, "Report": 10.0})
    course.tell("Scores", 0, 10)
    assert course.left == 40.0
    clock.now += 10
    course.tell("Scores", 10, 10)
    assert (course.share, course.left) == (0.25, 30.0)
    course.tell("Tests", 0, 4)
    clock.now += 5
    course.tell("Tests", 2, 4)  # twice as fast as expected
    assert course.left == 15.0
    assert course.share == pytest.approx(0.5)


def test_before_anything_is_expected_a_whole_has_hardly_begun(clock):
    course = Course(whole=True, clock=clock)
    course.tell("Reading", 1, 2)
    assert (course.share, course.left) == (BEFORE_IT_IS_KNOWN / 2, None)


def test_neither_share_nor_time_goes_back_where_work_takes_longer(clock):
    course = Course(whole=True, clock=clock)
    course.expect({"Scores": 10.0, "Tests": 10.0})
    shares, lefts = [], []
    for what in ("Scores", "Tests", "Something else"):
        for done in range(50):
            course.tell(what, done, 50)
            clock.now += 3
            shares.append(course.share)
            lefts.append(course.left)
    assert shares == sorted(shares)
    assert lefts == sorted(lefts, reverse=True)
    assert max(shares) <= ALMOST


def test_the_time_runs_down_between_what_steps_tell(clock):
    course = Course(whole=True, clock=clock)
    course.expect({"Scores": 10.0})
    course.tell("Scores", 0, 2)
    clock.now += 4
    assert course.left == 6.0
    clock.now += 60
    assert course.left == 0.0


def test_a_later_forecast_replaces_an_earlier_one(clock):
    course = Course(whole=True, clock=clock)
    course.expect({"Scores": 10.0, "Tests": 100.0})
    course.tell("Scores", 0, 2)
    course.expect({"Tests": 5.0})
    assert course.left == 15.0
