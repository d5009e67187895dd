"""All answers of a selection in a file or a folder, in the format that its name asks for."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

from misfeat.answers.options import check_size
from misfeat.exceptions import Message, MisfeatError, Setting, check_count, listed
from misfeat.runtime.atomic_files import as_path, check_no_folder, unwritable, write_file
from misfeat.show.answers import in_columns
from misfeat.show.export.csv_files import check_folder, csv_text, write_folder, zip_bytes
from misfeat.show.export.excel import check_openpyxl, workbook_bytes
from misfeat.show.export.markdown import markdown_page
from misfeat.show.export.tables import TITLES, about_table, answer_tables, in_words_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from misfeat.selection import Selection

EXCEL, ZIP, CSV, MARKDOWN, FOLDER = ".xlsx", ".zip", ".csv", ".md", ""
"""Suffixes that say which format is meant; none stands for a folder of CSV files."""


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
    """Ask a selection all questions and write the answers; returns where they are.

    What the path may be and which questions there are, `Selection.export` says.
    """
    asked = _checked_questions(questions)
    place = as_path(path, "path")
    try:
        suffix = _format_of(path, place)
        _check_place(place, suffix, asked)
    except OSError as error:
        raise unwritable(place, error) from error
    selection = in_columns(selection, **_other_sizes(selection, size, k))
    if suffix == MARKDOWN:
        write_file(place, markdown_page(selection, asked, costs, spell).encode())
        return place
    tables = answer_tables(selection, asked, costs, spell)
    if suffix == CSV:
        write_file(place, csv_text(tables[0]).encode())
        return place
    tables = [about_table(selection, tables), in_words_table(selection, tables), *tables]
    if suffix == FOLDER:
        write_folder(place, tables)
    else:
        write_file(place, zip_bytes(tables) if suffix == ZIP else workbook_bytes(tables))
    return place


def _checked_questions(questions: Sequence[str] | str | None) -> list[str]:
    """The questions by name, each once."""
    if questions is None:
        return list(TITLES)
    asked = [questions] if isinstance(questions, str) else list(dict.fromkeys(questions))
    unknown = [name for name in asked if name not in TITLES]
    if unknown or not asked:
        raise MisfeatError(
            "{what}; name some of {names} in {setting}.",
            what=Message("{name!r} is no question", name=unknown[0]) if unknown else "No question",
            names=listed(list(TITLES), len(TITLES)),
            setting=Setting("questions"),
        )
    return asked


def _format_of(path: object, place: Path) -> str:
    """The format that a path asks for; what ends in a slash, or is a folder, is one."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    if text.endswith((os.sep, os.altsep or os.sep)) or place.is_dir():
        return FOLDER
    suffix = place.suffix.lower()
    if suffix in (EXCEL, ZIP, CSV, MARKDOWN, FOLDER):
        return suffix
    raise MisfeatError(
        "{place!r} ends in {suffix!r}, which is no format of answers; end it in .xlsx for an Excel "
        "workbook, in .zip or a slash (a folder) for CSV files, in .md for Markdown.",
        place=str(place),
        suffix=suffix,
    )


def _check_place(place: Path, suffix: str, questions: Sequence[str]) -> None:
    """Raise before the work where its result could not be written."""
    if suffix == FOLDER:
        check_folder(place)
    else:
        check_no_folder(place)
    _check_writable(place)
    if suffix == EXCEL:
        check_openpyxl()
    if suffix == CSV and len(questions) > 1:
        raise MisfeatError(
            "A CSV file holds the answer to one question; name it in {setting}, or give a folder, "
            "a .zip or an .xlsx file for {count} questions.",
            setting=Setting("questions"),
            count=len(questions),
        )


def _check_writable(place: Path) -> None:
    """Raise where the nearest folder that is there is none, or lets nobody write."""
    if place.exists() and not place.is_file() and not place.is_dir():
        return  # a device or a pipe
    whole = place.absolute()
    around = [whole, *whole.parents] if whole.is_dir() else whole.parents
    folder = next(one for one in around if one.exists())
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _other_sizes(selection: Selection, size: int | None, k: int | None) -> dict[str, Any]:
    """What is asked for otherwise than at fit, checked."""
    given = {"size": size, "k": k}
    for name, value in given.items():
        check_count(value, name, none=True)
    if size is not None:
        check_size(size, selection.feature_names, selection.cohorts)
    return {name: int(value) for name, value in given.items() if value is not None}
