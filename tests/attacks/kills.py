"""A save is killed before each of its file operations: the old run or the new one is left, whole.

Some saves are killed in a folder where another one was killed before. Then the next save must find
and put away what was left.
"""

import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from typer.testing import CliRunner

from misfeat import MisfeatError, SubgroupSelector
from misfeat.cli.app import app
from misfeat.cli.settings_file import saved_settings
from tests.attacks.tally import Tally, run_script
from tests.cli.commands import QUICK, TABLE

PROMISE = (
    "A save that is killed between any two file operations leaves the old run or the new one, "
    "whole: selection, settings and report; the next save puts away what was left."
)
OLD, NEW, NEXT = 1, 2, 3
"""How many sets are asked for tells the runs apart."""
OPERATIONS = {
    "open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.scandir", "os.listdir",
    "os.link", "os.symlink", "os.truncate", "fcntl.flock",
}  # fmt: skip
"""What Python tells before it does it; `os.fsync` is counted beside them."""


def killed_at(number: int | None, root: Path, work: Callable[[], object]) -> int | None:
    """Work in a process that is killed before its n-th operation on files below a folder.

    How many operations there were; None where the process was killed.
    """
    ours, theirs = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        done = 0
        try:
            done = _counted(number, root, work)
        finally:
            os.write(theirs, str(done).encode())
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as told:
        answer = told.read()
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else int(answer)


