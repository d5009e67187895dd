"""Answers as an Excel workbook: a sheet a table, numbers as numbers, text as nothing but text."""

from __future__ import annotations

import io
import re
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import Message, MisfeatError, warn
from misfeat.show.export.cells import begins_as_formula, cut_to, plain_value
from misfeat.show.export.glossary import COUNT, RATIO, SCORE, SHARE, TEXT, Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.show.export.tables import AnswerTable

MOST_LINES = 1_048_575
"""Of a sheet, below its head."""
NARROWEST, WIDEST = 8, 60
"""Characters that a column is wide at least and at most."""
LOOKED_AT = 1000
"""Lines that say how wide a column is."""
FORMATS = {SHARE: "0.0%", SCORE: "0.0000", COUNT: "#,##0", RATIO: "0.00"}
"""How Excel shows numbers; cells hold all their digits."""
_NOTE = Column("note", TEXT)
_CODES = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
"""The start of what Excel reads as the number of a character."""


def check_openpyxl() -> None:
    """Raise where no workbook can be written."""
    if find_spec("openpyxl") is None:
        raise MisfeatError(
            "Excel files need openpyxl: pip install 'misfeat[excel]'; or name a folder, for CSV "
            "files."
        )


def workbook_bytes(tables: Sequence[AnswerTable]) -> bytes:
    """A workbook with a sheet a table; a warning says where one has too many lines for Excel."""
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    book.properties.creator = "misfeat"
    for table in tables:
        _add_sheet(book, table)
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


def _add_sheet(book: Any, table: AnswerTable) -> None:
    """Add the sheet of a table; one without lines says why."""
    columns = table.columns if table.rows else (_NOTE,)
    lines = list(islice(table.lines(), MOST_LINES)) if table.rows else [(table.note,)]
    if table.rows > MOST_LINES:
        warn(
            Message(
                "The table {title!r} has {rows:,} lines, and a sheet of Excel holds {most:,}: the "
                "others are left out. A folder of CSV files holds all of them.",
                title=table.title,
                rows=table.rows,
                most=MOST_LINES,
            )
        )
    sheet = book.create_sheet(table.title)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = f"A1:{_letter(len(columns) - 1)}{len(lines) + 1}"
    for place, column in enumerate(columns):
        width = _width(column, [line[place] for line in lines[:LOOKED_AT]])
        sheet.column_dimensions[_letter(place)].width = width
    cells = _Cells(sheet)
    sheet.append([cells.head(column.name) for column in columns])
    kinds = [column.kind for column in columns]
    for line in lines:
        sheet.append([cells.of(value, kind) for value, kind in zip(line, kinds, strict=True)])


class _Cells:
    """Makes the cells of a sheet; text is text whatever it begins with, also once it is edited."""

    def __init__(self, sheet: Any) -> None:
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.styles import Alignment, Font

        self._sheet, self._new = sheet, WriteOnlyCell
        self._bold, self._wrapped = Font(bold=True), Alignment(wrap_text=True, vertical="top")

    def head(self, name: str) -> Any:
        cell = self.of(name, TEXT)
        cell.font = self._bold
        return cell

    def of(self, value: Any, kind: str) -> Any:
        plain = plain_value(value)
        if isinstance(plain, str):
            return self._text(plain)
        cell = self._new(self._sheet, plain)
        if plain is not None and kind in FORMATS:
            cell.number_format = FORMATS[kind]
        return cell

    def _text(self, text: str) -> Any:
        cell = self._new(self._sheet, _CODES.sub("_x005F_", cut_to(text)))
        cell.data_type = "s"
        if len(text) > WIDEST:
            cell.alignment = self._wrapped
        if begins_as_formula(text):
            cell.quotePrefix = True
        return cell


def _width(column: Column, values: Sequence[Any]) -> int:
    """How wide a column is, by its head and some of its values."""
    if column.kind in FORMATS:
        longest = NARROWEST
    else:
        longest = max((len(str(plain_value(value))) for value in values), default=0)
    return min(max(longest, len(column.name), NARROWEST), WIDEST) + 2


def _letter(place: int) -> str:
    from openpyxl.utils import get_column_letter

    letter: str = get_column_letter(place + 1)
    return letter
