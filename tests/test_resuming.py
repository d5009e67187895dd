from __future__ import annotations

import os
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from misfeat import Coding, SubgroupSelector, checkpoint, wiring
from misfeat.completion import InteractionsCompleter
from misfeat.datasets import make_cohorts
from misfeat.information.measures import MutualInformation
from misfeat.machine.steps import UNFINISHED
from tests.cli.commands import TABLE
from tests.machine.test_steps import Killed

DATA = make_cohorts(3, 100, 5, hide=0.2, random_state=0)


class Custom(InteractionsCompleter):
    """A completer that cannot be saved."""


@contextmanager
def killed_in(folder):
    with suppress(Killed), checkpoint(folder):
        yield
        raise Killed


def fitted(table=DATA.columns, target=DATA.target, groups=DATA.groups, **settings):
    settings = {"size": 2, "random_state": 0, **settings}
    return SubgroupSelector(groups, **settings).fit(table, target)


@pytest.fixture
def scored(monkeypatch):
    """How many subgroups were scored."""
    calls, method = [], MutualInformation.of_levels

    def counted(self, cohort, *arguments):
        calls.append(cohort)
        return method(self, cohort, *arguments)

    monkeypatch.setattr(MutualInformation, "of_levels", counted)
    return calls


def all_answers(selector):
    selection = selector.selection_
    tests = selection.significances(permutations=39)
    told = [selection.enoughs(permutations=39), selection.trusts()]
    told.append(selection.resampled(resamples=3))
    return selection.completed().score.tobytes(), str(tests.p_values), repr(told)


@pytest.mark.parametrize(
    "settings", [{}, {"measure": "mutual_info", "estimate": "sample"}, {"random_state": None}]
)
def test_a_fit_goes_on_from_what_was_finished_with_the_same_answers(settings, tmp_path, scored):
    with killed_in(tmp_path):
        first = all_answers(fitted(**settings))
    assert len(scored) > 0
    scored.clear()
    with checkpoint(tmp_path):
        again = all_answers(fitted(**settings))
    assert scored == []
    assert again == first == all_answers(fitted(**settings))
    assert list(tmp_path.iterdir()) == []


def test_a_subgroup_that_was_scored_is_not_scored_again(tmp_path, monkeypatch, scored):
    score = MutualInformation.of_levels

    def stopped(self, cohort, *arguments):
        if cohort == 2:
            raise Killed
        return score(self, cohort, *arguments)

    with monkeypatch.context() as patched, suppress(Killed), checkpoint(tmp_path):
        patched.setattr(MutualInformation, "of_levels", stopped)
        fitted()
    assert scored == [0, 1]
    scored.clear()
    with checkpoint(tmp_path):
        found = fitted().selection_.completed().score
    assert scored == [2]
    assert np.array_equal(found, fitted().selection_.completed().score)


@pytest.mark.parametrize("settings", [{"size": 3}, {"confidence": 0.8}, {"exclude": ["f1"]}])
def test_steps_of_other_settings_are_not_used(settings, tmp_path, scored):
    with killed_in(tmp_path):
        fitted()
    scored.clear()
    with checkpoint(tmp_path):
        found = fitted(**settings).selection_.completed().score
    assert scored == [0, 1, 2]
    assert np.array_equal(found, fitted(**settings).selection_.completed().score)


def test_steps_of_another_table_are_not_used(tmp_path, scored):
    with killed_in(tmp_path):
        fitted()
    scored.clear()
    other = {name: list(values) for name, values in DATA.columns.items()}
    other["f1"] = other["f1"][::-1]
    with checkpoint(tmp_path):
        fitted(other)
    assert scored == [0, 1, 2]


@pytest.mark.parametrize("settings", [{"coding": Coding(min_cell=2)}, {"completer": Custom()}])
def test_nothing_is_kept_of_rows_that_must_not_be_stored_nor_of_unknown_completers(
    settings, tmp_path
):
    with killed_in(tmp_path):
        fitted(**settings)
    assert not (tmp_path / UNFINISHED).exists()


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(TABLE)
    return file


def fitted_file(file):
    return fitted(str(file), "y", "site", completer="interactions")


def test_files_are_read_once_unless_they_change(file, tmp_path, monkeypatch):
    with killed_in(tmp_path / "kept"):
        first = fitted_file(file).cohorts_
    read = []
    build = wiring.counted
    monkeypatch.setattr(
        wiring, "counted", lambda *arguments: (read.append(1), build(*arguments))[1]
    )
    with killed_in(tmp_path / "kept"):
        again = fitted_file(file).cohorts_
    assert read == []
    assert again.notes == first.notes
    assert again.columns == first.columns
    assert again.codes.dtype == first.codes.dtype
    assert np.array_equal(again.codes, first.codes)
    os.utime(file, ns=(1, 1))
    with checkpoint(tmp_path / "kept"):
        fitted_file(file)
    assert read == [1]
