"""Runs that are stopped by an interrupt."""

from __future__ import annotations

import pytest

from misfeat import Selection
from misfeat.machine.steps import UNFINISHED
from tests.cli.commands import QUICK, run


@pytest.fixture
def interrupted(table, tmp_path, monkeypatch):
    """The folder of a run that was interrupted while its report was made."""

    def stop(*_arguments, **_settings):
        raise KeyboardInterrupt

    folder = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr("misfeat.show.report.report.Report.html", stop)
        assert run("run", table, *QUICK, "--out", str(folder)).exit_code == 130
    return folder


def test_a_run_that_was_interrupted_goes_on(table, interrupted, monkeypatch):
    assert (interrupted / UNFINISHED).exists()

    def again(*_arguments):
        raise AssertionError("this was done before")

    with monkeypatch.context() as patched:
        patched.setattr("misfeat.selection.computing.Computing._of_parts", again)
        result = run("run", table, *QUICK, "--out", str(interrupted))
    assert result.exit_code == 0, result.stderr
    assert (interrupted / "report.html").exists()
    assert not (interrupted / UNFINISHED).exists()


def test_another_save_in_the_folder_puts_away_what_was_left(interrupted):
    Selection.load(interrupted).save(interrupted)
    assert not (interrupted / UNFINISHED).exists()
