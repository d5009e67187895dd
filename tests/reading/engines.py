"""Real engines for the heavy tests: each one is started, takes tables, and is stopped again.

An engine is a function from a PyArrow table to a table of its own. PyArrow tells null from NaN and
has a type for every column, so each engine gets the very same values.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

Hold = Callable[[pa.Table], Any]

POSTGRES_USER = "postgres"
_NULLABLE = {
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}


def require(condition: object, reason: str) -> None:
    """Skip the test where a user's machine lacks something; CI must have it, so there it fails."""
    if condition:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def as_pandas(table: pa.Table) -> pd.DataFrame:
    """The reference: pandas with nullable integers and flags, dates as timestamps at midnight."""
    frame = table.to_pandas(types_mapper=_NULLABLE.get, date_as_object=False)
    decimals = [field.name for field in table.schema if pa.types.is_decimal(field.type)]
    return frame.astype(dict.fromkeys(decimals, "float64"))


@contextmanager
def pyspark_engine() -> Iterator[Hold]:
    """A local Spark with two workers, in a time zone that is not UTC."""
    require(find_spec("pyspark"), "PySpark is not installed; install misfeat[spark]")
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java").is_file() if home else shutil.which("java")
    require(java, "PySpark needs Java 17 or newer; install it, and put it on PATH or in JAVA_HOME")
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",  # moments without a zone get none
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # compiles quickly
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    try:
        yield lambda table: session.createDataFrame(table).repartition(3).cache()
    finally:
        session.stop()


@contextmanager
def dask_engine() -> Iterator[Hold]:
    """Dask in threads, every table in several partitions."""
    require(find_spec("dask"), "Dask is not installed; install misfeat[dask]")
    import dask.dataframe as dd

    yield lambda table: dd.from_pandas(as_pandas(table), npartitions=4)


@contextmanager
def duckdb_engine() -> Iterator[Hold]:
    """DuckDB behind Ibis."""
    require(find_spec("ibis"), "Ibis is not installed; install misfeat[ibis]")
    require(find_spec("duckdb"), "DuckDB is not installed; install misfeat[duckdb]")
    import ibis

    connection = ibis.duckdb.connect()
    numbers = count()

    def hold(table: pa.Table) -> Any:
        # Given as an expression: Ibis 12 and sqlglot 30 fail over the clean-up after plain tables.
        return connection.create_table(f"table_{next(numbers)}", ibis.memtable(table))

    try:
        yield hold
    finally:
        connection.disconnect()


@contextmanager
def postgres_engine() -> Iterator[Hold]:
    """A PostgreSQL server of its own behind Ibis, reached over a socket in a temporary folder."""
    require(find_spec("ibis"), "Ibis is not installed; install misfeat[ibis]")
    require(find_spec("psycopg"), "psycopg is not installed; install ibis-framework[postgres]")
    import ibis

    numbers = count()
    with postgres_server() as socket_folder:
        connection = ibis.postgres.connect(
            host=str(socket_folder), user=POSTGRES_USER, database="postgres"
        )

        def hold(table: pa.Table) -> Any:
            # Ibis loads tables through pandas, which has one NaN for NaN and null; COPY keeps both.
            name = f"table_{next(numbers)}"
            connection.create_table(name, schema=ibis.Schema.from_pyarrow(table.schema))
            with connection.con.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
                for row in table.to_pylist():
                    copy.write_row(list(row.values()))
            connection.con.commit()
            return connection.table(name)

        try:
            yield hold
        finally:
            connection.disconnect()


@contextmanager
def postgres_server() -> Iterator[Path]:
    """Start a server with an empty database; give the folder of its socket."""
    programs = _postgres_programs()
    require(programs, "PostgreSQL is not installed; install its server, with initdb and pg_ctl")
    as_server_user = _as_server_user()
    with ExitStack() as stack:
        # Not under pytest's own folders, which nobody but their owner may enter; and short, since
        # the path of a socket has at most 107 characters.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="misfeat-pg-")))
        data = folder / "data"
        if as_server_user:
            shutil.chown(folder, POSTGRES_USER)
            folder.chmod(0o755)

        def server(program: str, *options: str) -> None:
            # A file and no pipe, because the server keeps its output open; its log goes there, too.
            with (folder / "output").open("a+") as output:
                done = subprocess.run(
                    [*as_server_user, programs / program, "-D", data, *options],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    cwd=folder,
                )
                output.seek(0)
                assert done.returncode == 0, f"{program} failed:\n{output.read()}"

        server("initdb", "-U", POSTGRES_USER, "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        settings = f"-k {folder} -c listen_addresses= -c fsync=off -c timezone=America/New_York"
        stack.callback(server, "pg_ctl", "stop", "-w", "-m", "fast")
        server("pg_ctl", "start", "-w", "-o", settings)
        yield folder


def _postgres_programs() -> Path | None:
    """The folder of initdb and pg_ctl, which Debian keeps off the PATH."""
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    folders = sorted(debian, key=lambda folder: (len(folder.parent.name), folder), reverse=True)
    on_path = shutil.which("initdb")
    if on_path:
        folders.insert(0, Path(on_path).resolve().parent)
    return next((f for f in folders if (f / "initdb").is_file() and (f / "pg_ctl").is_file()), None)


def _as_server_user() -> list[str]:
    """What to put before a command, since PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    import pwd

    known = any(user.pw_name == POSTGRES_USER for user in pwd.getpwall())
    require(
        known and shutil.which("runuser"),
        f"PostgreSQL does not run as root; it needs a user {POSTGRES_USER!r} and runuser",
    )
    return ["runuser", "-u", POSTGRES_USER, "--"]


ENGINES: dict[str, Callable[[], AbstractContextManager[Hold]]] = {
    "PySpark": pyspark_engine,
    "Dask": dask_engine,
    "Ibis on DuckDB": duckdb_engine,
    "Ibis on PostgreSQL": postgres_engine,
}
