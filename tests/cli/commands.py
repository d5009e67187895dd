"""Ways to run the command: within the test, as a process in a pipe, and in a terminal.

Snapshots are text files in ``snapshots/``. After a change that is meant, renew them with
``MISFEAT_RENEW_SNAPSHOTS=1 pytest tests/cli`` and read the difference before committing it.
"""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from misfeat.cli.app import app

SNAPSHOTS = Path(__file__).with_name("snapshots")
COMMAND = [sys.executable, "-m", "misfeat"]
_SETTINGS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TERM", "GITHUB_ACTIONS")

TABLE = "site,x,z,y\n" + "".join(
    f"{site},{x},{'' if site == 'b' else z},{(x + z) % 2}\n"
    for site in "ab"
    for x in (0, 1)
    for z in (0, 1)
    for _ in range(5)
)
ASKED = ("--target", "y", "--by", "site", "--size", "2")

QUICK = (*ASKED, "--completer", "interactions")
"""The same, where it does not matter how scores are predicted."""


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code and what it wrote."""

    exit_code: int
    stdout: str
    stderr: str
    exception: BaseException | None = None


def run(*arguments: str) -> Ran:
    """Run the command within this process."""
    found = CliRunner().invoke(app, list(arguments))
    return Ran(found.exit_code, found.stdout, found.stderr, found.exception)


def done(*arguments: str) -> Ran:
    """Run the command within this process, where it is to go well."""
    found = run(*arguments)
    assert found.exit_code == 0, found.stderr + found.stdout
    return found


def json_lines(*arguments: str) -> list[dict]:
    """The lines of JSON that a command which goes well writes."""
    return [json.loads(line) for line in done(*arguments, "--json").stdout.splitlines()]


def refused(*arguments: str) -> str:
    """The one line that is said of a command with bad input."""
    found = run(*arguments)
    assert found.exit_code == 2, (arguments, found.stderr)
    assert found.stderr.count("\n") == 1, (arguments, found.stderr)
    return found.stderr


def process(*arguments: str, command: list[str] = COMMAND, **settings: str) -> Ran:
    """Run the command as a process whose output goes into pipes."""
    found = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, env=environment(**settings)
    )
    return Ran(found.returncode, found.stdout, found.stderr)


def terminal(*arguments: str, columns: int, all_of_it: bool = False, **settings: str) -> str:
    """What a terminal of some width is sent: standard output, or standard error as well."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs if all_of_it else subprocess.DEVNULL,
        env=environment(TERM="xterm-256color", **settings),
    ) as running:
        os.close(theirs)
        sent = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    assert running.returncode == 0, sent
    return sent.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


def environment(**settings: str) -> dict[str, str]:
    """This process's environment without what changes how output looks."""
    return {**{k: v for k, v in os.environ.items() if k not in _SETTINGS}, **settings}


def check_snapshot(name: str, text: str) -> None:
    """Compare with a kept text, or keep this one where that is asked for."""
    shown = "\n".join(line.rstrip() for line in text.replace("\x1b", "␛").splitlines()) + "\n"
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("MISFEAT_RENEW_SNAPSHOTS"):
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
