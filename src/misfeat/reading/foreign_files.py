"""Files of other programs: sheets of Excel, and what Stata, SPSS and SAS save."""

from importlib import import_module
from itertools import zip_longest
from typing import Any

import numpy as np

from misfeat.exceptions import DamagedFileError, MisfeatError
from misfeat.messages import Message, listed
from misfeat.reading.files import ABOVE, EXCEL, NULL_SPELLINGS, ending, matching_files, numbered
from misfeat.reading.memory_table import ArrayTable

ColumnData = list[tuple[str, list[Any]]]


def open_foreign(path: str) -> ArrayTable:
    """Read a file of another program."""
    file, sheet = book_and_sheet(path)
    file, *others = matching_files(file)
    if others:
        raise MisfeatError(f"{path!r} matches {len(others) + 1} files; name one.")
    package = "openpyxl" if ending(file) in EXCEL else "pyreadstat"
    try:
        reader = import_module(package)
    except ImportError as error:
        raise MisfeatError(
            f"Reading {file!r} needs {package}; install it with: pip install 'misfeat[files]'"
        ) from error
    try:
        if ending(file) in EXCEL:
            columns, notes = _read_sheet(reader, file, sheet)
        else:
            # Where all values of a column have labels, these; what the file says is missing, is.
            kind = {".zsav": "sav", ".xpt": "xport"}.get(ending(file), ending(file)[1:])
            held, meta = getattr(reader, f"read_{kind}")(file, output_format="dict")
            for name, labels in meta.variable_value_labels.items():
                # Some versions say NaN for what is missing, which equals nothing.
                values = [None if value != value else value for value in held[name]]
                if all(value is None or value in labels for value in values):
                    held[name] = [None if value is None else str(labels[value]) for value in values]
            columns, notes = list(held.items()), []
    except MisfeatError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DamagedFileError(
            f"{file!r} cannot be read; check that it is whole and its ending right. ({reason})"
        ) from error
    names, renamed = numbered([name for name, _ in columns])
    arrays = (np.array(values, dtype=object) for _, values in columns)
    table = ArrayTable(dict(zip(names, arrays, strict=True)))
    table.notes = [*notes, *renamed]
    return table


def book_and_sheet(path: str) -> tuple[str, str | None]:
    """The file of a path, and the sheet behind its mark, if it is a workbook."""
    book, mark, sheet = path.rpartition("#")
    return (book, sheet) if mark and ending(book) in EXCEL else (path, None)


def _read_sheet(reader: Any, file: str, sheet: str | None) -> tuple[ColumnData, list[Message]]:
    """A sheet, or else the first that has several columns; rows without any value are none."""
    book = reader.load_workbook(file, read_only=True, data_only=True)
    try:
        sheets = [one.title for one in book.worksheets]
        if sheet is not None and sheet not in sheets:
            raise MisfeatError(f"{file!r} has no sheet {sheet!r}; it has {listed(sheets)}.")
        found: dict[str, list[tuple[int, Any]]] = {}
        for read in sheets if sheet is None else [sheet]:
            lines = enumerate(book[read].iter_rows(values_only=True), 1)
            found[read] = [line for line in lines if any(v is not None for v in line[1])]
            several = (any(v is not None for v in row[1:]) for _, row in found[read])
            n_above = next((at for at, yes in enumerate(several) if yes), None)
            if n_above is not None:
                break
        else:
            read, n_above = next(iter(found)), 0
    finally:
        book.close()
    if not found[read]:
        raise MisfeatError(f"{file!r} is empty; it needs a row of column names, and rows.")
    nothing = {*NULL_SPELLINGS, "#NULL!", "#VALUE!", "#DIV/0!", "#REF!", "#NAME?"}
    columns: ColumnData = []
    (first, _), *_ = rows = found[read][n_above:]
    for at, (name, *cells) in enumerate(zip_longest(*(row for _, row in rows))):
        values = [None if isinstance(v, str) and v.strip() in nothing else v for v in cells]
        if name is not None or any(value is not None for value in values):
            columns.append((f"column{at}" if name is None else str(name).strip(), values))
    notes = [Message(ABOVE, file=file, n=first)] if n_above else []
    if sheet is None and len(sheets) > 1:
        text = (
            "{file!r} has several sheets; {read!r} is read. Name another behind the path: {path}."
        )
        other = next(one for one in sheets if one != read)
        notes.append(Message(text, file=file, read=read, path=f"{file}#{other}"))
    return columns, notes
