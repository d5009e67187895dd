"""All answers in a file or a folder for other programs, in the format that its name asks for."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.options import check_size
from misfeat.exceptions import Message, MisfeatError, Setting, check_count, listed, warn
from misfeat.runtime import atomic_files
from misfeat.safe_text import visible
from misfeat.show.export import tables
from misfeat.show.export.tables import TITLES
from misfeat.show.questions import in_columns
from misfeat.show.terminal import in_a_row

if TYPE_CHECKING:
    from misfeat.selection import Selection
    from misfeat.show.export.tables import AnswerTable

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
        atomic_files.write_file(place, csv_bytes(answers[0]))
    else:
        about = tables.about_table(selection, answers)
        answers = [about, tables.in_words_table(answers), *answers]
        if suffix == EXCEL:
            atomic_files.write_file(place, workbook_bytes(answers))
        else:
            _write_folder(place, {_file(one.title): csv_bytes(one) for one in answers})
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


MOST_CHARACTERS = 32_767  # of a cell of Excel, in units of UTF-16
MOST_LINES = 1_048_575  # of a sheet, below its head
NARROWEST, WIDEST = 8, 60  # characters that a column of a sheet is wide
LOOKED_AT = 1000  # lines that say how wide a column is
_SIGNS = "=+\\-@＝＋－＠﹢﹣﹦﹫−"
# The start of a cell, or of what becomes one where cells are separated by semicolons.
_FORMULA = re.compile(rf"(^|;)(?=[\s\"'`´‘’“”«»]*[{_SIGNS}])")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")  # what no XML may hold, and `visible` leaves as it is
_CODES = re.compile("_(?=x[0-9A-Fa-f]{4}_)")  # what Excel reads as the number of a character


def plain_value(value: Any) -> str | int | float | bool | None:
    """A value as a cell holds it: text, a number, whether something holds, or nothing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple | list):
        return legal_text(in_a_row(list(map(str, value))))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return legal_text(str(value))


def legal_text(text: str) -> str:
    """Text on one line that every format can hold."""
    return _NO_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))


def begins_as_formula(text: str) -> bool:
    """Whether a spreadsheet might run text; a plain number is not a formula."""
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


def inert(text: str) -> str:
    """Text with an apostrophe before all that a spreadsheet might run when it opens a CSV file."""
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'", text)


def csv_bytes(table: AnswerTable) -> bytes:
    """A table as CSV; one that has no columns says why in a column called ``note``."""

    def cell(value: Any) -> str | int | float:
        plain = plain_value(value)
        if plain is None or isinstance(plain, bool):
            return "" if plain is None else str(plain).lower()
        return inert(plain) if isinstance(plain, str) else plain

    text = io.StringIO()
    columns = table.columns or {"note": [table.note]}
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(cell, line) for line in zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def workbook_bytes(tables: Sequence[AnswerTable]) -> bytes:
    """A workbook with a sheet a table; a warning says where one has too many lines for Excel."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    book.properties.creator = "misfeat"
    for table in tables:
        if table.rows > MOST_LINES:
            many = f"The table {table.title!r} has {table.rows:,} lines, and a sheet of Excel"
            others = "the others are left out. A folder of CSV files holds all of them."
            warn(Message(f"{many} holds {MOST_LINES:,}: {others}"))
        _add_sheet(book.create_sheet(table.title), table)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _add_sheet(sheet: Any, table: AnswerTable) -> None:
    """Fill the sheet of a table; one without lines says why."""
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    columns = table.columns if table.rows else {"note": [table.note]}
    sheet.freeze_panes = "A2"
    last = min(max(table.rows, 1), MOST_LINES) + 1
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{last}"
    for number, (name, values) in enumerate(columns.items(), start=1):
        shown = [plain_value(value) for value in values[:LOOKED_AT]]
        longest = max((len(one) for one in shown if isinstance(one, str)), default=0)
        width = min(max(longest, len(name), NARROWEST), WIDEST) + 2
        sheet.column_dimensions[get_column_letter(number)].width = width
    heads = [_excel_cell(sheet, name) for name in columns]
    for head in heads:
        head.font = Font(bold=True)
    sheet.append(heads)
    for line in islice(zip(*columns.values(), strict=True), MOST_LINES):
        sheet.append([_excel_cell(sheet, value) for value in line])


def _excel_cell(sheet: Any, value: Any) -> Any:
    """A cell; text is text, whatever it begins with, also once it is edited, and cut to fit."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment

    plain = plain_value(value)
    if isinstance(plain, str):
        units = plain.encode("utf-16-le")
        if len(units) > 2 * MOST_CHARACTERS:
            plain = units[: 2 * (MOST_CHARACTERS - 1)].decode("utf-16-le", "ignore") + "…"
        cell = WriteOnlyCell(sheet, _CODES.sub("_x005F_", plain))
        cell.data_type = "s"
        if len(plain) > WIDEST:
            cell.alignment = Alignment(wrap_text=True, vertical="top")
        if begins_as_formula(plain):
            cell.quotePrefix = True
        return cell
    cell = WriteOnlyCell(sheet, plain)
    if isinstance(plain, float) and not plain.is_integer():
        cell.number_format = "0.0000"
    return cell
