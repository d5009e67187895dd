"""How output looks in a pipe and in terminals of several widths, and what a shell is offered."""

import re
from importlib.metadata import version

import pytest

from tests.cli.commands import ASKED, QUICK, check_snapshot, process, run, terminal, without_colours

HELP_OF = "0.29."
"""Typer sets the pages of help in its own way."""


@pytest.fixture
def named(table, tmp_path):
    """A table whose names hold what rich would take for markup."""
    path = tmp_path / "named.csv"
    lines = (tmp_path / "table.csv").read_text().replace("site,x,z,y", "site,[bold]x,z[/],y")
    path.write_text(lines)
    return str(path)


@pytest.mark.slow
def test_a_pipe_gets_plain_sentences_and_wide_tables_whatever_the_terminal_is(table):
    shown = process("run", table, *ASKED, "--tables", COLUMNS="40", TERM="xterm-256color")
    check_snapshot("pipe", shown.stdout)
    assert "\x1b" not in shown.stdout
    assert shown.stderr == "More:   --out DIR saves the run and its report, for misfeat ask.\n"
    notes = process("run", table, *ASKED, "--json").stderr.splitlines()
    assert len(notes) == 2
    assert notes[0].startswith("note: Few rows of the rarer class")
    assert notes[1].startswith("note: With 2 subgroups")


def test_json_in_a_pipe(table):
    shown = run("run", table, *ASKED, "--json").stdout
    check_snapshot("json", re.sub(r"(\d\.\d{6})\d+", r"\1", shown))


@pytest.mark.parametrize("columns", [40, pytest.param(80, marks=pytest.mark.slow)])
def test_a_terminal_gets_lines_that_fit_and_no_progress_if_quiet(with_progress, table, columns):
    asked = ("run", table, *ASKED, "--cost", "z=2", "--quiet", "--tables")
    sent = terminal(*asked, columns=columns, all_of_it=True)
    check_snapshot(f"terminal_{columns}", sent)
    assert max(len(line) for line in without_colours(sent).splitlines()) <= columns


@pytest.mark.slow
def test_no_color_means_no_colours_and_markup_in_names_is_text(named):
    asked = ("run", named, *QUICK, "--tables")
    sent = terminal(*asked, columns=80, NO_COLOR="1")
    codes = set(re.findall(r"\x1b\[([0-9;]*)m", sent))
    assert codes <= {"", "0", "1", "2"}  # plain, bold and dim
    for shown in (without_colours(sent), run(*asked).stdout):
        assert "[bold]x, z[/]*" in shown
        assert "[bold]x and z[/] explain" in shown


@pytest.mark.skipif(
    not version("typer").startswith(HELP_OF), reason=f"the pages were made by typer {HELP_OF}"
)
def test_help_looks_right():
    check_snapshot("help", process("--help", TERMINAL_WIDTH="80").stdout)
    check_snapshot("help_run", process("run", "--help", TERMINAL_WIDTH="80").stdout)


@pytest.mark.slow
def test_a_terminal_shows_progress_and_takes_it_away_again(with_progress, table):
    sent = terminal("run", table, *QUICK, columns=40, all_of_it=True)
    assert "Scoring feature" in sent
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h") > 0  # the cursor is hidden, and back
    for line in without_colours(sent).replace("\r", "\n").splitlines():
        assert len(line) <= 40 or line.startswith(("note: ", "More: ")), line


def offered(*words: str) -> list[str]:
    line = " ".join(["misfeat", *words])
    found = process(_MISFEAT_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words)))
    assert found.stderr == ""
    return found.stdout.split()


def test_commands_and_options_are_offered():
    assert "--missing-threshold" in offered("run", "--missing")
    assert "doctor" in offered("d")


def test_a_script_for_the_shell_can_be_shown():
    shown = process("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_MISFEAT_COMPLETE=complete_bash" in shown.stdout
