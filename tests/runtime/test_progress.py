from __future__ import annotations

import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.runtime.progress import Bar, progress_shown


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def said():
    return []


def test_short_work_is_not_worth_a_line(said):
    clock = Clock()
    show = Bar(said.append, clock)
    for done in range(4):
        show("Scores", done, 4)
        clock.now += 0.9
    assert said == []


def test_lines_are_some_seconds_apart_and_tell_the_time_left(said):
    clock = Clock()
    show = Bar(said.append, clock)
    for done in range(100):
        show("Scores", done, 100)
        clock.now += 1
    assert said[0] == "Scores: 4 %, about 0:01:36 left"
    assert said[-1] == "Scores: 99 %, about 0:00:01 left"
    assert len(said) == 20


def test_work_that_starts_again_is_timed_anew(said):
    clock = Clock()
    show = Bar(said.append, clock)
    show("Scores", 0, 10)
    clock.now += 100
    show("Scores", 9, 10)
    show("Scores", 0, 10)
    clock.now += 5
    show("Scores", 5, 10)
    assert said == ["Scores: 90 %", "Scores: 50 %"]


def test_finished_work_is_not_said(said):
    clock = Clock()
    show = Bar(said.append, clock)
    clock.now += 60
    show("Scores", 10, 10)
    assert said == []


def test_a_block_within_another_is_shown_by_the_outer_one(with_progress):
    with progress_shown(True) as outer, progress_shown(True) as inner:
        assert inner is outer
    with progress_shown(True) as later:
        assert later is not outer


@pytest.mark.parametrize("wanted", [True, False])
def test_the_environment_turns_progress_off_for_good(monkeypatch, wanted):
    monkeypatch.setenv("MISFEAT_PROGRESS", "off")
    with progress_shown(wanted) as progress:
        assert progress is None


@pytest.mark.parametrize("text", ["", "auto"])
def test_the_environment_leaves_progress_as_it_is_wanted(monkeypatch, text):
    monkeypatch.setenv("MISFEAT_PROGRESS", text)
    with progress_shown(True) as shown, progress_shown(False) as hidden:
        assert shown is not None
        assert hidden is None


def test_what_the_environment_may_not_say_is_refused(monkeypatch):
    monkeypatch.setenv("MISFEAT_PROGRESS", "no")
    with (
        pytest.raises(MisfeatError, match="MISFEAT_PROGRESS='no'; use 'auto' or 'off'"),
        progress_shown(True),
    ):
        pass


def test_every_step_of_a_fit_is_told_and_finished(with_progress, monkeypatch):
    told = []

    class Told:
        def __call__(self, *step):
            told.append(step)

        def announce(self, line):
            pass

        def close(self):
            pass

    monkeypatch.setattr("misfeat.runtime.progress.Bar", Told)
    data = make_cohorts(n_rows=200, n_features=5, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=2, verbose=1).fit(data.columns, data.target)
    steps = list(dict.fromkeys(what for what, _, _ in told))
    assert steps == [
        "Opening the table",
        "Reading columns",
        "Counting rows",
        "Scoring feature sets",
        "Estimating what holds beyond these rows",
    ]
    told_before = len(told)
    selector.validate()
    assert len(told) > told_before
    for what in dict.fromkeys(what for what, _, _ in told):
        done = [done for step, done, total in told if step == what]
        totals = {total for step, _, total in told if step == what}
        assert done[-1] == max(totals), what
        assert done == sorted(done), what


def test_silent_work_tells_nothing(capfd):
    data = make_cohorts(n_rows=200, n_features=4, random_state=0)
    SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    assert capfd.readouterr() == ("", "")
