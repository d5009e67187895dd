from __future__ import annotations

import re

import pytest

from misfeat import MisfeatError, SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.machine import progress
from misfeat.show import forecast
from misfeat.show.costs import Costs
from misfeat.show.first_screen.effort import effort_for
from misfeat.show.forecast import Ahead, foretell, work_ahead

ALL = Ahead(tested=True, validated=True, redrawn=True)


def fitted(n_features=6, n_rows=200, size=2, hide=0.3):
    data = make_cohorts(3, n_rows, n_features, hide=hide, random_state=0)
    return SubgroupSelector(data.groups, size=size).fit(data.columns, data.target).selection_


@pytest.fixture(scope="module")
def selection():
    return fitted()


def seconds(selection, ahead=ALL):
    return forecast.forecast(selection, effort_for(selection, selection.size), ahead)


def test_every_step_that_follows_is_counted(selection, with_progress, monkeypatch):
    told = []

    class Told:
        def __init__(self, whole):
            pass

        def __call__(self, what, done, total):
            told.append(what)

        def close(self):
            pass

    monkeypatch.setattr(progress, "_display", Told)
    again = fitted()
    again.verbose = 1
    again.book._exact.clear()
    again.book._completed.clear()
    from misfeat.show.first_screen import first_screen

    first_screen(again)
    again.trusts()
    again.resampled(resamples=3)
    assert {*seconds(selection)} <= {*told}


def test_more_features_rows_and_larger_sets_take_longer():
    least = sum(seconds(fitted(hide=0.0)).values())
    for more in ({"n_features": 9}, {"n_rows": 600}, {"size": 3}):
        assert sum(seconds(fitted(**more, hide=0.0)).values()) > least


def test_a_long_table_takes_more_memory_than_its_scores(monkeypatch):
    monkeypatch.setattr(forecast, "MUCH", 1)
    long = fitted(n_rows=2000)
    (line,) = announced(long, monkeypatch, Ahead())
    told = float(re.search(r"and ([0-9.]+) MiB", line)[1]) * 2**20
    assert told > long.book.memory_needed(long.size)


def test_the_report_is_counted_where_it_is_written(selection):
    written = seconds(selection, Ahead(reported=True))
    assert {*written} - {*seconds(selection, Ahead())} == {forecast.REPORTING}


def test_what_does_not_follow_is_not_counted(selection):
    assert len(seconds(selection, Ahead())) == 2
    assert sum(seconds(selection, Ahead()).values()) < sum(seconds(selection).values())


def announced(selection, monkeypatch, ahead):
    said = []
    monkeypatch.setattr(forecast, "announce", said.append)
    with work_ahead(ahead):
        foretell(selection)
    return said


def test_short_work_is_not_announced(selection, monkeypatch):
    assert announced(selection, monkeypatch, Ahead()) == []


def test_long_work_is_announced_with_what_there_is_to_do(selection, monkeypatch):
    monkeypatch.setattr(forecast, "MEASURED", Costs(once=2000.0))
    (line,) = announced(selection, monkeypatch, Ahead(tested=True, validated=True))
    assert line.startswith("About ")
    assert line.endswith(
        ": 15 sets of 2 features in 3 subgroups, held against up to 999 deals of the target, then "
        "validation."
    )
    (line,) = announced(selection, monkeypatch, Ahead())
    assert line.endswith(": 15 sets of 2 features in 3 subgroups.")


def test_much_memory_is_announced_however_short_the_work(selection, monkeypatch):
    monkeypatch.setattr(forecast, "MUCH", 1)
    (line,) = announced(selection, monkeypatch, Ahead())
    assert re.match(r"About 1 s and [0-9.]+ MiB of memory: 15 sets of 2 features", line)


def test_what_does_not_fit_is_refused_before_the_work(selection, monkeypatch):
    monkeypatch.setattr("misfeat.machine.memory.available_memory", lambda: 1000)
    with pytest.raises(MisfeatError, match="sets of 2 among 6 features in 3 subgroups would need"):
        announced(selection, monkeypatch, Ahead())


def test_what_follows_is_forgotten_after_the_block(selection, monkeypatch):
    monkeypatch.setattr(forecast, "MEASURED", Costs(once=2000.0))
    announced(selection, monkeypatch, ALL)
    said = []
    monkeypatch.setattr(forecast, "announce", said.append)
    foretell(selection)
    assert "deals" not in said[0]
