import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from misfeat import SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.cli.errors import BAD_INPUT, BROKEN_PIPE, INTERNAL_ERROR, INTERRUPTED
from tests.cli.commands import ASKED, COMMAND, QUICK, TABLE, environment, process, refused, run

WRONG_OPTIONS = [
    ("--by sit", "did you mean 'site'?"),
    ("--top 0", "--top 0; it must be an integer of"),
    ("--jobs 0", "--jobs 0; it must be a number of threads, -1 for all.\n"),
    ("--seed -1", "--seed -1; it must be an integer of at least 0.\n"),
    ("--size two", "'two' is not an integer"),
    ("--sampler no", "--sampler 'no' is unknown"),
    ("--completer no", "'multiplex', 'paper'.\n"),
    ("--bins x=many", "--bins 'x=many': 'many' is not an integer"),
    ("--cost x", "write it as mri=400."),
    ("--cost x=much", "--cost 'x=much': 'much' is no"),
    ("--cost q=1", "a feature with a cost"),
    ("--cost x=-1", "--cost 'x=-1'; it must be above 0"),
    ("--cost x=nan", "it must be above 0, and finite."),
    ("--out ''", "--out ''; give the path of a folder"),
    ("--out TABLE", "is a file; give a folder, or"),
    ("--block x", "write it as lipids=hdl,ldl."),
    ("--exclude q", "a feature to exclude"),
    ("--bins 0", "error: --bins 0; it must be an"),
    ("--bins site=3", "and cannot be binned; take it out of --bins"),
    ("--sporadic drop", "--sporadic 'drop' is unknown"),
    ("--bins x=1", "--bins 'x=1'; it must be an"),
    ("--bins x=6,4", "--bins 'x=6,4' must ascend"),
    ("--bins x=,", "give cut points, such as --bins 'x=40,65'."),
    ("--bins x=a,b", "--bins 'x=a,b': 'a' is neither"),
    ("--bins q=3", "(asked for as --bins)"),
    ("--by x:60,40", "error: --by 'x:60,40' must ascend"),
    ("--confidence 2", "lie between 0 and 1.\n"),
    ("--missing q=0", "(asked for as --missing)"),
    ("--by y", "Take it out of --by."),
    ("--memory-limit 1e-12", "raise --memory-limit or"),
    ("--memory-limit 2", "--memory-limit 2.0; it must"),
    ("--cost x=1 --cost x=2", "--cost is given twice"),
    ("--bins 4 --bins 5", "--bins is given twice;"),
    ("--weights frequency", "says how weights are taken, and there are none"),
    ("--nonsense", "--nonsense"),
    ("--config none.toml", "cannot be read: No such"),
]
"""What is wrong beside a table and its target, and a part of what is said."""
WRONG_COMMANDS = [
    ("run", "TABLE, a file, is missing; give it here or in a file with --config."),
    ("run TABLE", "--target, a column of the table, is missing"),
    ("run TABLE --target yy", "The table has no column 'yy'"),
    ("run none.csv --target y", "There is no file 'none.csv'"),
    ("report nowhere", "There is no selection in 'nowhere'"),
    ("nonsense", "'nonsense'"),
]


def test_every_error_of_a_user_takes_one_line(table):
    options = [(f"run TABLE --target y {words}", message) for words, message in WRONG_OPTIONS]
    for words, message in [*WRONG_COMMANDS, *options]:
        result = run(*[table if word == "TABLE" else word for word in shlex.split(words)])
        assert result.exit_code == BAD_INPUT, (words, result.stderr)
        assert result.stderr.startswith("error: "), words
        assert message in result.stderr, words
        assert result.stderr.count("\n") == 1, words
        assert result.stdout == "", words


@pytest.mark.parametrize("cost", ["q=1", "x=0", "x=inf"])
def test_a_cost_that_cannot_be_is_refused_before_the_work(monkeypatch, table, cost):
    monkeypatch.setattr(SubgroupSelector, "fit", lambda *_: pytest.fail("the work began"))
    said = refused("run", table, *ASKED, "--cost", cost)
    assert "--cost" in said or "'q'" in said


def test_notes_name_options_and_leave_names_of_columns_alone(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE.replace("site,x,z,y", "site,min_rows,z,y"))
    result = run("run", str(path), *QUICK, "--min-rows", "999")
    assert "fewer than --min-rows 999" in result.stderr
    said = refused("run", str(path), *QUICK, "--include", "min_rows", "--size", "0")
    assert said == "error: --size 0; it must be an integer of at least 1.\n"


