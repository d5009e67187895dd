"""Faults of the machine: damaged compiled kernels, and too little memory.

The faults are real: bits flipped in files, limits of the process. Each case is a process that must
give the right answers or end in one line of ours.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

import misfeat
from tests.attacks.tally import Tally, run_script

KINDS = ("kernels", "memory", "data")
PATIENCE = 600
MIB = 2**20
DAMAGED = 3
"""Files in a case."""
CHILD = """
import resource, sys, warnings
import numpy, pandas, psutil
from misfeat import MisfeatError, SubgroupSelector
from misfeat.datasets import load_heart, make_cohorts

warnings.simplefilter("ignore")
kind, room = sys.argv[1:]
heart = load_heart()

def answers():
    return SubgroupSelector("site", size=2).fit(heart.columns, "num").top_k().to_string()

expected = answers()
print(expected)
if kind != "kernels":
    data = make_cohorts(n_rows=3000, n_features=60, hide=0.3, random_state=0)
    limit = resource.RLIMIT_AS if kind == "memory" else resource.RLIMIT_DATA
    info = psutil.Process().memory_info()
    taken = info.vms if kind == "memory" else info.data
    resource.setrlimit(limit, (taken + int(room), resource.RLIM_INFINITY))
    try:
        SubgroupSelector(data.groups, size=4).fit(data.columns, data.target)
    except (MisfeatError, OSError) as error:
        assert str(error) and len(str(error).splitlines()) == 1, error
    resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert answers() == expected, "other answers afterwards"
"""


def child(kind: str, room: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CHILD, kind, str(room)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=PATIENCE,
        check=False,
    )


def with_damaged_kernels(rng: random.Random, folder: Path) -> subprocess.CompletedProcess[str]:
    """Damage a few files of the compiled kernels, in a copy of the package, and fit."""
    copy = folder / "copy"
    shutil.copytree(Path(misfeat.__file__).parent, copy / "misfeat")
    how = rng.choice(["cut off", "flipped", "emptied"])
    for file in rng.sample(sorted(copy.rglob("*.nb[ci]")), DAMAGED):
        content = bytearray(file.read_bytes())
        place = rng.randrange(len(content))
        content[place] ^= 1 << rng.randrange(8)
        kept = {"cut off": content[:place], "flipped": content, "emptied": b""}[how]
        file.write_bytes(kept)
    found = child("kernels", PYTHONPATH=str(copy))
    shutil.rmtree(copy)
    return found


def attack(cases: int, seed: int) -> Tally:
    """Inject faults of the machine."""
    tally = Tally("faults", "A fault of the machine ends in one clear line, or the right answer.")
    rng = random.Random(seed)
    answers = child("kernels").stdout
    with tempfile.TemporaryDirectory() as folder:
        for kind in islice(cycle(KINDS), cases):
            if kind == "kernels":
                found = with_damaged_kernels(rng, Path(folder))
            else:
                found = child(kind, rng.randrange(1, 400) * MIB)
            last = (found.stderr.strip().splitlines() or ["nothing said"])[-1][:200]
            if found.returncode:
                what = "crash" if found.returncode < 0 else "foreign error"
                tally.wrongly(f"{kind}: {what}", f"exit {found.returncode}: {last}")
            elif found.stdout != answers:
                tally.wrongly(f"{kind}: other answers", last)
            else:
                tally.well(f"{kind}: right answers, or one line")
            sys.stderr.write(f"{kind}: {tally.n_cases} cases, {tally.n_wrong} wrong\n")
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, cases=100))
