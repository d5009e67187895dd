"""A very large table of 200 features and 1,000 subgroups, measured on as much of it as fits.

    python -m benchmarks.sizing.plan [--rows 1e6 4e6] [--gib 8] [--most-rows 2e6] [--fit]

160 features are categories of two to seven values, 40 are numbers that hardly occur twice. DuckDB
writes the rows as Parquet, and misfeat codes, groups and draws them inside it. Reported are CPU
seconds, microseconds of CPU for a value (a row of a column), and peak memory of the process; with
``--fit`` also the seconds of every step of a fit of pairs. The figures are kept in plan.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
from joblib import effective_n_jobs

FEATURES, NUMBERS, SUBGROUPS = 200, 40, 1_000
ROWS_A_FILE = 1_000_000


def _uniform(stream: int) -> str:
    return f"((hash(range * 512 + {stream}) >> 11)::DOUBLE / 9007199254740992)"


def write_table(folder: Path, n_rows: int) -> None:
    """Write so many rows as Parquet files."""
    folder.mkdir(parents=True)
    columns = [f"'s' || floor({SUBGROUPS} * {_uniform(0)})::INTEGER AS site"]
    for number in range(1, FEATURES + 1):
        drawn = _uniform(number)
        value = f"floor({2 + number % 6} * {drawn})::TINYINT"
        columns.append(f"{drawn if number <= NUMBERS else value} AS f{number}")
    told = f"0.1 + 0.3 * ({_uniform(1)} > 0.5)::TINYINT + 0.3 * ({_uniform(100)} > 0.5)::TINYINT"
    columns.append(f"({_uniform(500)} < {told})::TINYINT AS ill")
    with duckdb.connect() as connection:
        for number, start in enumerate(range(0, n_rows, ROWS_A_FILE)):
            stop = min(n_rows, start + ROWS_A_FILE)
            connection.execute(
                f"COPY (SELECT {', '.join(columns)} FROM range({start}, {stop})) "  # noqa: S608
                f"TO '{folder / f'part_{number:04}.parquet'}' (FORMAT parquet, COMPRESSION zstd)"
            ).fetchall()


def measure(folder: str, gib: float, most_rows: int, fit: bool) -> dict[str, object]:
    """Figures of one table, in this process."""
    import misfeat
    from benchmarks.speed.clock import StepClock, peak_memory
    from benchmarks.speed.experiment import STEPS
    from misfeat.cohorts import build_cohorts
    from misfeat.machine.memory import available_memory
    from misfeat.machine.progress import progress_told

    share = min(1.0, gib * 2**30 / available_memory())
    clock = StepClock(STEPS if fit else {})
    coding = misfeat.Coding(max_rows=most_rows)
    with misfeat.memory_limit(share), progress_told(clock):
        if fit:
            selector = misfeat.SubgroupSelector(
                "site", size=2, coding=coding, verbose=1, random_state=0
            )
            with clock.part("rest of the fit"):
                selector.fit(folder, "ill")
            cohorts = selector.cohorts_
        else:
            with clock.part("coding"):
                cohorts = build_cohorts(folder, "ill", groups="site", coding=coding)
    found: dict[str, object] = {
        "subgroups_kept": len(cohorts.names),
        "features_kept": len(cohorts.features),
        "different_rows_kept": len(cohorts.weights),
        "peak_mib": round(peak_memory() / 2**20),
    }
    for step, (wall, cpu) in clock.seconds.items():
        found |= {f"{step}: cpu": round(cpu, 1), f"{step}: wall": round(wall, 1)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 4e6])
    parser.add_argument("--gib", type=float, default=8.0)
    parser.add_argument("--most-rows", type=float, default=2e6)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("plan.csv"))
    parser.add_argument("--measured", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measured:
        print(json.dumps(measure(*json.loads(asked.measured))))
        return
    found = []
    for n_rows in map(int, asked.rows):
        with tempfile.TemporaryDirectory() as own:
            folder = Path(own) / "rows"
            write_table(folder, n_rows)
            said = json.dumps([str(folder), asked.gib, int(asked.most_rows), asked.fit])
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.sizing.plan", "--measured", said],
                stdout=subprocess.PIPE,
                text=True,
            )
            if done.returncode:
                continue
            figures = json.loads(done.stdout.splitlines()[-1])
        each = 1e6 * figures["coding: cpu"] / (n_rows * (FEATURES + 2))
        line = {
            "rows": n_rows,
            "cores": effective_n_jobs(-1),
            "cpu_microseconds_a_value": round(each, 3),
            **figures,
        }
        found.append(line)
        print(line, flush=True)
        with asked.out.open("w", newline="") as file:
            table = csv.DictWriter(file, max(found, key=len), lineterminator="\n")
            table.writeheader()
            table.writerows(found)


if __name__ == "__main__":
    main()
