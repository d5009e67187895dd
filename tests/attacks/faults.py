"""Faults of the machine: damaged compiled kernels, too little memory, a full or read-only disk.

The faults are real: bits flipped in files, limits of the process, a small file system where one can
be mounted (else a limit on the size of files, and a user without rights). Each case is a process
that must give the right answers or end in one line of ours; what was saved before must stay whole.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

import misfeat
from tests.attacks.tally import Tally, run_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Step = Callable[[], object]

KINDS = ("kernels", "memory", "data", "full disk", "read-only")
PATIENCE = 600
MIB = 2**20
DAMAGED = 3
"""Files in a case."""
CHILD = """
import resource, sys, warnings
import numpy, pandas
from misfeat import MisfeatError, SubgroupSelector
from misfeat.datasets import load_heart, make_cohorts

warnings.simplefilter("ignore")
kind, argument = sys.argv[1:3]
heart = load_heart()

def fit(size=2):
    return SubgroupSelector("site", size=size).fit(heart.columns, "num")

def told(work):
    try:
        work()
    except (MisfeatError, OSError) as error:
        assert str(error) and len(str(error).splitlines()) == 1, error
        print(f"told: {error}")
    else:
        print("done")

if kind == "kernels":
    print(fit().top_k().to_string())
elif kind == "save":
    told(lambda: fit(size=int(sys.argv[3])).save(argument))
elif kind == "load":
    print(SubgroupSelector.load(argument).top_k().to_string())
else:
    import psutil
    expected = fit().top_k().to_string()
    data = make_cohorts(n_rows=3000, n_features=60, hide=0.3, random_state=0)
    limit = resource.RLIMIT_AS if kind == "memory" else resource.RLIMIT_DATA
    info = psutil.Process().memory_info()
    taken = info.vms if kind == "memory" else info.data
    resource.setrlimit(limit, (taken + int(argument), resource.RLIM_INFINITY))
    told(lambda: SubgroupSelector(data.groups, size=4).fit(data.columns, data.target))
    resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert fit().top_k().to_string() == expected, "other answers afterwards"
"""


def child(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CHILD, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=PATIENCE,
        check=False,
    )


def _last_line(found: subprocess.CompletedProcess[str]) -> str:
    lines = found.stderr.strip().splitlines() or ["nothing said"]
    return f"exit {found.returncode}: {lines[-1][:200]}"


class Faults:
    """What the cases share: answers to compare with, and compiled kernels to damage."""

    def __init__(self, folder: Path, tally: Tally, rng: random.Random) -> None:
        self.folder, self.tally, self.rng = folder, tally, rng
        self.answers = child("kernels", "").stdout

    def damage_kernels(self) -> None:
        """Damage a few files of the compiled kernels, in a copy of the package, and fit."""
        package = Path(misfeat.__file__).parent
        copy = self.folder / "copy"
        shutil.copytree(package, copy / "misfeat")
        files = sorted(copy.rglob("*.nb[ci]"))
        how = self.rng.choice(["cut off", "flipped", "emptied"])
        for file in self.rng.sample(files, DAMAGED):
            content = bytearray(file.read_bytes())
            place = self.rng.randrange(len(content))
            content[place] ^= 1 << self.rng.randrange(8)
            kept = {"cut off": content[:place], "flipped": content, "emptied": b""}[how]
            file.write_bytes(kept)
        found = child("kernels", "", PYTHONPATH=str(copy))
        shutil.rmtree(copy)
        if found.returncode == 0 and found.stdout == self.answers:
            self.tally.well("kernels: right answers")
        elif found.returncode < 0:
            self.tally.wrongly("kernels: crash", f"{how}: {_last_line(found)}")
        elif found.returncode == 0:
            self.tally.wrongly("kernels: other answers", how)
        else:
            self.tally.wrongly("kernels: foreign error", f"{how}: {_last_line(found)}")

    def limit_memory(self, kind: str) -> None:
        """Leave a fit little memory."""
        found = child(kind, str(self.rng.randrange(1, 400) * MIB))
        if found.returncode:
            what = "crash" if found.returncode < 0 else "foreign error"
            self.tally.wrongly(f"{kind}: {what}", _last_line(found))
        else:
            self.tally.well(f"{kind}: {found.stdout.split(':')[0].strip()}")

    def fill_disk(self) -> None:
        """Save over an earlier selection where there is no room for the new one."""
        with _mounted(self.folder / "small", "size=256k") as place:
            if place is None:
                return
            room = place / "ballast"
            self._save_under(
                place, lambda: room.write_bytes(b"0" * self._free(place)), room.unlink, "full disk"
            )

    def forbid_writing(self) -> None:
        """Save over an earlier selection where nothing can be written."""
        with _mounted(self.folder / "small", "size=4m") as place:
            if place is None:
                return
            self._save_under(
                place,
                lambda: _mount("-o", "remount,ro", str(place)),
                lambda: _mount("-o", "remount,rw", str(place)),
                "read-only",
            )

    def _free(self, place: Path) -> int:
        left = os.statvfs(place)
        return max(0, left.f_bavail * left.f_frsize - 4096 * self.rng.randrange(12))

    def _save_under(self, place: Path, begin: Step, end: Step, kind: str) -> None:
        run = str(place / "run")
        assert child("save", run, "2").stdout == "done\n"
        before = child("load", run).stdout
        begin()
        found = child("save", run, "3")
        end()
        after = child("load", run)
        saved = found.stdout == "done\n"
        if found.returncode:
            self.tally.wrongly(f"{kind}: foreign error", _last_line(found))
        elif not after.stdout or (after.stdout != before and not saved):
            self.tally.wrongly(f"{kind}: selection lost", found.stdout + _last_line(after))
        else:
            self.tally.well(f"{kind}: {'saved' if saved else 'told, old selection whole'}")


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def _mounted(place: Path, options: str) -> Iterator[Path | None]:
    """A small file system in memory, None where this user may not mount one."""
    place.mkdir()
    there = os.geteuid() == 0 and _mount("-t", "tmpfs", "-o", options, "tmpfs", str(place))
    try:
        yield place if there else None
    finally:
        if there:
            subprocess.run(["umount", str(place)], check=False)
        place.rmdir()


def attack(cases: int, seed: int) -> Tally:
    """Inject faults of the machine."""
    tally = Tally("faults", "A fault of the machine ends in one clear line, and nothing is lost.")
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(Path(folder), tally, random.Random(seed))
        for kind in islice(cycle(KINDS), cases):
            if kind == "kernels":
                faults.damage_kernels()
            elif kind in ("memory", "data"):
                faults.limit_memory(kind)
            elif kind == "full disk":
                faults.fill_disk()
            else:
                faults.forbid_writing()
            sys.stderr.write(f"{kind}: {tally.n_cases} cases, {tally.n_wrong} wrong\n")
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, cases=100))
