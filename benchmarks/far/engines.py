"""Five million rows in DuckDB, Spark, Dask and PostgreSQL: the same cohorts and the same answers.

Every engine runs in a process of its own on the table of `made.py`: DuckDB on the Parquet files,
Spark as a cluster of two workers in processes of their own (``local-cluster[2,1,1024]``), Dask as a
distributed cluster of two worker processes, PostgreSQL as a server that is started for it. Compared
are digests of all arrays of the cohorts, and of the answers: all pairs of features in every
subgroup with scores and intervals.

    python benchmarks/far/engines.py [--rows 5e6] [--engines duckdb spark dask postgres]

Dask needs ``distributed``. The figures are kept beside this script in engines.csv.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from made import GROUPS, TARGET, write_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.cohorts import Cohorts

MOST_ROWS = 1_000_000
"""Of more different rows than this, every engine has to draw the same ones."""


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
    from tests.cohorts.engines import POSTGRES_USER, postgres_server

    types = {"VARCHAR": "text", "TINYINT": "smallint", "DOUBLE": "double precision"}
    with postgres_server() as socket, tempfile.TemporaryDirectory() as copied:
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


def measure(engine: str, folder: Path) -> None:
    """Fit in this process, and print what came out."""
    from misfeat import Coding, SubgroupSelector

    with TABLES[engine](folder) as table:
        start, cpu = time.perf_counter(), time.process_time()
        coding = Coding(max_rows=int(os.environ.get("MOST_ROWS", MOST_ROWS)))
        selector = SubgroupSelector(GROUPS, size=2, k=105, coding=coding, random_state=0)
        selector.fit(table, TARGET)
        answers = [
            (one.subgroup, one.features, one.score, one.low, one.high)
            for one in selector.best_sets()
        ]
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cohorts = selector.cohorts_
    print(
        digest_of(cohorts),
        hashlib.sha256(repr(answers).encode()).hexdigest()[:16],
        len(cohorts.weights),
        round(cpu, 1),
        round(children.ru_utime + children.ru_stime, 1),
        round(wall, 1),
        sep=";",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=5e6)
    parser.add_argument("--engines", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--measured", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measured:
        measure(asked.measured[0], Path(asked.measured[1]))
        return
    n_rows, found = int(asked.rows), []
    with tempfile.TemporaryDirectory() as own:
        folder = Path(own) / "rows"
        Path(own).chmod(0o755)
        write_table(folder, n_rows)
        for engine in asked.engines:
            done = subprocess.run(
                [sys.executable, __file__, "--measured", engine, str(folder)],
                stdout=subprocess.PIPE,
                text=True,
            )
            names = ["cohorts", "answers", "different_rows", "cpu", "cpu_of_children", "wall"]
            said = done.stdout.strip().splitlines()[-1:] if done.returncode == 0 else ["failed"]
            values = said[0].split(";") if said else []
            found.append(
                {"engine": engine, "rows": n_rows, **dict(zip(names, values, strict=False))}
            )
            print(found[-1], flush=True)
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        table = csv.DictWriter(file, found[0], lineterminator="\n")
        table.writeheader()
        table.writerows(found)
    same = {(one.get("cohorts"), one.get("answers")) for one in found}
    print("identical" if len(same) == 1 and len(found) > 1 else "NOT identical")


if __name__ == "__main__":
    main()