def _counted(number: int | None, root: Path, work: Callable[[], object]) -> int:
    count, below, fsync = 0, str(root), os.fsync

    def one_more() -> None:
        nonlocal count
        count += 1
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(event: str, args: tuple[object, ...]) -> None:
        if event in OPERATIONS and (event == "fcntl.flock" or _is_below(args, below)):
            one_more()

    def synced(handle: int) -> None:
        one_more()
        fsync(handle)

    os.fsync = synced
    sys.addaudithook(heard)
    with Path(os.devnull).open("w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        work()
    return count


def _is_below(args: tuple[object, ...], root: str) -> bool:
    paths = [os.fsdecode(arg) for arg in args if isinstance(arg, str | bytes | os.PathLike)]
    by_handle = [arg for arg in args[1:] if isinstance(arg, int) and arg > 2]
    return any(os.path.abspath(path).startswith(root) for path in paths if path) or (  # noqa: PTH100
        bool(by_handle) and len(paths) == 1 and os.sep not in paths[0]
    )


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
        self.ways = {
            "a new folder": ("nothing", self.by_python),
            "over an old selection": ("plain", self.by_python),
            "over an old run": ("whole", self.by_python),
            "the current folder": ("plain", partial(self.here, self.by_python)),
            "a run into a new folder": ("nothing", self.by_command),
            "a run over an old one": ("whole", self.by_command),
            "a run in the current folder": ("whole", partial(self.here, self.by_command)),
            "a report": ("whole", self.report),
        }

    def by_python(self, folder: Path, k: int) -> None:
        self.selectors[k].save(folder)

    def by_command(self, folder: Path, k: int) -> None:
        named = ("--top", str(k), "--title", f"Run {k}", "--out", str(folder), "--jobs", "1")
        self._invoke("run", str(self.table), *QUICK, "--completer", "interactions", *named)

    def report(self, folder: Path, k: int) -> None:
        self._invoke("report", str(folder), "--title", f"Run {k}")

    def here(self, save: Callable[[Path, int], None], folder: Path, k: int) -> None:
        folder.mkdir(exist_ok=True)
        os.chdir(folder)
        save(Path(), k)

    def _invoke(self, *words: str) -> None:
        result = CliRunner().invoke(app, words)
        if result.exit_code:
            raise RuntimeError(result.stderr)

    def start(self, start: str) -> Path:
        """A folder of its own to save to, with a run in it or none."""
        shutil.rmtree(self.root / "case", ignore_errors=True)
        folder = self.root / "case" / "run"
        folder.parent.mkdir()
        if start != "nothing":
            shutil.copytree(self.root / start, folder)
        return folder


def attack(cases: int, seed: int) -> Tally:
    """Kill saves at every file operation."""
    tally, rng = Tally("kills", PROMISE), random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        runs = Runs(Path(place).resolve())
        counts = {}
        for name, (start, save) in runs.ways.items():
            folder = runs.start(start)
            counts[name] = killed_at(None, folder.parent, partial(save, folder, NEW)) or 0
        everywhere = [(name, (at,)) for name, count in counts.items() for at in range(1, count + 1)]
        if cases < len(everywhere):
            everywhere = rng.sample(everywhere, cases)
        while len(everywhere) < cases:
            name = rng.choice(list(counts))
            twice = (rng.randint(1, counts[name]), rng.randint(1, counts[name]))
            everywhere.append((name, twice))
        for name, at in everywhere:
            _kill(tally, runs, name, at)
    return tally


def _kill(tally: Tally, runs: Runs, name: str, at: tuple[int, ...]) -> None:
    start, save = runs.ways[name]
    folder = runs.start(start)
    for number in at:
        killed_at(number, folder.parent, partial(save, folder, NEW))
    left = _left(runs, folder, name)
    allowed = {"old", "new"} | ({"nothing yet"} if start == "nothing" else set())
    after = _after_the_next_save(runs, folder)
    if left not in allowed:
        tally.wrongly("lost or mixed", f"{name}, killed at {at}: {left}")
    elif after:
        tally.wrongly("not put away", f"{name}, killed at {at}: {after}")
    else:
        tally.well(left)


def _left(runs: Runs, folder: Path, name: str) -> str:
    """Which run is in a folder: old, new, nothing yet, or what is wrong with it."""
    try:
        loaded = SubgroupSelector.load(folder)
    except MisfeatError as error:
        return "nothing yet" if "There is no selection" in str(error) else str(error)
    k, is_report = loaded.k, name == "a report"
    if k not in (OLD, NEW) or (is_report and k != OLD):
        return f"k = {k}"
    if not loaded.scores().equals(runs.selectors[k].scores()):
        return "other scores"
    report = _report_in(folder)
    if is_report:
        titles = [k for k in (OLD, NEW) if f"Run {k}<" in report]
        return {(OLD,): "old", (NEW,): "new"}.get(tuple(titles), "no report")
    by_command = "run" in name and (k == NEW or "over" in name or "current" in name)
    if not by_command or (name == "over an old run" and k == NEW):
        wrong = "a report of another run" if report else ""
    elif saved_settings(str(folder)).top != k:
        wrong = "settings of another run"
    else:
        wrong = "" if f"Run {k}<" in report else "no report, or that of another run"
    return wrong or ("old" if k == OLD else "new")


def _report_in(folder: Path) -> str:
    """The report, read as every part of a run is read."""
    waiting, report = folder / ".committed", "report.html"
    if (waiting / report).exists():
        return (waiting / report).read_text(encoding="utf-8")
    if (waiting / "selection.json").exists() or not (folder / report).exists():
        return ""
    return (folder / report).read_text(encoding="utf-8")


def _after_the_next_save(runs: Runs, folder: Path) -> str:
    """What is wrong after the next save; nothing, as a rule."""
    try:
        runs.by_python(folder, NEXT)
        loaded = SubgroupSelector.load(folder)
    except MisfeatError as error:
        return str(error)
    if loaded.k != NEXT:
        return f"k = {loaded.k}"
    names = {entry.name for entry in folder.iterdir()}
    beside = {entry.name for entry in folder.parent.iterdir()} - {folder.name}
    left = (names - {"selection.json", "arrays.safetensors"}) | beside
    return f"left: {sorted(left)}" if left else ""


if __name__ == "__main__":
    sys.exit(run_script(attack, 300))
