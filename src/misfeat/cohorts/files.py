"""Files as tables: DuckDB reads CSV, TSV and Parquet, one file, a folder or a glob.

Which files a table was read from is told, too, so that one that changed is known as another.
Far tables are read on the same connections (`connect`).
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs

from misfeat.cohorts.csv_files import TextFile, read_csv_files, refuse_repeats
from misfeat.cohorts.parquet_files import read_schema_names
from misfeat.exceptions import DamagedFileError, MisfeatError
from misfeat.machine.memory import allowed_memory
from misfeat.machine.paths import unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from misfeat.cohorts.values import MissingCodes

LONGEST_PATH = 4000
LONGEST_REASON = 300
"""Characters of what a reader says that are passed on."""
MOST_OTHERS = 10_000
"""The most folders and other files that a folder of Parquet files may hold."""
PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
QUERIES_SHARE = 0.4
"""The part of the memory that may be taken which queries take, before they spill to disk."""
LEAST_MEMORY = 256 * 2**20
"""Bytes that DuckDB cannot do without."""
MEMORY_A_THREAD = 128 * 2**20
"""Bytes of a thread that groups rows; with less it runs out of memory rather than spill."""


@dataclass(frozen=True)
class OpenedFiles:
    """Files that DuckDB reads, on a connection of its own."""

    relation: Any
    names: tuple[str, ...]
    """The columns in the words of the files; DuckDB renames some."""
    close: Callable[[], None]
    """To be called after the relation was read: DuckDB keeps the memory of past queries."""
    unreadable: Callable[[Exception], MisfeatError]
    """The error to raise for what went wrong while rows were read."""


def open_path(path: str, codes: MissingCodes) -> OpenedFiles:
    """Open a CSV, TSV or Parquet file, a folder of Parquet files, or a glob, as a DuckDB relation.

    Texts that mean missing everywhere are read as nulls, so that a column of numbers with ``"?"``
    in it is still a column of numbers.
    """
    files = matching_files(path)
    parquet = _ending(files[0]) in PARQUET
    connection, close = connect(path)
    unreadable = partial(_unreadable, path=path, files=files, parquet=parquet)
    try:
        if parquet:
            relation, names = _read_parquet(connection, files)
        else:
            relation, names = read_csv_files(connection, [*map(_text_file, files)], codes)
    except Exception as error:
        close()
        if isinstance(error, MisfeatError):
            raise
        raise unreadable(error) from error
    return OpenedFiles(relation, names, close, unreadable)


def _unreadable(error: Exception, path: str, files: list[str], parquet: bool) -> MisfeatError:
    """Whatever a reader says of bytes that it cannot make sense of, with the file's name."""
    reason = " ".join(str(error).split()) or type(error).__name__
    bad = max((file for file in files if file in reason), key=len, default=path)
    return DamagedFileError(
        "{path!r} cannot be read as {format}; check that the file is whole, its ending right"
        "{text}. ({reason})",
        path=bad,
        format="Parquet" if parquet else "CSV",
        text="" if parquet else ", and its text UTF-8",
        reason=reason[:LONGEST_REASON],
    )


def _read_parquet(connection: Any, files: list[str]) -> tuple[Any, tuple[str, ...]]:
    held = [_names_in(file) for file in files]
    relation = connection.read_parquet(
        [glob.escape(file) for file in files], union_by_name=True, hive_partitioning=True
    )
    # The first file's columns come first, then what others have besides, then folders' names.
    names = (*held[0], *relation.columns[len(held[0]) :])
    refuse_repeats(files[0], names)
    return relation, names


def _names_in(file: str) -> list[str]:
    try:
        names = read_schema_names(file)
    except MisfeatError:
        raise
    except Exception as error:
        raise OSError(f"{file}: {error}") from error  # which file, PyArrow does not say
    refuse_repeats(file, names)
    return names


def _text_file(file: str) -> TextFile:
    ending = _ending(file)
    return TextFile(file, packed=ending.endswith(".gz"), tabs=ending.startswith(".tsv"))


def matching_files(path: str) -> list[str]:
    """The files of a path: itself, those of a folder, or those that a glob pattern matches."""
    place = Path(path)
    if len(path) > LONGEST_PATH:
        raise MisfeatError(
            "The path {start!r}... is too long for a file; check it.", start=path[:60]
        )
    try:
        files = _files_at(place, path)
    except OSError as error:
        raise unreadable(path, error) from error
    if not files:
        raise MisfeatError("There is no file {path!r}; check the path.", path=path)
    for file in files:
        if not Path(file).is_file():
            raise MisfeatError("{path!r} is no plain file; copy it to one.", path=file)
    endings = {_ending(file) for file in files}
    if endings - {*PARQUET, *_TEXT}:
        other = next(file for file in files if not _ending(file))
        raise MisfeatError(
            "{path!r} is not a file that can be read; expected one that ends in {endings}.",
            path=other,
            endings=", ".join((*_TEXT, *PARQUET)),
        )
    if len({ending in PARQUET for ending in endings}) > 1:
        raise MisfeatError("{path!r} matches both CSV and Parquet files; name one kind.", path=path)
    return files


def _files_at(place: Path, path: str) -> list[str]:
    if place.is_dir():
        return _parquet_files(place, path)
    if place.exists():
        return [path]
    return sorted(glob.iglob(path, recursive=True)) if glob.has_magic(path) else []  # noqa: PTH207


def _parquet_files(folder: Path, path: str) -> list[str]:
    """The Parquet files of a folder and those below it.

    Whoever names a folder of something else, ``/`` say, is told so before all of it is searched.
    """
    files: list[str] = []
    n_others = 0
    for place, _, names in os.walk(folder):
        of_parquet = [name for name in names if _ending(name) in PARQUET]
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
    return next((end for end in (*_TEXT, *PARQUET) if file.lower().endswith(end)), "")


def connect(path: str) -> tuple[Any, Callable[[], None]]:
    """A connection to read a path on, and what closes it and removes what it left on disk.

    Its queries spill to disk before they take more memory than they may.
    """
    try:
        import duckdb
        import pyarrow as pa  # noqa: F401
    except ImportError as error:
        raise MisfeatError(
            "Reading {path!r} needs DuckDB; install it with: pip install 'misfeat[duckdb]'",
            path=path,
        ) from error
    spilled = TemporaryDirectory(prefix="misfeat-", ignore_cleanup_errors=True)
    allowed = max(LEAST_MEMORY, int(QUERIES_SHARE * allowed_memory()))
    connection = duckdb.connect(
        config={
            "memory_limit": f"{allowed // 2**20}MiB",
            "temp_directory": spilled.name,
            "threads": threads_for(allowed),
            # Rows of a table have no order, and keeping one takes memory.
            "preserve_insertion_order": "false",
        }
    )
    # DuckDB draws its bar on standard output, which belongs to the answer.
    connection.execute("SET enable_progress_bar = false").fetchall()
    return connection, partial(_close, connection, spilled)


def threads_for(allowed: int) -> int:
    """How many threads DuckDB may use: one a core, but none that has too little memory."""
    return max(1, min(int(effective_n_jobs(-1)), allowed // MEMORY_A_THREAD))


def _close(connection: Any, spilled: TemporaryDirectory[str]) -> None:
    connection.close()
    spilled.cleanup()
