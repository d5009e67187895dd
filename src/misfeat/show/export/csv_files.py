"""Answers as CSV: a file a table, in UTF-8, with text that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import TYPE_CHECKING

from misfeat.exceptions import MisfeatError
from misfeat.runtime.atomic_files import unwritable, write_file
from misfeat.show.export.cells import inert, plain_value
from misfeat.show.export.tables import ABOUT, IN_WORDS, TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from misfeat.show.export.tables import AnswerTable


def file_name(title: str) -> str:
    """The file of a table in a folder.

    Examples
    --------
    >>> file_name("best sets")
    'best_sets.csv'
    """
    return f"{title.replace(' ', '_')}.csv"


FILES = tuple(map(file_name, (ABOUT, IN_WORDS, *TITLES.values())))
"""All that an exported folder may hold."""


def csv_text(table: AnswerTable) -> str:
    """A table as CSV; one that has no columns says why in a column called ``note``."""
    held = io.StringIO()
    writer = csv.writer(held, lineterminator="\n")
    if not table.columns:
        writer.writerows([["note"], [_cell(table.note)]])
        return held.getvalue()
    writer.writerow([_cell(column.name) for column in table.columns])
    writer.writerows(map(_cell, line) for line in table.lines())
    return held.getvalue()


def _cell(value: Any) -> str | int | float:
    plain = plain_value(value)
    if plain is None:
        return ""
    if isinstance(plain, bool):
        return str(plain).lower()
    return inert(plain) if isinstance(plain, str) else plain


def check_folder(folder: Path) -> None:
    """Raise where a folder holds anything but an older export, or cannot be one."""
    try:
        if not folder.exists():
            return
        others = [
            one.name
            for one in sorted(folder.iterdir())
            if one.name not in FILES and not one.name.startswith(".")
        ]
    except OSError as error:
        raise unwritable(folder, error) from error
    if others:
        raise MisfeatError(
            "{folder!r} holds {other!r}, which is no part of an export; name a new folder.",
            folder=str(folder),
            other=others[0],
        )


def write_folder(folder: Path, tables: Sequence[AnswerTable]) -> None:
    """Write a file a table into a folder; those of an older export that are not among them go."""
    contents = _contents(tables)
    for name, content in contents.items():
        write_file(folder / name, content)
    try:
        for name in FILES:
            if name not in contents:
                (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error


def zip_bytes(tables: Sequence[AnswerTable]) -> bytes:
    """The same files in one archive."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _contents(tables).items():
            archive.writestr(name, content)
    return held.getvalue()


def _contents(tables: Sequence[AnswerTable]) -> dict[str, bytes]:
    return {file_name(table.title): csv_text(table).encode() for table in tables}
