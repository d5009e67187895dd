"""Runs that are stopped, by a limit of minutes or by an interrupt."""

from __future__ import annotations

import json

import pytest

from misfeat import Selection
from misfeat.machine.steps import UNFINISHED
from tests.cli.commands import QUICK, run

NO_TIME = ("--max-minutes", "1e-9")
TOLD = "Stopped after 1e-09 minutes: sets of 2 features were not scored"


def test_a_run_without_time_says_on_screen_what_it_lacks(table):
    result = run("run", table, *QUICK, *NO_TIME)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"Caution: {TOLD}; nothing was tested against chance.")
    assert "Allow for more time with --max-minutes." in result.stdout


def test_json_has_a_line_of_what_is_missing(table):
    result = run("run", table, *QUICK, *NO_TIME, "--validate", "--json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    (left_out,) = (line for line in lines if line["kind"] == "unfinished")
    assert left_out["minutes"] == 1e-9
    assert left_out["missing"] == [
        "sets of 2 features were not scored",
        "nothing was tested against chance",
        "how far answers hold was not checked",
    ]
    assert {len(line["features"]) for line in lines if line["kind"] == "set"} == {1}


def test_a_saved_run_and_its_report_say_it_too(table, tmp_path):
    folder = tmp_path / "run"
    assert run("run", table, *QUICK, *NO_TIME, "--out", str(folder)).exit_code == 0
    assert TOLD in (folder / "report.html").read_text(encoding="utf-8")
    assert Selection.load(folder).unfinished.parts["draws"].startswith("whether sets come out")
    assert TOLD in run("ask", str(folder), "cautions", "--json").stdout
    assert not (folder / UNFINISHED).exists()


def test_minutes_are_a_positive_number(table):
    result = run("run", table, *QUICK, "--max-minutes", "0")
    assert result.exit_code == 2
    assert "--max-minutes 0" in result.stderr


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
