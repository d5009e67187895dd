"""All answers in a file or a folder for other programs, in the format that its name asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from misfeat.answers.options import check_size
from misfeat.exceptions import Message, MisfeatError, Setting, check_count, listed
from misfeat.runtime import atomic_files
from misfeat.show.export import formats, tables
from misfeat.show.export.tables import TITLES
from misfeat.show.questions import in_columns

if TYPE_CHECKING:
    from misfeat.selection import Selection

EXCEL, CSV = ".xlsx", ".csv"
FOLDER = ""  # a folder of CSV files


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
        what = Message("{name!r} is not a question", name=unknown[0]) if unknown else "No question"
        raise MisfeatError(
            f"{what}; name some of {listed(list(TITLES), len(TITLES))} in {Setting('questions')}."
        )
    place = atomic_files.as_path(path, "path")
    try:
        suffix = _checked_format(path, place, asked)
    except OSError as error:
        raise atomic_files.unwritable(place, error) from error
    options = {name: value for name, value in (("size", size), ("k", k)) if value is not None}
    for name, value in options.items():
        check_count(value, name)
    if size is not None:
        check_size(size, selection.feature_names, selection.cohorts)
    selection = in_columns(selection, **{name: int(value) for name, value in options.items()})
    named = questions is not None
    answers = tables.answer_tables(selection, asked, costs, spell, named=named)
    if suffix == CSV:
        atomic_files.write_file(place, formats.csv_bytes(answers[0]))
    else:
        about = tables.about_table(selection, answers)
        answers = [about, tables.in_words_table(answers), *answers]
        if suffix == EXCEL:
            atomic_files.write_file(place, formats.workbook_bytes(answers))
        else:
            _write_folder(place, {_file(one.title): formats.csv_bytes(one) for one in answers})
    return place


def _checked_format(path: object, place: Path, questions: Sequence[str]) -> str:
    """The format that a path asks for; raises before the work where it could not be written."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    in_folder = text.endswith((os.sep, os.altsep or os.sep)) or place.is_dir()
    suffix = FOLDER if in_folder else place.suffix.lower()
    if suffix not in (EXCEL, CSV, FOLDER):
        raise MisfeatError(
            f"{str(place)!r} ends in {suffix!r}, which is not a format of answers; end it in .xlsx "
            "for an Excel workbook, in a slash for a folder of CSV files."
        )
    if suffix == FOLDER:
        names = sorted(one.name for one in place.iterdir()) if place.exists() else []
        others = [name for name in names if name not in _files() and name[0] != "."]
        if others:
            raise MisfeatError(
                f"{str(place)!r} holds {others[0]!r}, which is not part of an export; name a new "
                "folder."
            )
    else:
        atomic_files.check_no_folder(place)
    if place.is_dir() or not place.exists():  # else a file, a device or a pipe
        whole = place.absolute()
        folder = next(one for one in (whole, *whole.parents) if one.exists())
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            why = "Permission denied" if folder.is_dir() else "Not a directory"
            raise MisfeatError(f"{str(place)!r} cannot be written: {why}.")
    if suffix == EXCEL and find_spec("openpyxl") is None:
        raise MisfeatError(
            "Excel files need openpyxl: pip install 'misfeat[excel]'; or name a folder, for CSV "
            "files."
        )
    if suffix == CSV and len(questions) > 1:
        raise MisfeatError(
            f"A {suffix} file holds the answer to one question; name it in "
            f"{Setting('questions')}, or give a folder or an .xlsx file for {len(questions)} "
            "questions."
        )
    return suffix


def _files() -> set[str]:
    """All that an exported folder may hold."""
    return set(map(_file, (tables.ABOUT, tables.IN_WORDS, *TITLES.values())))


def _file(title: str) -> str:
    return f"{title.replace(' ', '_')}{CSV}"


def _write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files of a folder, each whole; those of an older export that it lacks go."""
    for name, content in contents.items():
        atomic_files.write_file(folder / name, content)
    for name in _files() - set(contents):
        (folder / name).unlink(missing_ok=True)
