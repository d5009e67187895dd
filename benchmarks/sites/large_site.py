"""A site of many rows summarises through DuckDB: how long, how much memory, how large the file is.

    python -m benchmarks.sites.large_site --rows 10000000 --features 20 --out benchmarks/sites

Rows are written to a Parquet file first, by DuckDB, in another process; the memory is the most that
the process which summarises ever held.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory


def write_rows(file: str, rows: int, features: int) -> None:
    import duckdb

    columns = ", ".join(
        f"(hash(i * {n + 1} + {n}) % 1000003)::DOUBLE / 1000003 + (i % 2) * {n / 50} AS f{n}"
        for n in range(features)
    )
    duckdb.execute(
        f"COPY (SELECT {columns}, (i % 2 = 1) AS ill FROM range({rows}) AS t(i)) "  # noqa: S608
        f"TO '{file}' (FORMAT parquet)"
    )


def summarise_file(file: str, out: str, share: str) -> None:
    from misfeat.sites import agree, propose, summarise, write_summary

    codebook, _ = agree([propose(file, "ill", "large")])
    begun = time.perf_counter()
    summary = summarise(file, codebook, "large", share=share, min_cell=1)
    seconds = time.perf_counter() - begun
    size = write_summary(summary, out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(
        json.dumps(
            {
                "rows": summary.rows,
                "features": len(summary.features),
                "share": share,
                "seconds": round(seconds, 1),
                "peak_mib": round(peak),
                "file_mb": round(size / 1e6, 2),
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--share", default="tables3")
    parser.add_argument("--out", default="")
    parser.add_argument("--file", default="", help="used by the second process")
    asked = parser.parse_args()
    if asked.file:
        summarise_file(asked.file, asked.out, asked.share)
        return
    if asked.out:
        Path(asked.out).mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:
        file = str(Path(folder) / "rows.parquet")
        write_rows(file, asked.rows, asked.features)
        words = ["--file", file, "--out", str(Path(folder) / "site.misfeat")]
        found = subprocess.run(
            [sys.executable, "-m", "benchmarks.sites.large_site", *words, "--share", asked.share],
            check=True,
            capture_output=True,
            text=True,
        )
    print(found.stdout, end="")
    if asked.out:
        name = f"large_site_{asked.rows}_{asked.features}.json"
        (Path(asked.out) / name).write_text(found.stdout)


if __name__ == "__main__":
    main()
