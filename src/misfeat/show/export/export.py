"""All answers of a selection in a file or a folder, in the format that its name asks for."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING
from uuid import uuid4

from misfeat.answers.options import check_size
from misfeat.exceptions import Message, MisfeatError, Setting, check_count, listed
from misfeat.runtime.atomic_files import (
    STAGED,
    as_path,
    check_no_folder,
    move,
    real_path,
    unwritable,
    write_file,
    write_new,
)
from misfeat.show.export.formats import csv_bytes, library_for, parquet_bytes, workbook_bytes
from misfeat.show.export.markdown import markdown_bytes
from misfeat.show.export.tables import (
    ABOUT,
    IN_WORDS,
    TITLES,
    about_table,
    answer_tables,
    first_sentences,
    in_words_table,
)
from misfeat.show.questions import in_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from misfeat.selection import Selection

EXCEL, MARKDOWN, CSV, PARQUET = ".xlsx", ".md", ".csv", ".parquet"
FOLDER = ""
"""A folder of files, CSV unless its name ends as Parquet files do."""


def export_answers(
    selection: Selection,
    path: str | Path,
    questions: Sequence[str] | str | None = None,
    *,
    size: int | None = None,
    k: int | None = None,
    costs: Mapping[str, float] | None = None,
    spell: Callable[[str], str] = str,
) -> Path:
    """Ask a selection questions, all by default, and write the answers; returns where they are."""
    given = list(TITLES) if questions is None else questions
    asked = [given] if isinstance(given, str) else list(dict.fromkeys(given))
    unknown = [name for name in asked if name not in TITLES]
    if unknown or not asked:
        raise MisfeatError(
            "{what}; name some of {names} in {setting}.",
            what=Message("{name!r} is no question", name=unknown[0]) if unknown else "No question",
            names=listed(list(TITLES), len(TITLES)),
            setting=Setting("questions"),
        )
    place = as_path(path, "path")
    try:
        suffix = _format_of(path, place)
        _check_place(place, suffix, asked)
    except OSError as error:
        raise unwritable(place, error) from error
    options = {name: value for name, value in (("size", size), ("k", k)) if value is not None}
    for name, value in options.items():
        check_count(value, name)
    if size is not None:
        check_size(size, selection.feature_names, selection.cohorts)
    selection = in_columns(selection, **{name: int(value) for name, value in options.items()})
    tables = answer_tables(selection, asked, costs, spell)
    in_parquet = place.suffix.lower() == PARQUET
    to_bytes = parquet_bytes if in_parquet else csv_bytes
    if suffix in (CSV, PARQUET):
        write_file(place, to_bytes(tables[0]))
        return place
    first = first_sentences(selection, tables)
    if suffix == MARKDOWN:
        write_file(place, markdown_bytes(selection, tables, first))
        return place
    tables = [about_table(selection, tables), in_words_table(tables, first), *tables]
    if suffix == EXCEL:
        write_file(place, workbook_bytes(tables))
    else:
        end = PARQUET if in_parquet else CSV
        _write_folder(
            place, {f"{one.title.replace(' ', '_')}{end}": to_bytes(one) for one in tables}
        )
    return place


def _format_of(path: object, place: Path) -> str:
    """The format that a path asks for; what ends in a slash, or is a folder, is one."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    if text.endswith((os.sep, os.altsep or os.sep)) or place.is_dir():
        return FOLDER
    suffix = place.suffix.lower()
    if suffix in (EXCEL, MARKDOWN, CSV, PARQUET, FOLDER):
        return suffix
    raise MisfeatError(
        f"{str(place)!r} ends in {suffix!r}, which is no format of answers; end it in .xlsx for "
        "an Excel workbook, in .md for Markdown, in a slash for a folder of CSV files."
    )


def _check_place(place: Path, suffix: str, questions: Sequence[str]) -> None:
    """Raise before the work where its result could not be written."""
    if suffix == FOLDER:
        names = sorted(one.name for one in place.iterdir()) if place.exists() else []
        others = [name for name in names if name not in _files() and name[0] != "."]
        if others:
            raise MisfeatError(
                f"{str(place)!r} holds {others[0]!r}, which is no part of an export; name a new "
                "folder."
            )
    else:
        check_no_folder(place)
    if place.is_dir() or not place.exists():  # else a file, a device or a pipe
        whole = place.absolute()
        folder = next(one for one in (whole, *whole.parents) if one.exists())
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if (end := place.suffix.lower()) in (EXCEL, PARQUET):
        library_for(end)
    if suffix in (CSV, PARQUET) and len(questions) > 1:
        raise MisfeatError(
            "A {suffix} file holds the answer to one question; name it in {setting}, or give a "
            "folder or an .xlsx file for {count} questions.",
            suffix=suffix,
            setting=Setting("questions"),
            count=len(questions),
        )


def _files() -> set[str]:
    """All that an exported folder may hold."""
    titles = (ABOUT, IN_WORDS, *TITLES.values())
    return {f"{one.replace(' ', '_')}{end}" for one in titles for end in (CSV, PARQUET)}


def _write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files of a folder, all or none: first beside it, should the disk be full."""
    place = real_path(folder)
    beside = place.with_name(f"{STAGED}{uuid4().hex}")
    try:
        beside.mkdir(parents=True)
        for name, content in contents.items():
            write_new(beside / name, content)
        if not place.exists():
            beside.rename(place)
            return
        for name in _files() - set(contents):
            (place / name).unlink(missing_ok=True)
        for name in contents:
            move(beside / name, place / name)
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
