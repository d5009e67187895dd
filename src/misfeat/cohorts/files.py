"""Files as tables: DuckDB reads CSV, TSV and Parquet, one file, a folder or a glob."""

from __future__ import annotations

import csv
import glob
import gzip
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from misfeat.cohorts.values import MissingCodes

NULL_SPELLINGS = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null")
"""What an empty cell of a CSV file may look like, besides the codes that the user gives."""

LONGEST_PATH = 4000
MOST_OTHERS = 10_000
"""The most folders and other files that a folder of Parquet files may hold."""
_PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


def open_path(path: str, codes: MissingCodes) -> tuple[Any, Any]:
    """Open a path as a DuckDB relation, on a connection of its own.

    Parameters
    ----------
    path : str
        A CSV, TSV or Parquet file, a folder of Parquet files, or a glob pattern of such.
    codes : MissingCodes
        Texts that mean missing everywhere are read as nulls, so that a column of numbers with
        ``"?"`` in it is still a column of numbers.

    Returns
    -------
    relation : duckdb.DuckDBPyRelation
    connection : duckdb.DuckDBPyConnection
        To be closed after the relation was read: DuckDB keeps the memory of past queries.
    """
    files = _matching_files(path)
    parquet = _ending(files[0]) in _PARQUET
    connection = _connect(path)
    import duckdb

    try:
        relation = (
            _read_parquet(connection, files) if parquet else _read_csv(connection, files, codes)
        )
    except (duckdb.Error, OSError, UnicodeError, csv.Error, pyarrow_errors()) as error:
        reason = " ".join(str(error).split())
        bad = max((file for file in files if file in reason), key=len, default=path)
        reason = reason[:300]
        raise MisfeatError(
            "{path!r} cannot be read as {format}; check that the file is whole, its ending right"
            "{text}. ({reason})",
            path=bad,
            format="Parquet" if parquet else "CSV",
            text="" if parquet else ", and its text UTF-8",
            reason=reason,
        ) from error
    return relation, connection


def pyarrow_errors() -> type[Exception]:
    """What PyArrow raises for a file that it cannot read."""
    import pyarrow as pa

    error: type[Exception] = pa.ArrowException
    return error


def _read_parquet(connection: Any, files: list[str]) -> Any:
    import pyarrow.parquet as pq

    try:
        names = pq.read_schema(files[0]).names
    except pyarrow_errors() as error:
        raise OSError(f"{files[0]}: {error}") from error  # which file, PyArrow does not say
    _refuse_repeats(files[0], names)
    return connection.read_parquet(
        [glob.escape(file) for file in files], union_by_name=True, hive_partitioning=True
    )


def _matching_files(path: str) -> list[str]:
    place = Path(path)
    if len(path) > LONGEST_PATH:
        raise MisfeatError(
            "The path {start!r}... is too long for a file; check it.", start=path[:60]
        )
    if place.is_dir():
        files = _parquet_files(place, path)
    elif place.exists():
        files = [path]
    else:
        pattern = glob.has_magic(path)
        files = sorted(glob.iglob(path, recursive=True)) if pattern else []  # noqa: PTH207
        if not files:
            raise MisfeatError("There is no file {path!r}; check the path.", path=path)
    endings = {_ending(file) for file in files}
    if endings - {*_PARQUET, *_TEXT}:
        other = next(file for file in files if not _ending(file))
        raise MisfeatError(
            "{path!r} is not a file that can be read; expected one that ends in {endings}.",
            path=other,
            endings=", ".join((*_TEXT, *_PARQUET)),
        )
    if len({ending in _PARQUET for ending in endings}) > 1:
        raise MisfeatError("{path!r} matches both CSV and Parquet files; name one kind.", path=path)
    return files


def _parquet_files(folder: Path, path: str) -> list[str]:
    """The Parquet files of a folder and those below it.

    Whoever names a folder of something else, ``/`` say, is told so before all of it is searched.
    """
    files: list[str] = []
    n_others = 0
    for place, _, names in os.walk(folder):
        of_parquet = [name for name in names if _ending(name) in _PARQUET]
        files.extend(str(Path(place, name)) for name in of_parquet)
        n_others += 1 + len(names) - len(of_parquet)
        if n_others > MOST_OTHERS + 2 * len(files):
            found = "mostly other files than Parquet"
            break
    else:
        if files:
            return sorted(files)
        found = "no Parquet file"
    texts = next((str(f) for f in folder.iterdir() if _ending(f.name) in _TEXT), None)
    example = str(folder / "*.parquet") if texts is None else str(folder / f"*{_ending(texts)}")
    raise MisfeatError(
        "The folder {path!r} holds {found}; a folder may hold Parquet files alone.",
        remedy="Name a file, or for files of one kind a glob such as {example!r}.",
        path=path,
        found=found,
        example=example,
    )


def _ending(file: str) -> str:
    return next((end for end in (*_TEXT, *_PARQUET) if file.lower().endswith(end)), "")


def _connect(path: str) -> Any:
    try:
        import duckdb
        import pyarrow as pa  # noqa: F401
    except ImportError as error:
        raise MisfeatError(
            "Reading {path!r} needs DuckDB; install it with: pip install 'misfeat[duckdb]'",
            path=path,
        ) from error
    connection = duckdb.connect()
    # DuckDB draws its bar on standard output, which belongs to the answer.
    connection.execute("SET enable_progress_bar = false").fetchall()
    return connection


def _read_csv(connection: Any, files: list[str], codes: MissingCodes) -> Any:
    """Load CSV files into a table of the connection, so that each is parsed only once."""
    delimiter = "\t" if _ending(files[0]) in (".tsv", ".tsv.gz") else None
    _check_header(connection, files[0], delimiter)
    options: dict[str, Any] = {"delimiter": delimiter} if delimiter else {}
    if all(map(_is_packed, files)):  # older versions of DuckDB know ".gz", but not ".GZ"
        options["compression"] = "gzip"
    texts = dict.fromkeys((*NULL_SPELLINGS, *(c for c in codes.everywhere if isinstance(c, str))))
    connection.read_csv(
        [glob.escape(file) for file in files],
        header=True,
        sample_size=-1,
        na_values=list(texts),
        **options,
    ).create("csv_rows")
    return connection.table("csv_rows")


def _is_packed(file: str) -> bool:
    return _ending(file).endswith(".gz")


def _check_header(connection: Any, file: str, delimiter: str | None) -> None:
    """Refuse an empty file, and names that occur twice."""
    if delimiter is None:
        sniffed = connection.execute(
            "SELECT Delimiter FROM sniff_csv(?, compression = ?)",
            [glob.escape(file), "gzip" if _is_packed(file) else "none"],
        ).fetchall()
        delimiter = sniffed[0][0]
    opened = gzip.open if _is_packed(file) else open
    with opened(file, "rt", encoding="utf-8-sig", newline="") as lines:
        header = next((row for row in csv.reader(lines, delimiter=delimiter) if row), [])
    if not header:
        raise MisfeatError(
            "{path!r} is empty; it needs a line of column names, and rows.", path=file
        )
    _refuse_repeats(file, header)


def _refuse_repeats(file: str, names: list[str]) -> None:
    """Refuse names that DuckDB takes for the same: it would rename the second one."""
    seen: set[str] = set()
    for name in names:
        plain = name.strip().casefold()
        if plain in seen:
            raise MisfeatError(
                "{path!r} has two columns named {column!r} (neither case nor spaces around a name "
                "count); rename one.",
                path=file,
                column=name,
            )
        seen.add(plain)
