"""How output looks: in a pipe, in terminals of several widths, with and without colours."""

from __future__ import annotations

import re

import pytest

from tests.cli.commands import ASKED, check_snapshot, process, terminal, without_colours


@pytest.fixture
def named(table, tmp_path):
    """A table whose names hold what rich would take for markup."""
    path = tmp_path / "named.csv"
    lines = (tmp_path / "table.csv").read_text().replace("site,x,z,y", "site,[bold]x,z[/],y")
    path.write_text(lines)
    return str(path)


def test_a_pipe_gets_wide_plain_tables_whatever_the_terminal_is(table):
    wide = process("run", table, *ASKED)
    check_snapshot("pipe", wide.stdout)
    narrow = process("run", table, *ASKED, COLUMNS="40", TERM="xterm-256color")
    assert narrow.stdout == wide.stdout
    assert "\x1b" not in wide.stdout


def test_json_in_a_pipe(table):
    shown = process("run", table, *ASKED, "--json").stdout
    check_snapshot("json", re.sub(r"(\d\.\d{6})\d+", r"\1", shown))


@pytest.mark.parametrize("columns", [40, 80])
def test_a_terminal_gets_tables_that_fit(table, columns):
    sent = terminal("run", table, *ASKED, "--cost", "z=2", columns=columns)
    check_snapshot(f"terminal_{columns}", sent)
    assert max(len(line) for line in without_colours(sent).splitlines()) <= columns


def test_no_color_means_no_colours(table):
    sent = terminal("run", table, *ASKED, columns=80, NO_COLOR="1")
    codes = set(re.findall(r"\x1b\[([0-9;]*)m", sent))
    assert codes <= {"", "0", "1", "2"}  # plain, bold and dim


def test_markup_in_names_is_text(named):
    asked = ("--target", "y", "--by", "site", "--size", "2")
    for shown in (
        process("run", named, *asked).stdout,
        without_colours(terminal("run", named, *asked, columns=80)),
    ):
        assert "[bold]x, z[/]*" in shown


def test_help_looks_right(monkeypatch):
    check_snapshot("help", process("--help", TERMINAL_WIDTH="80").stdout)
    check_snapshot("help_run", process("run", "--help", TERMINAL_WIDTH="80").stdout)


def test_a_terminal_shows_progress_and_takes_it_away_again(table):
    sent = terminal("run", table, *ASKED, columns=40, all_of_it=True)
    assert "Scoring feature" in sent
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h") > 0  # the cursor is hidden, and back
    for line in without_colours(sent).replace("\r", "\n").splitlines():
        assert len(line) <= 40, line
    quiet = terminal("run", table, *ASKED, "--quiet", columns=40, all_of_it=True)
    assert "Scoring feature" not in quiet
    assert "\x1b[?25l" not in quiet


def test_a_short_run_says_nothing_about_progress_in_a_pipe(table):
    assert process("run", table, *ASKED).stderr == ""
