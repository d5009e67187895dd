"""Files of other programs: sheets of Excel, and tables of Stata, SPSS and SAS with their labels.

They are read whole into memory. A sheet other than the first is named behind the path, as in
``visits.xlsx#2024``.
"""

from __future__ import annotations

from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import DamagedFileError, Message, MisfeatError, listed
from misfeat.reading.array_table import ArrayTable
from misfeat.reading.files import EXCEL, FOREIGN, LABELLED, NULL_SPELLINGS, numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    Columns = tuple[Sequence[str], Sequence[Sequence[Any]], list[Message]]


def is_foreign(path: str) -> bool:
    """Whether a path is that of a file of another program, or of a sheet of one."""
    return _ending(_book_and_sheet(path)[0]) in FOREIGN


def open_foreign(path: str) -> ArrayTable:
    """Read a file of another program."""
    file, sheet = _book_and_sheet(path)
    if not Path(file).is_file():
        raise MisfeatError(f"There is no file {file!r}; check the path.")
    package = "openpyxl" if _ending(file) in EXCEL else "pyreadstat"
    try:
        reader = import_module(package)
    except ImportError as error:
        raise MisfeatError(
            f"Reading {file!r} needs {package}; install it with: pip install 'misfeat[files]'"
        ) from error
    try:
        if _ending(file) in EXCEL:
            names, columns, notes = _read_sheet(reader, file, sheet)
        else:
            names, columns, notes = _read_labelled(reader, file)
    except MisfeatError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DamagedFileError(
            f"{file!r} cannot be read; check that it is whole and its ending right. ({reason})"
        ) from error
    names, renamed = numbered(names)
    arrays = (np.array(values, dtype=object) for values in columns)
    return ArrayTable(dict(zip(names, arrays, strict=True)), notes=[*notes, *renamed])


def _book_and_sheet(path: str) -> tuple[str, str | None]:
    book, mark, sheet = path.rpartition("#")
    return (book, sheet) if mark and _ending(book) in EXCEL else (path, None)


def _ending(file: str) -> str:
    return Path(file).suffix.lower()


def _read_sheet(reader: Any, file: str, sheet: str | None) -> Columns:
    """The first row with a value has the names; columns and rows without any value are none."""
    book = reader.load_workbook(file, read_only=True, data_only=True)
    try:
        sheets = [one.title for one in book.worksheets]
        if sheet is not None and sheet not in sheets:
            raise MisfeatError(f"{file!r} has no sheet {sheet!r}; it has {listed(sheets)}.")
        cells = book[sheet or sheets[0]].iter_rows(values_only=True)
        rows = [row for row in cells if any(value is not None for value in row)]
    finally:
        book.close()
    if not rows:
        raise MisfeatError(f"{file!r} is empty; it needs a row of column names, and rows.")
    nothing, columns = {*NULL_SPELLINGS, "#NULL!", "#VALUE!", "#DIV/0!", "#REF!", "#NAME?"}, []
    for at, (name, *cells) in enumerate(zip_longest(*rows)):
        values = [None if isinstance(v, str) and v.strip() in nothing else v for v in cells]
        if name is not None or any(value is not None for value in values):
            columns.append((f"column{at}" if name is None else str(name).strip(), values))
    others = [one for one in sheets if one != (sheet or sheets[0])]
    text = "{file!r} has several sheets; {read!r} is read. Name another behind the path: {other}."
    about = {"file": file, "read": sheets[0], "other": f"{file}#{others[0]}" if others else ""}
    notes = [Message(text, **about)] if others and sheet is None else []
    return [name for name, _ in columns], [values for _, values in columns], notes


def _read_labelled(reader: Any, file: str) -> Columns:
    """Where all values of a column have labels, these; what the file says is missing, is."""
    held, meta = getattr(reader, LABELLED[_ending(file)])(file, output_format="dict")
    for name, labels in meta.variable_value_labels.items():
        if all(value is None or value in labels for value in held.get(name, ())):
            held[name] = [None if value is None else str(labels[value]) for value in held[name]]
    return list(held), list(held.values()), []
