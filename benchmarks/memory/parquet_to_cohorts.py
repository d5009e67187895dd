"""Peak memory of turning ten million Parquet rows into cohorts through DuckDB.

Every row is drawn at random from 12 features of 4 values, so that hardly two rows are equal and
collapsing saves nothing: the worst case. The work runs in a process of its own, whose peak resident
memory is reported together with that of a process that only imports what is needed.

    python benchmarks/memory/parquet_to_cohorts.py [--rows 10000000]

The figures are kept beside this script in parquet_to_cohorts.csv.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_FEATURES, N_VALUES, N_CLASSES, N_SITES = 12, 4, 2, 4
BATCH = 1_000_000
MIB = 1024 * 1024

MEASURED = """
import sys, time
from misfeat.cohorts import Coding, build_cohorts
import duckdb, pyarrow
start = time.perf_counter()
if len(sys.argv) > 1:
    cohorts = build_cohorts(
        sys.argv[1], "target", groups="site", coding=Coding(max_rows=10**9)
    )
    assert cohorts.weights.sum() == int(sys.argv[2])
    print(len(cohorts.weights), end=" ")
else:
    print(0, end=" ")
seconds = time.perf_counter() - start
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(seconds, int(status["VmHWM"].split()[0]) * 1024)
"""


def write_table(path: Path, n_rows: int, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    writer = None
    for start in range(0, n_rows, BATCH):
        size = min(BATCH, n_rows - start)
        columns = {"site": rng.integers(N_SITES, size=size)}
        columns |= {f"f{i}": rng.integers(N_VALUES, size=size) for i in range(N_FEATURES)}
        columns["target"] = rng.integers(N_CLASSES, size=size)
        batch = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch)
    if writer is not None:
        writer.close()


def measure(*arguments: str) -> tuple[int, float, float]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments], check=True, capture_output=True, text=True
    )
    distinct, seconds, peak = done.stdout.split()
    return int(distinct), float(seconds), float(peak) / MIB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    n_rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_table(path, n_rows)
        _, _, imports = measure()
        distinct, seconds, peak = measure(str(path), str(n_rows))
        file_size = path.stat().st_size / MIB
    figures = {
        "rows": n_rows,
        "features": N_FEATURES,
        "distinct_rows": distinct,
        "file_mib": round(file_size),
        "imports_mib": round(imports),
        "peak_mib": round(peak),
        "seconds": round(seconds, 1),
    }
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        table = csv.DictWriter(file, figures, lineterminator="\n")
        table.writeheader()
        table.writerow(figures)
    for name, value in figures.items():
        print(f"{name:14} {value:>12,}")


if __name__ == "__main__":
    main()
