"""Five million rows in DuckDB, Spark, Dask and PostgreSQL: the same cohorts and the same answers.

Every engine runs in a process of its own on the table of `made.py`: DuckDB on the Parquet files,
Spark as a cluster of two workers in processes of their own (``local-cluster[2,1,1024]``), Dask as a
distributed cluster of two worker processes, PostgreSQL as a server that is started for it. Compared
are digests of all arrays of the cohorts, and of the answers: all pairs of features in every
subgroup with scores and intervals.

    python benchmarks/far/engines.py [--rows 5e6] [--engines duckdb spark dask postgres]

Engines may be run one by one: the figures are kept beside this script in engines.csv, and every
run is compared with all that is kept there of as many rows. CPU seconds are those of this process
and, apart from them, those of the processes of the engine; DuckDB works within this process.

Dask needs ``distributed``.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from made import GROUPS, TARGET, write_table

from misfeat.answers.top_sets import best_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.cohorts import Cohorts

MOST_ROWS = 1_000_000
"""Of more different rows than this, every engine has to draw the same ones."""
KEPT = Path(__file__).with_suffix(".csv")
NAMES = ("cohorts", "answers", "different_rows", "cpu", "cpu_of_engine", "wall")


@contextmanager
def duckdb_table(folder: Path) -> Iterator[Any]:
    yield str(folder)


@contextmanager
def spark_table(folder: Path) -> Iterator[Any]:
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    os.environ.setdefault("SPARK_WORKER_DIR", str(folder.parent / "spark"))
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.maxResultSize": "2g",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    session = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=settings)
    session = session.getOrCreate()
    try:
        yield session.read.parquet(str(folder))
    finally:
        session.stop()


@contextmanager
def dask_table(folder: Path) -> Iterator[Any]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as c,
        Client(c),
    ):
        yield dd.read_parquet(folder, split_row_groups=True)


@contextmanager
def postgres_table(folder: Path) -> Iterator[Any]:
    import duckdb
    import psycopg

    from tests.reading.engines import POSTGRES_USER, postgres_server

    types = {"VARCHAR": "text", "TINYINT": "smallint", "DOUBLE": "double precision"}
    with postgres_server() as socket, tempfile.TemporaryDirectory() as copied:
        os.environ["SERVER_FOLDER"] = str(socket)
        rows = duckdb.read_parquet(f"{folder}/*.parquet")
        columns = ", ".join(
            f"{name} {types.get(str(kind), str(kind).lower())}"
            for name, kind in zip(rows.columns, rows.types, strict=True)
        )
        file = Path(copied) / "rows.csv"
        rows.write_csv(str(file), header=False)
        said = {"host": str(socket), "user": POSTGRES_USER, "dbname": "postgres"}
        with psycopg.connect(**said) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE UNLOGGED TABLE far ({columns})")
            with cursor.copy("COPY far FROM STDIN (FORMAT csv)") as copy, file.open("rb") as source:
                while chunk := source.read(2**20):
                    copy.write(chunk)
        file.unlink()
        yield f"postgresql://{POSTGRES_USER}@/postgres?host={socket}&table=public.far"


TABLES = {
    "duckdb": duckdb_table,
    "spark": spark_table,
    "dask": dask_table,
    "postgres": postgres_table,
}


def digest_of(cohorts: Cohorts) -> str:
    """A digest of everything that cohorts hold."""
    digest = hashlib.sha256()
    for field in fields(cohorts):
        value = getattr(cohorts, field.name)
        if isinstance(value, np.ndarray):
            digest.update(str((value.dtype, value.shape)).encode())
            digest.update(np.ascontiguousarray(value).tobytes())
        else:
            digest.update(repr(value).encode())
    return digest.hexdigest()[:16]


def cpu_of_engine() -> float:
    """CPU seconds of all processes that this one started, and of a server, as far as known."""
    running = psutil.Process().children(recursive=True)
    server = os.environ.get("SERVER_FOLDER")
    if server:
        first = psutil.Process(int(Path(server, "data", "postmaster.pid").read_text().split()[0]))
        running = [first, *first.children(recursive=True)]
    spent = 0.0
    for process in running:
        with suppress(psutil.NoSuchProcess):
            spent += sum(process.cpu_times()[:4])
    return spent


def measure(engine: str, folder: Path) -> None:
    """Fit in this process, and print what came out."""
    from misfeat import Coding, SubgroupSelector

    with TABLES[engine](folder) as table:
        before = cpu_of_engine()
        start, cpu = time.perf_counter(), time.process_time()
        coding = Coding(max_rows=int(os.environ.get("MOST_ROWS", MOST_ROWS)))
        selector = SubgroupSelector(GROUPS, size=2, k=105, coding=coding, random_state=0)
        selector.fit(table, TARGET)
        answers = [
            (one.subgroup, one.features, one.score, one.low, one.high)
            for one in best_sets(selector.selection_)
        ]
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        engine_cpu = cpu_of_engine() - before
    cohorts = selector.cohorts_
    print(
        digest_of(cohorts),
        hashlib.sha256(repr(answers).encode()).hexdigest()[:16],
        len(cohorts.weights),
        round(cpu, 1),
        round(engine_cpu, 1),
        round(wall, 1),
        sep=";",
    )


def measured_apart(engine: str, folder: Path, n_rows: int) -> dict[str, str]:
    """What an engine comes to in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--measured", engine, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
    )
    said = done.stdout.strip().splitlines()[-1:] if done.returncode == 0 else []
    values = said[0].split(";") if said else ["failed"] * len(NAMES)
    return {"engine": engine, "rows": str(n_rows), **dict(zip(NAMES, values, strict=True))}


def keep(found: dict[str, str]) -> list[dict[str, str]]:
    """Put figures in place of the older ones of the same engine; give all of as many rows."""
    lines = []
    if KEPT.exists():
        with KEPT.open(newline="") as file:
            lines = list(csv.DictReader(file))
    place = {(one["engine"], one["rows"]): one for one in lines}
    place[found["engine"], found["rows"]] = found
    order = list(TABLES)
    lines = sorted(place.values(), key=lambda one: (int(one["rows"]), order.index(one["engine"])))
    with KEPT.open("w", newline="") as file:
        table = csv.DictWriter(file, ["engine", "rows", *NAMES], lineterminator="\n")
        table.writeheader()
        table.writerows(lines)
    return [one for one in lines if one["rows"] == found["rows"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=5e6)
    parser.add_argument("--engines", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--measured", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measured:
        measure(asked.measured[0], Path(asked.measured[1]))
        return
    n_rows = int(asked.rows)
    with tempfile.TemporaryDirectory() as own:
        folder = Path(own) / "rows"
        Path(own).chmod(0o755)
        write_table(folder, n_rows)
        for engine in asked.engines:
            found = measured_apart(engine, folder, n_rows)
            print(found, flush=True)
            kept = keep(found)
    same = {(one["cohorts"], one["answers"]) for one in kept}
    print(", ".join(one["engine"] for one in kept), end=": ")
    print("identical" if len(same) == 1 else "NOT identical")


if __name__ == "__main__":
    main()
