"""CSV and TSV files: their dialect and header, and which line breaks the form of the others."""

from __future__ import annotations

import csv
import glob
import gzip
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from misfeat.exceptions import DamagedFileError, MisfeatError, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from misfeat.cohorts.values import MissingCodes

TYPES = ["NULL", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"]
"""What DuckDB makes of cells; misfeat reads times of day, dates that are not ISO's, and flags, for
which DuckDB also takes "yes" and "n"."""
NULL_SPELLINGS = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null")
"""What an empty cell of a CSV file may look like, besides the codes that the user gives."""
QUOTE = '"'
DELIMITERS = ",;\t|"
LONGEST_CELL = 2**24
"""Characters of a cell, where rows are looked through one by one."""
LONGEST_ROW = 2_000_000
"""Bytes of a row that DuckDB takes."""
_START = 4096
"""Bytes that are looked at to tell text from anything else."""
_AT_ONCE = 2**20
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How text of two or four bytes a character begins."""


@dataclass(frozen=True)
class TextFile:
    """A file of text, which may be packed."""

    path: str
    packed: bool
    tabs: bool
    """Whether its ending says that tabs are between its columns."""

    def lines(self, newline: str | None = "") -> TextIO:
        """Open it as text, the ends of lines as they are or, where None, told apart."""
        opened: Any = gzip.open if self.packed else open
        lines: TextIO = opened(self.path, "rt", encoding="utf-8-sig", newline=newline)
        return lines

    def check_bytes(self) -> None:
        """Refuse what is no text in UTF-8, and a packed file whose checksum is another one."""
        opened: Any = gzip.open if self.packed else open
        with opened(self.path, "rb") as file:
            start = file.read(_START)
            while self.packed and file.read(_AT_ONCE):
                pass  # gzip compares the checksum at the end
        if start.startswith(_WIDE):
            raise MisfeatError(
                "{path!r} is text in UTF-16 or UTF-32; save it as UTF-8.", path=self.path
            )
        if b"\0" in start:
            raise DamagedFileError(
                "{path!r} cannot be read as CSV: it holds bytes that are no text; check the file.",
                path=self.path,
            )


@dataclass(frozen=True)
class _Form:
    """How the cells of a file are told apart, and the names in its first line."""

    delimiter: str
    quote: str
    header: tuple[str, ...]


def read_csv_files(
    connection: Any, files: Sequence[TextFile], codes: MissingCodes
) -> tuple[Any, tuple[str, ...]]:
    """Load CSV files into a table of the connection, so that each is parsed only once.

    Texts that mean missing everywhere are read as nulls. Returns the relation, and the names of the
    columns in the files' words, without the blanks around them.
    """
    for file in files:
        file.check_bytes()
    form = _form(connection, files[0])
    names = _names(form.header, files[0].path)
    for file in files[1:]:
        _check_same(file, form, files[0])
    try:
        relation = _loaded(connection, files, form, codes)
        if len(relation.columns) != len(names):
            raise ValueError(f"{len(names)} names, but {len(relation.columns)} columns")
    except Exception as error:
        cause = _odd_row(files, form) or _mixed_ends(files, form)
        if cause is None:
            raise
        raise cause from error
    return relation, names


def _loaded(connection: Any, files: Sequence[TextFile], form: _Form, codes: MissingCodes) -> Any:
    texts = dict.fromkeys((*NULL_SPELLINGS, *(c for c in codes.everywhere if isinstance(c, str))))
    options: dict[str, Any] = {"delimiter": form.delimiter} if len(form.header) > 1 else {}
    if all(file.packed for file in files):  # older versions of DuckDB know ".gz", but not ".GZ"
        options["compression"] = "gzip"
    connection.read_csv(
        [glob.escape(file.path) for file in files],
        header=True,
        sample_size=-1,
        date_format="%Y-%m-%d",
        auto_type_candidates=TYPES,
        na_values=list(texts),
        **options,
    ).create("csv_rows")
    _settle_flags(connection)
    return connection.table("csv_rows")


def _settle_flags(connection: Any) -> None:
    """Make flags of the columns whose cells are all "true" or "false"."""
    held = connection.table("csv_rows")
    texts = [
        f'"{name.replace(QUOTE, QUOTE * 2)}"'
        for name, kind in zip(held.columns, held.types, strict=True)
        if str(kind) == "VARCHAR"
    ]
    if not texts:
        return
    asked = ", ".join(f"bool_and(lower({name}) IN ('true', 'false'))" for name in texts)
    (found,) = connection.execute(f"SELECT {asked} FROM csv_rows").fetchall()  # noqa: S608
    for name, are_flags in zip(texts, found, strict=True):
        if are_flags:
            connection.execute(f"ALTER TABLE csv_rows ALTER {name} TYPE BOOLEAN")


def _form(connection: Any, file: TextFile) -> _Form:
    """The form of a file; DuckDB finds it, but a line that breaks it leads DuckDB astray."""
    delimiter, quote = ("\t", '"') if file.tabs else _sniffed(connection, file)
    header = _header(file, delimiter, quote)
    if len(header) == 1:
        # One column may be what is left where a row differs from all others.
        delimiter = max(DELIMITERS, key=header[0].count)
        header = _header(file, delimiter, quote)
    return _Form(delimiter, quote, header)


def _sniffed(connection: Any, file: TextFile) -> tuple[str, str]:
    import duckdb

    try:
        ((delimiter, quote),) = connection.execute(
            "SELECT Delimiter, Quote FROM sniff_csv(?, compression = ?)",
            [glob.escape(file.path), "gzip" if file.packed else "none"],
        ).fetchall()
    except duckdb.Error:
        with file.lines() as lines:
            first = next((line for line in lines if line.strip()), "")
        return max(DELIMITERS, key=first.count), '"'
    return delimiter, quote if len(quote) == 1 else '"'


def _header(file: TextFile, delimiter: str, quote: str) -> tuple[str, ...]:
    with file.lines() as lines, _long_cells():
        rows = csv.reader(lines, delimiter=delimiter, quotechar=quote)
        header = next((row for row in rows if row), [])
    if not header:
        raise MisfeatError(
            "{path!r} is empty; it needs a line of column names, and rows.", path=file.path
        )
    return tuple(name.strip() for name in header)


def _names(header: tuple[str, ...], path: str) -> tuple[str, ...]:
    """Names of columns; one without a name goes by its number, as DuckDB numbers them."""
    names = tuple(name or f"column{position}" for position, name in enumerate(header))
    refuse_repeats(path, names)
    return names


def refuse_repeats(path: str, names: Sequence[str]) -> None:
    """Refuse names that DuckDB takes for the same: it would rename the second one."""
    seen: set[str] = set()
    for name in names:
        plain = name.strip().casefold()
        if plain in seen:
            raise MisfeatError(
                "{path!r} has two columns named {column!r} (neither case nor spaces around a name "
                "count); rename one.",
                path=path,
                column=name,
            )
        seen.add(plain)


def _check_same(file: TextFile, form: _Form, first: TextFile) -> None:
    header = _header(file, form.delimiter, form.quote)
    if header != form.header:
        raise MisfeatError(
            "{path!r} has the columns {names}, but {first!r} has {others}; files that are read "
            "together need the same columns in the same order.",
            path=file.path,
            names=listed(header),
            first=first.path,
            others=listed(form.header),
        )


def _odd_row(files: Sequence[TextFile], form: _Form) -> MisfeatError | None:
    """The error for the first row that is too long, or has other cells than the header."""
    n_cells = len(form.header)
    for file in files:
        with suppress(UnicodeError, csv.Error):  # which DuckDB has more to say about
            for line, row in _rows(file, form):
                if sum(map(len, row)) >= LONGEST_ROW:
                    return MisfeatError(
                        "{path!r} has a row of more than {limit:,} characters in line {line:,}; "
                        "shorten its cells, or leave their column out.",
                        path=file.path,
                        limit=LONGEST_ROW,
                        line=line,
                    )
                n_found = len(row)
                if n_found != n_cells:
                    return DamagedFileError(
                        "{path!r} has {found} in line {line:,}, but {n_cells:,} columns; complete "
                        "the line, or take it out. If it is the last one, the file may be cut off.",
                        path=file.path,
                        found=f"{n_found:,} cell{'s' if n_found > 1 else ''}",
                        line=line,
                        n_cells=n_cells,
                    )
    return None


def _mixed_ends(files: Sequence[TextFile], form: _Form) -> MisfeatError | None:
    for file in files:
        with suppress(UnicodeError), file.lines(newline=None) as lines:
            for _ in lines:
                if isinstance(lines.newlines, tuple):
                    return _mixed_error(file, form, lines.newlines)
    return None


def _mixed_error(file: TextFile, form: _Form, found: tuple[str, ...]) -> MisfeatError:
    """The error for several ends of lines, which may stand within cells only."""
    ends = " and ".join(map(repr, found))
    if len(_ends_of_rows(file, form)) > 1:
        return DamagedFileError(
            "The lines of {path!r} end in different ways ({ends}); save it with one of them.",
            path=file.path,
            ends=ends,
        )
    return DamagedFileError(
        "Cells or names in {path!r} hold line breaks of another kind than those between its rows "
        "({ends}), which cannot be read; take the breaks out of the cells, or pass a dataframe.",
        path=file.path,
        ends=ends,
    )


def _ends_of_rows(file: TextFile, form: _Form) -> set[str]:
    """How rows end, whatever stands within their cells."""
    ends: set[str] = set()
    last = ""

    def read(lines: TextIO) -> Iterator[str]:
        nonlocal last
        for line in lines:
            last = line
            yield line

    with _long_cells(), file.lines() as lines:
        for _ in csv.reader(read(lines), delimiter=form.delimiter, quotechar=form.quote):
            ends.add(last[len(last.rstrip("\r\n")) :])
    return ends - {""}


def _rows(file: TextFile, form: _Form) -> Iterator[tuple[int, list[str]]]:
    """The line in which each row begins, and its cells."""
    with _long_cells(), file.lines() as lines:
        rows = csv.reader(lines, delimiter=form.delimiter, quotechar=form.quote)
        begins = 1
        for row in rows:
            if row:
                yield begins, row
            begins = rows.line_num + 1


@contextmanager
def _long_cells() -> Iterator[None]:
    usual = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(usual)
