"""Seconds until a user of the command line reads something, for tables as they are found.

    MISFEAT_DATA=... python -m benchmarks.speed.first_minute [heart] [waves] [voters]

A line a table: the import of the selector, the first sentence of `misfeat run`, the whole run with
its report, and `misfeat report` and `misfeat ask` of the run that was saved. Run it twice: the
first time compiles kernels.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TABLES = {
    "heart": ("heart.csv", "--target", "num", "--by", "site"),
    "waves": ("waves.csv.gz", "--target", "pid7", "--by", "year"),
    "voters": ("voters.csv.gz", "--target", "votetrump", "--by", "state"),
}
COLUMNS = ("table", "import", "first sentence", "all", "report", "ask")


def seconds(*command: str) -> tuple[float, float]:
    """Seconds until the first line on standard output, and until the end."""
    begun = time.perf_counter()
    first = 0.0
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE) as process:
        for _ in process.stdout or ():
            first = first or time.perf_counter() - begun
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}.")
    whole = time.perf_counter() - begun
    return first or whole, whole


def main() -> None:
    """Print the table."""
    data = Path(os.environ["MISFEAT_DATA"])
    print(" | ".join(COLUMNS))
    imported = seconds("-c", "from misfeat import SubgroupSelector")[1]
    for name in sys.argv[1:] or TABLES:
        file, *options = TABLES[name]
        with tempfile.TemporaryDirectory() as folder:
            run = str(Path(folder) / "run")
            misfeat = ("-m", "misfeat")
            first, whole = seconds(*misfeat, "run", str(data / file), *options, "--out", run, "-q")
            report = seconds(*misfeat, "report", run, "-q")[1]
            ask = seconds(*misfeat, "ask", run, "top", "-q")[1]
        figures = (imported, first, whole, report, ask)
        print(" | ".join([name, *(f"{figure:.1f} s" for figure in figures)]), flush=True)


if __name__ == "__main__":
    main()