def test_what_breaks_inside_is_said_in_one_line(monkeypatch, table):
    def break_down(*_, **__):
        raise TypeError("a wheel\ncame off")

    monkeypatch.setattr(SubgroupSelector, "fit", break_down)
    result = run("run", table, *ASKED)
    assert result.exit_code == INTERNAL_ERROR
    assert result.stderr == (
        "internal error: TypeError: a wheel came off; run again with --debug for the traceback\n"
    )
    assert isinstance(run("run", table, *ASKED, "--debug").exception, TypeError)


def test_full_memory_is_said_with_what_to_do(monkeypatch, table):
    def fill(*_, **__):
        raise MemoryError

    monkeypatch.setattr(SubgroupSelector, "fit", fill)
    assert "lower --size" in refused("run", table, *ASKED)


@pytest.mark.slow
@pytest.mark.parametrize("how", [("--out", "OUT"), ("--json",), ("--help",)])
def test_a_reader_that_goes_away_is_no_error_and_takes_nothing_that_is_saved(table, tmp_path, how):
    words = [str(tmp_path / "out") if word == "OUT" else word for word in how]
    command = subprocess.Popen(
        [*COMMAND, "run", table, *QUICK, "--quiet", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    command.stdout.close()
    assert command.stderr.read() == b""
    command.stderr.close()
    assert command.wait() == BROKEN_PIPE
    if "--out" in how:
        assert best_sets(SubgroupSelector.load(tmp_path / "out").selection_)
        assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.slow
def test_a_full_disk_is_said_in_one_line(table):
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [*COMMAND, "run", table, *QUICK, "--quiet"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
    assert found.stderr == "error: cannot write the answer: No space left on device\n"
    assert found.returncode == BAD_INPUT


@pytest.mark.slow
def test_closed_standard_output_is_no_error(table, tmp_path):
    asked = shlex.join([*COMMAND, "run", table, *QUICK, "--out", str(tmp_path / "out")])
    found = process(command=["sh", "-c", f"{asked} >&-"])
    assert found.exit_code == 0, found.stderr
    assert "Run: " in found.stderr
    assert best_sets(SubgroupSelector.load(tmp_path / "out").selection_)


TOO_LONG = 600
"""Seconds after which something hangs, however busy the machine is."""


def test_ctrl_c_ends_in_one_line(tmp_path):
    # Reading from a pipe that nobody writes to takes as long as one likes.
    waiting = tmp_path / "waiting.toml"
    os.mkfifo(waiting)
    command = subprocess.Popen(
        [*COMMAND, "run", "--config", str(waiting)],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # shells may ignore it
    )
    with waiting.open("w"):  # opens once the command reads
        command.send_signal(signal.SIGINT)
        assert command.wait(timeout=TOO_LONG) == INTERRUPTED
    assert command.stderr.read() == "interrupted\n"
    command.stderr.close()


INTERRUPTIONS = {
    "while modules are imported": "import builtins, misfeat.cli.main\nreal = builtins.__import__\n"
    "def interrupt(name, *rest):\n"
    "    if name == 'typer': raise KeyboardInterrupt\n"
    "    return real(name, *rest)\n"
    "builtins.__import__ = interrupt\n",
    # Python remembers this one, and would end by the signal although it was caught.
    "while code is made from text": "import misfeat.cli.run, misfeat.cli.main\n"
    "def interrupt(_):\n"
    "    exec('raise KeyboardInterrupt')\n"
    "misfeat.cli.run.answer = interrupt\n",
    "while DuckDB is at work": "import misfeat.cli.run, misfeat.cli.main\n"
    "def interrupt(_):\n"
    "    raise RuntimeError('Query interrupted')\n"
    "misfeat.cli.run.answer = interrupt\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("when", INTERRUPTIONS)
def test_ctrl_c_ends_with_the_same_exit_code_whenever_it_comes(when):
    code = INTERRUPTIONS[when] + "misfeat.cli.main.main()"
    found = process("run", "t.csv", "--target", "y", command=[sys.executable, "-c", code])
    assert found.exit_code == INTERRUPTED, found.stderr
    assert found.stderr == "interrupted\n"


def test_nothing_but_the_name_shows_help():
    result = process()
    assert "Usage: misfeat" in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_what_an_encoding_lacks_is_replaced(table):
    result = process("run", table, *QUICK, PYTHONIOENCODING="ascii")
    assert result.exit_code == 0
    assert "site=a" in result.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="limits processes")
@pytest.mark.parametrize("megabytes", [700, 200, 150])
def test_too_little_memory_to_start_is_said_as_a_limit(table, megabytes):
    limited = f"ulimit -v {megabytes * 1024}; exec {shlex.join(COMMAND)} run {table} --target y"
    ended = process(command=["bash", "-c", limited])
    assert ended.exit_code == BAD_INPUT
    assert ended.stderr.startswith(f"error: Memory is limited to {megabytes} MB (ulimit -v)")
    assert ended.stderr.count("\n") == 1
