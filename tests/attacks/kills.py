"""A save is killed before each of its file operations: the old run or the new one is left, whole.

Some saves are killed in a folder where another one was killed before. Then the next save must find
and put away what was left.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from misfeat import MisfeatError, SubgroupSelector
from misfeat.cli.app import app
from misfeat.cli.settings_file import saved_settings
from tests.attacks.killing import killed_at
from tests.attacks.tally import Tally, run_script
from tests.cli.commands import QUICK, TABLE

if TYPE_CHECKING:
    from collections.abc import Callable

PROMISE = (
    "A save that is killed between any two file operations leaves the old run or the new one, "
    "whole: selection, settings and report; the next save puts away what was left."
)
OLD, NEW, NEXT = 1, 2, 3
"""How many sets are asked for tells the runs apart."""


class Runs:
    """Saved runs to start from, and ways to save another one over them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.table = root / "table.csv"
        self.table.write_text(TABLE)
        self.selectors = {
            k: SubgroupSelector("site", size=2, k=k, completer="interactions").fit(
                str(self.table), "y"
            )
            for k in (OLD, NEW, NEXT)
        }
        self.by_command(root / "whole", OLD)
        self.by_python(root / "plain", OLD)
        (root / "nothing").mkdir()

    def by_python(self, folder: Path, k: int) -> None:
        self.selectors[k].save(folder)

    def by_command(self, folder: Path, k: int) -> None:
        named = ("--top", str(k), "--title", f"Run {k}", "--out", str(folder), "--jobs", "1")
        asked = ["run", str(self.table), *QUICK, "--completer", "interactions", *named]
        result = CliRunner().invoke(app, asked)
        if result.exit_code:
            raise RuntimeError(result.stderr)

    def by_command_here(self, folder: Path, k: int) -> None:
        folder.mkdir(exist_ok=True)
        os.chdir(folder)
        self.by_command(Path(), k)

    def by_python_here(self, folder: Path, k: int) -> None:
        folder.mkdir(exist_ok=True)
        os.chdir(folder)
        self.by_python(Path(), k)

    def report(self, folder: Path, k: int) -> None:
        result = CliRunner().invoke(app, ["report", str(folder), "--title", f"Run {k}"])
        if result.exit_code:
            raise RuntimeError(result.stderr)

    def ways(self) -> dict[str, tuple[str, Callable[[Path, int], None]]]:
        """What to start from and how to save, by name."""
        return {
            "a new folder": ("nothing", self.by_python),
            "over an old selection": ("plain", self.by_python),
            "over an old run": ("whole", self.by_python),
            "the current folder": ("plain", self.by_python_here),
            "a run into a new folder": ("nothing", self.by_command),
            "a run over an old one": ("whole", self.by_command),
            "a run in the current folder": ("whole", self.by_command_here),
            "a report": ("whole", self.report),
        }


def kills(cases: int, seed: int) -> Tally:
    """Kill saves at every file operation."""
    tally = Tally("kills", PROMISE)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        runs = Runs(Path(place).resolve())
        counts = {}
        for name, (start, save) in runs.ways().items():
            folder = _start(runs, start)
            counts[name] = killed_at(None, folder.parent, partial(save, folder, NEW)) or 0
        everywhere = [(name, (at,)) for name, count in counts.items() for at in range(1, count + 1)]
        if cases < len(everywhere):
            everywhere = rng.sample(everywhere, cases)
        while len(everywhere) < cases:
            name = rng.choice(list(counts))
            twice = (rng.randint(1, counts[name]), rng.randint(1, counts[name]))
            everywhere.append((name, twice))
        for name, at in everywhere:
            _one(tally, runs, name, at)
    return tally


def _start(runs: Runs, start: str) -> Path:
    """A folder of its own to save to, with a run in it or none."""
    shutil.rmtree(runs.root / "case", ignore_errors=True)
    folder = runs.root / "case" / "run"
    folder.parent.mkdir()
    if start != "nothing":
        shutil.copytree(runs.root / start, folder)
    return folder


def _one(tally: Tally, runs: Runs, name: str, at: tuple[int, ...]) -> None:
    start, save = runs.ways()[name]
    folder = _start(runs, start)
    where = f"{name}, killed at {at}"
    for number in at:
        killed_at(number, folder.parent, partial(save, folder, NEW))
    left = _left(runs, folder, name)
    allowed = {"old", "new"} | ({"nothing yet"} if start == "nothing" else set())
    after = _after_the_next_save(runs, folder)
    if left not in allowed:
        tally.wrongly("lost or mixed", f"{where}: {left}")
    elif after:
        tally.wrongly("not put away", f"{where}: {after}")
    else:
        tally.well(left)


def _left(runs: Runs, folder: Path, name: str) -> str:
    """Which run is in a folder: old, new, nothing yet, or what is wrong with it."""
    try:
        found = SubgroupSelector.load(folder)
    except MisfeatError as error:
        return "nothing yet" if "There is no selection" in str(error) else str(error)
    report = name == "a report"
    if found.k not in (OLD, NEW) or (report and found.k != OLD):
        return f"k = {found.k}"
    if not found.scores().equals(runs.selectors[found.k].scores()):
        return "other scores"
    if report:
        titles = [k for k in (OLD, NEW) if f"Run {k}<" in _report_in(folder)]
        return {(OLD,): "old", (NEW,): "new"}.get(tuple(titles), "no report")
    settled = _parts_agree(folder, name, found.k)
    return settled or ("old" if found.k == OLD else "new")


def _parts_agree(folder: Path, name: str, k: int) -> str:
    """What is wrong with the settings and the report beside a run; nothing, as a rule."""
    by_command = "run" in name and (k == NEW or "over" in name or "current" in name)
    whole = by_command and not (name == "over an old run" and k == NEW)
    settings, report = saved_settings(str(folder)), _report_in(folder)
    if not whole:
        return "a report of another run" if report else ""
    if settings.said.get("top") != k:
        return f"settings of another run, {settings.said.get('top')} instead of {k}"
    return "" if f"Run {k}<" in report else "no report, or that of another run"


def _report_in(folder: Path) -> str:
    """The report, read as every part of a run is read."""
    waiting = folder / ".committed"
    if (waiting / "report.html").exists():
        return (waiting / "report.html").read_text(encoding="utf-8")
    if (waiting / "selection.json").exists() or not (folder / "report.html").exists():
        return ""
    return (folder / "report.html").read_text(encoding="utf-8")


def _after_the_next_save(runs: Runs, folder: Path) -> str:
    """What is wrong after the next save; nothing, as a rule."""
    try:
        runs.by_python(folder, NEXT)
        found = SubgroupSelector.load(folder)
    except MisfeatError as error:
        return str(error)
    if found.k != NEXT:
        return f"k = {found.k}"
    names = {entry.name for entry in folder.iterdir()}
    beside = {entry.name for entry in folder.parent.iterdir()} - {folder.name}
    left = (names - {"selection.json", "arrays.safetensors"}) | beside
    return f"left: {sorted(left)}" if left else ""


if __name__ == "__main__":
    sys.exit(run_script(kills, 300))
