"""Answers as bytes of CSV and Excel, with text that no program runs.

A spreadsheet takes a cell for a formula that begins with ``=``, ``+``, ``-`` or ``@``, some also
after blanks or quotes, some also where the sign is of full width. Names and values come from tables
that others wrote, so such text is marked as text. What has no place in a cell (control characters,
ends of lines, signs that turn the order of text) is shown as `misfeat.safe_text` shows it.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import Message, warn
from misfeat.safe_text import visible
from misfeat.show.terminal import in_a_row

if TYPE_CHECKING:
    from misfeat.show.export.tables import AnswerTable

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
