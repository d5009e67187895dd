"""A table of any length, made by DuckDB straight into Parquet: 15 features, 8 subgroups.

Nine features are categories, two are integers of many values, one is a number of two decimals, and
three are numbers that hardly occur twice. All lean on two hidden quantities and so does the target.
Two features are recorded in a part of the subgroups only, and two have gaps here and there. The
value of a row follows from its number, so that the first rows of a long table are a short one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from pathlib import Path

TARGET, GROUPS = "ill", "site"
ROW_GROUP = 1_000_000
ROWS_A_FILE = 10_000_000


def _uniform(stream: int) -> str:
    """A number between 0 and 1 that follows from the number of a row."""
    return f"((hash(i * 64 + {stream}) >> 11)::DOUBLE / 9007199254740992)"


def _level(stream: int, values: int, lean: str) -> str:
    """One of a few values, higher ones likelier where a hidden quantity is high."""
    return f"least({values - 1}, floor({values} * (0.55 * {_uniform(stream)} + 0.45 * {lean})))"


COLUMNS = {
    "site": f"'s' || (1 + floor(8 * {_uniform(0)})::TINYINT)",
    "smoker": f"({_level(3, 2, 'p')})::TINYINT",
    "stage": f"'stage ' || ({_level(4, 4, 'p')})::TINYINT",
    "ward": f"'w' || ({_level(5, 6, 'q')})::TINYINT",
    "grade": f"({_level(6, 3, 'p')})::TINYINT",
    "visits": f"({_level(7, 5, 'q')})::TINYINT",
    "fever": f"{_uniform(8)} < 0.2 + 0.3 * q",
    "drug": f"'drug ' || ({_level(9, 4, 'q')})::TINYINT",
    "allergy": f"({_level(10, 3, _uniform(11))})::TINYINT",
    "scan": f"CASE WHEN site <> 's3' THEN ({_level(12, 5, 'p')})::TINYINT END",
    "age": f"CASE WHEN {_uniform(13)} > 0.03 THEN (18 + 70 * {_uniform(14)})::SMALLINT END",
    "steps": f"(20000 * {_uniform(15)} * (1.2 - p))::INTEGER",
    "weight": f"round(45 + 60 * (0.5 * {_uniform(16)} + 0.5 * q), 2)",
    "lab": f"ln({_uniform(17)} + 1e-9) * (1 + p)",
    "level": f"CASE WHEN site NOT IN ('s5', 's6') THEN exp(2 * q + {_uniform(18)}) END",
    "ratio": f"CASE WHEN {_uniform(19)} > 0.02 THEN {_uniform(20)} / (0.1 + {_uniform(21)}) END",
    "ill": f"({_uniform(22)} < 0.1 + 0.25 * p + 0.35 * p * q)::TINYINT",
}


def write_rows(connection: duckdb.DuckDBPyConnection, file: Path, start: int, stop: int) -> None:
    """Write the rows of some numbers to one Parquet file."""
    hidden = (
        f"SELECT range AS i, {_uniform(1)} AS p, {_uniform(2)} AS q FROM range({start}, {stop})"  # noqa: S608
    )
    hidden = hidden.replace("hash(i ", "hash(range ")
    site, *others = COLUMNS.items()
    rows = f"SELECT *, {site[1]} AS site FROM ({hidden})"  # noqa: S608
    chosen = ", ".join(["site", *(f"{said} AS {name}" for name, said in others)])
    connection.execute(
        f"COPY (SELECT {chosen} FROM ({rows})) TO '{file}' "  # noqa: S608
        f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})"
    ).fetchall()


def write_table(folder: Path, n_rows: int) -> None:
    """Write a folder of Parquet files that together hold so many rows."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        for number, start in enumerate(range(0, n_rows, ROWS_A_FILE)):
            file = folder / f"part_{number:03}.parquet"
            write_rows(connection, file, start, min(n_rows, start + ROWS_A_FILE))
