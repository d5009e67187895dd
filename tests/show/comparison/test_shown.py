from __future__ import annotations

import pytest

import misfeat
from misfeat.exceptions import MisfeatError
from misfeat.show.comparison import ShownComparison
from tests.show.comparison.conftest import columns, fitted


def test_estimators_selections_and_folders_give_the_same_answer(runs, comparison, tmp_path):
    for name, run in zip(("last", "this"), runs, strict=True):
        run.save(tmp_path / name)
    found = misfeat.compare(str(tmp_path / "last"), tmp_path / "this")
    assert found.changes == comparison.changes
    assert found.names == ("last", "this")
    assert misfeat.compare(*(run.selection_ for run in runs)).sentences() == comparison.sentences()


def test_runs_have_the_names_that_they_are_given(runs):
    assert misfeat.compare(*runs).names == ("first", "second")
    assert misfeat.compare(*runs, names=["2024", "2025"]).names == ("2024", "2025")
    with pytest.raises(MisfeatError, match="give two names"):
        misfeat.compare(*runs, names="2024")


@pytest.mark.parametrize("nothing", [misfeat.SubgroupSelector(), None, {"a": [1]}])
def test_what_is_no_run_is_refused(runs, nothing):
    with pytest.raises(MisfeatError, match=r"second.* is neither a fitted SubgroupSelector"):
        misfeat.compare(runs[0], nothing)


def test_it_says_the_answer_where_it_is_printed(comparison):
    assert "in site=b, x tells" in repr(comparison)
    assert isinstance(comparison, ShownComparison)


def test_what_it_says_in_a_terminal_is_what_the_command_prints(comparison, capsys):
    comparison.show()
    shown = capsys.readouterr().out
    assert shown.startswith("Nothing changed by more than its uncertainty in 2 of 3 subgroups;")


def test_the_page_can_be_written_and_shown_in_a_notebook(comparison, tmp_path):
    comparison.write_html(tmp_path / "changes.html")
    assert (tmp_path / "changes.html").read_text() == comparison.html()
    assert comparison._repr_html_().startswith("<iframe")


def test_the_browser_is_shown_a_file(comparison, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    comparison.open()
    assert opened[0].startswith("file://")
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    with pytest.raises(MisfeatError, match="No browser could be opened"):
        comparison.open()


def test_size_and_subgroup_are_handed_on(runs):
    found = misfeat.compare(*runs, size=1, subgroup="site=b")
    assert (found.size, len(found.subgroups)) == (1, 1)


def test_two_draws_of_one_population_need_not_be_of_one_estimator():
    found = misfeat.compare(fitted(columns(2, ())), fitted(columns(3, ())).selection_)
    assert len(found.subgroups) == 3
