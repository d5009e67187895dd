from __future__ import annotations

import json

import numpy as np
import pytest

from misfeat import Selection, SubgroupSelector, max_minutes
from misfeat.datasets import make_cohorts
from misfeat.selection.redrawing import FEWEST_IN_TIME
from misfeat.selection.resampled import AnsweredAnew
from misfeat.selection.scorebook import ScoreBook
from misfeat.selection.unfinished import Unfinished
from misfeat.show.answers import json_lines
from misfeat.show.first_screen import first_screen
from misfeat.show.report.gather import NO_TIME, gather
from tests.machine.test_deadline import Clock

DATA = make_cohorts(2, 150, 5, hide=0.2, random_state=0)
MINUTES = 5


@pytest.fixture
def clock():
    """A clock that a limit of some minutes is set by."""
    clock = Clock()
    with max_minutes(MINUTES, clock):
        yield clock


def fitted(**settings):
    selector = SubgroupSelector(DATA.groups, **{"size": 3, "random_state": 0, **settings})
    return selector.fit(DATA.columns, DATA.target)


def time_is_up_after(monkeypatch, clock, owner, name, when=lambda *_: True):
    """Have the clock run on once a method was called as `when` says."""
    method = getattr(owner, name)

    def called(self, *arguments):
        found = method(self, *arguments)
        if when(*arguments):
            clock.now += 60 * MINUTES
        return found

    monkeypatch.setattr(owner, name, called)


def test_a_fit_in_time_is_the_same_to_the_bit(clock):
    within = fitted().selection_
    with max_minutes(None):
        clock.now -= 1e6
        without = fitted().selection_
    assert within.unfinished == Unfinished()
    assert within.size == without.size == 3
    assert sorted(within.book.held) == sorted(without.book.held)
    for size, scores in without.book.held.items():
        assert np.array_equal(within.book.held[size].score, scores.score)
        assert np.array_equal(within.book.held[size].high, scores.high)


def test_sizes_that_there_is_no_time_for_are_left_out_and_told(clock, monkeypatch, tmp_path):
    time_is_up_after(monkeypatch, clock, ScoreBook, "completed", lambda size, *_: size == 2)
    selector = fitted()
    assert selector.selection_.size == 2
    assert len(selector.top_k()["features"][0]) == 2
    told = "Stopped after 5 minutes: sets of 3 features were not scored"
    assert told in selector.cautions()["sentence"][0]
    assert selector.caution_list()[0].severity == "overturns"
    selector.save(tmp_path / "run")
    again = Selection.load(tmp_path / "run")
    assert again.unfinished.parts == selector.selection_.unfinished.parts
    assert again.caution_list()[0].words == selector.caution_list()[0].words


def test_the_smallest_sets_are_scored_whatever_the_time(clock):
    clock.now += 1e6
    selector = fitted(include=["f1", "f2"])
    assert selector.selection_.size == 2
    assert fitted().selection_.size == 1


def test_a_size_that_is_chosen_is_the_smallest_where_the_time_is_up(clock):
    clock.now += 1e6
    selection = fitted(size="auto").selection_
    assert selection.size == 1
    assert "how many features are enough" in selection.unfinished.sentence


def test_what_a_budget_draws_is_not_changed_by_a_limit(clock):
    clock.now += 1e6
    selection = fitted(budget=0.5).selection_
    assert selection.size == 3
    assert not selection.unfinished.parts


def test_a_report_says_what_it_has_no_time_for(clock):
    selection = fitted().selection_
    clock.now += 60 * MINUTES
    findings = gather(selection)
    assert {one.verdict for one in findings.screen.subgroups} == {"not tested"}
    assert findings.trust is None
    assert findings.trust_in_words == NO_TIME
    assert findings.stability is None
    assert set(selection.unfinished.parts) == {"tests", "validation", "draws"}
    page = selection.report().html()
    assert "Stopped after 5 minutes" in page
    (line,) = (json.loads(one) for one in json_lines(selection) if '"unfinished"' in one)
    assert line["minutes"] == MINUTES
    assert len(line["missing"]) == 3


def test_tests_that_were_made_in_time_stay(clock):
    selection = fitted(size=2).selection_
    before = first_screen(selection)
    clock.now += 60 * MINUTES
    after = first_screen(selection)
    assert [one.words for one in after.subgroups] == [one.words for one in before.subgroups]
    assert not selection.unfinished.parts


@pytest.mark.parametrize(("drawn", "told"), [(FEWEST_IN_TIME, True), (FEWEST_IN_TIME - 1, False)])
def test_draws_that_were_made_in_time_count_if_they_are_enough(drawn, told, clock, monkeypatch):
    selection = fitted(size=1).selection_
    calls = []

    def when(_rng):
        calls.append(1)
        return len(calls) == drawn

    time_is_up_after(monkeypatch, clock, AnsweredAnew, "__call__", when)
    found = selection.resampled_in_time()
    assert len(calls) == drawn
    assert (found is not None) is told
    if told:
        assert found.resamples == drawn
        with max_minutes(None):
            monkeypatch.undo()
            whole = fitted(size=1).selection_.resampled(resamples=drawn)
        assert found.sets == whole.sets
    assert ("times instead of 60" in selection.unfinished.sentence) is told


def test_words_of_a_limit():
    assert Unfinished(1.0, {"size": "a", "tests": "b"}).sentence == "Stopped after 1 minute: a; b."
    assert Unfinished().sentence == ""
    assert Unfinished().caution is None
    assert Unfinished(0.5, {"draws": "x"}).caution.severity == "weakens"
