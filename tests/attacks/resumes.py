"""A run with a folder is killed at random moments and asked for again: the result is the same.

Every case starts the command in a process of its own, kills it (SIGKILL) at a moment drawn between
its start and the time that a whole run takes, some of them twice, and gives the same command again.
All four files must be, byte for byte, those of a run that nobody stopped, and nothing else may be
left. The one thing that would differ, when a report was made, stands still here.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from typer.testing import CliRunner

from misfeat.cli.app import app
from misfeat.datasets import make_cohorts
from misfeat.machine.steps import UNFINISHED
from misfeat.show.report import contents
from tests.attacks.tally import Tally, run_script

PROMISE = (
    "A run with a folder that is killed at any moment goes on when the same command is given "
    "again; its files are, byte for byte, those of a run that was not stopped, and nothing else "
    "is left behind."
)
ASKED = ("--target", "target", "--by", "cohort", "--size", "2", "--seed", "1", "--jobs", "2")
SHARE_OF_TWICE = 0.3
"""Of the cases are killed a second time while they go on."""
NOT_KILLED = "done before it was killed"
RESUMED, FROM_START = "the same, of steps that were kept", "the same, from the start"


class AtOneTime(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, _zone=None):
        return datetime(2020, 1, 1, tzinfo=UTC)


class Runs:
    """Runs of one table in a folder of their own."""

    def __init__(self, root: Path) -> None:
        self.table = root / "table.csv"
        data = make_cohorts(3, 300, 7, hide=0.2, random_state=1)
        lines = zip(*data.columns.values(), strict=True)
        texts = [",".join("" if str(one) == "nan" else str(one) for one in line) for line in lines]
        self.table.write_text("\n".join([",".join(data.columns), *texts]) + "\n")
        self.folder = root / "runs" / "case"
        self._begin()
        self._command()  # loads and compiles what later processes begin with
        self._begin()
        began = time.monotonic()
        self._finished(self._started())
        self.seconds = time.monotonic() - began
        self.whole = self._files()

    def case(self, moments: list[float]) -> tuple[str, str]:
        """Kill a run at some moments, as shares of its time; how it ended, and what is wrong."""
        self._begin()
        kept = [self._killed(self.seconds * moment) for moment in moments]
        self._finished(self._started())
        found, at = self._files(), f"killed at {[round(moment, 3) for moment in moments]}"
        names = {*found, *self.whole}
        differ = sorted(name for name in names if found.get(name) != self.whole.get(name))
        beside = sorted(entry.name for entry in self.folder.parent.iterdir())
        if beside != [self.folder.name]:
            return "left behind", f"{at}: {beside}"
        if differ:
            return "another result", f"{at}: {differ}"
        if None in kept:
            return NOT_KILLED, ""
        return RESUMED if any(kept) else FROM_START, ""

    def _begin(self) -> None:
        shutil.rmtree(self.folder.parent, ignore_errors=True)
        self.folder.parent.mkdir()

    def _command(self) -> int:
        contents.datetime = AtOneTime
        asked = ["run", str(self.table), *ASKED, "--out", str(self.folder), "--quiet"]
        return CliRunner().invoke(app, asked).exit_code

    def _started(self) -> int:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = self._command()
            finally:
                os._exit(code)
        return child

    def _finished(self, child: int) -> None:
        if os.waitpid(child, 0)[1]:
            raise RuntimeError("the command failed")

    def _killed(self, seconds: float) -> int | None:
        """How many steps were kept when a run was killed; None where it was done by then."""
        child = self._started()
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        if not os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            return None
        left = self.folder / UNFINISHED
        return len(list(left.iterdir())) if left.exists() else 0

    def _files(self) -> dict[str, bytes]:
        entries = list(self.folder.iterdir())
        return {one.name: one.read_bytes() if one.is_file() else b"a folder" for one in entries}


def resumes(cases: int, seed: int) -> Tally:
    """Kill runs at random moments, and have them go on."""
    tally, rng = Tally("resumes", PROMISE), random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        runs = Runs(Path(place).resolve())
        while tally.n_cases < cases:
            times = 2 if rng.random() < SHARE_OF_TWICE else 1
            outcome, wrong = runs.case([rng.random() for _ in range(times)])
            if wrong:
                tally.wrongly(outcome, wrong)
            elif outcome != NOT_KILLED:
                tally.well(outcome)
    return tally


if __name__ == "__main__":
    sys.exit(run_script(resumes, 30))
