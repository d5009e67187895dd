"""Files as tables: DuckDB reads CSV, TSV and Parquet, one file, a folder or a glob.

What cannot be read is refused with the reader's own reason, also in object stores (`connect`).
"""

import codecs
import csv
import glob
import gzip
import re
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from io import BufferedReader, TextIOWrapper
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from misfeat.exceptions import DamagedFileError, MisfeatError
from misfeat.messages import Message, listed
from misfeat.reading.addresses import without_secrets
from misfeat.reading.values import MissingCodes
from misfeat.runtime.file_system import unreadable
from misfeat.runtime.memory import allowed_memory

NotedRelation = tuple[Any, tuple[str, ...], list[Message]]
Names = Collection[str]  # Of columns of which a CSV file gives the cells as they are written
Load = Callable[[list[str], dict[str, Any]], NotedRelation]  # Of files of some form
PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm")
LABELLED = (".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt")  # Of Stata, SPSS and SAS
FOREIGN = (*EXCEL, *LABELLED)
PACKED = {".gz": "gzip", ".zst": "zstd"}
_TEXT = tuple(text + by for by in ("", *PACKED) for text in (".csv", ".tsv", ".txt", ".tab"))
TYPES = ["NULL", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "VARCHAR"]
"""What DuckDB makes of cells; misfeat reads times of day, dates that are not ISO's, and flags, for
which DuckDB also takes "yes" and "n"."""
_NOT_AVAILABLE = ("NA", "N/A", "n/a", "#N/A", "#NA", "<NA>")
NULL_SPELLINGS = ("", *_NOT_AVAILABLE, "NaN", "nan", "-nan", "NaT", "NULL", "null", "#NUM!")
"""What an empty cell of a CSV file may look like, besides the codes that the user gives."""
DELIMITERS = ",;\t|"
_ABOVE = re.compile(f'sep=.$|# |[^{DELIMITERS}"]*$')  # A header: Excel's mark, a comment, a title
ABOVE = "The header of {file!r} is its line {n}; what stands above it is not read."
_NOT_TEXT = re.compile("[\0-\x08\x0e-\x1f]")  # Characters that no text holds
QUERIES_SHARE = 0.4  # The part of the allowed memory that queries take before they spill to disk
LEAST_MEMORY = 256 * 2**20  # Bytes that DuckDB cannot do without
MEMORY_A_THREAD = 128 * 2**20  # With less, a thread that groups rows fails rather than spill


@dataclass(frozen=True)
class Relation:
    """A table that misfeat opened in an engine, on a connection of its own."""

    native: Any
    names: tuple[str, ...]  # The columns in the words of the files; DuckDB renames some
    close: Callable[[], None]  # Gives back memory, which DuckDB keeps
    unreadable: Callable[[Exception], MisfeatError]  # For what goes wrong while reading
    notes: list[Message] = field(default_factory=list)  # What users should know of how it was read


def open_path(path: str, codes: MissingCodes, texts: Names = ()) -> Relation:
    """Open a CSV, TSV or Parquet file, a folder of Parquet files, or a glob, as a relation."""
    files = matching_files(path)
    parquet = ending(files[0]) in PARQUET
    connection, close = connect(path)
    unreadable = partial(_unreadable, path=path, files=files)
    try:
        if parquet:
            relation, names, notes = _read_parquet(connection, files)
        else:
            relation, names, notes = _read_csv(files, partial(_loaded, connection, codes, texts))
    except Exception as error:
        close()
        if isinstance(error, MisfeatError):
            raise
        raise unreadable(error) from error
    return Relation(relation, names, close, unreadable, notes)


def _unreadable(error: Exception, path: str, files: list[str]) -> MisfeatError:
    """Whatever a reader says of bytes that it cannot make sense of, with the file's name."""
    reason = " ".join(str(error).split()) or type(error).__name__
    parquet = ending(files[0]) in PARQUET
    path = max((file for file in files if file in reason), key=len, default=path)
    doubts = "its ending right" if parquet else "its ending right, and its text UTF-8"
    return DamagedFileError(
        f"{path!r} cannot be read as {'Parquet' if parquet else 'CSV'}; check that the file is "
        f"whole, {doubts}. ({reason})"
    )


def _read_parquet(connection: Any, files: list[str]) -> NotedRelation:
    import pyarrow.parquet as pq

    held: list[list[str]] = []
    for file in files:
        try:
            # A file of its own: PyArrow would take a path with "://" in it for an address.
            with Path(file).open("rb") as source:
                held.append(pq.read_schema(source).names)
        except Exception as error:
            raise OSError(f"{file}: {error}") from error  # which file, PyArrow does not say
        refuse_repeats(file, held[-1])
    relation = connection.read_parquet(
        [glob.escape(file) for file in files], union_by_name=True, hive_partitioning=True
    )
    # The first file's columns come first, then what others have besides, then folders' names.
    names = (*held[0], *relation.columns[len(held[0]) :])
    refuse_repeats(files[0], names)
    return relation, names, []


def refuse_repeats(path: str, names: Sequence[str]) -> None:
    """Refuse names that DuckDB takes for the same: of several files, it would mix their columns."""
    seen: set[str] = set()
    for name in names:
        plain = name.strip().casefold()
        if plain in seen:
            raise MisfeatError(
                f"{path!r} has two columns named {name!r} (neither case nor spaces around a name "
                "count); rename one.",
                column=name,
            )
        seen.add(plain)


def _read_csv(files: list[str], load: Load) -> NotedRelation:
    """Load CSV files into a table of the connection, so that each is parsed only once."""
    for file in filter(_packed, files):
        with _opened(file, None) as packed:  # compares the checksum at its end, DuckDB does not
            while packed.read(2**20):
                pass
    try:
        return _in_some_form(files, load)
    except MisfeatError:
        raise
    except Exception:
        encodings = {file: _encoding(file) for file in files}
        if not any(encodings.values()):
            raise
    with TemporaryDirectory(prefix="misfeat-", ignore_cleanup_errors=True) as folder:
        copies: list[str] = []
        for file, encoding in encodings.items():
            copies.append(f"{folder}/{len(copies)}{ending(file)[:4]}")
            with (
                _opened(file, encoding or "utf-8-sig", newline="", errors="replace") as text,
                Path(copies[-1]).open("w", encoding="utf-8", newline="") as written,
            ):
                shutil.copyfileobj(text, written)
        try:
            native, names, notes = _in_some_form(copies, load)
        except Exception as error:
            reason = str(error)
            for file, copy in zip(files, copies, strict=True):
                reason = reason.replace(copy, file)
            kind = MisfeatError if isinstance(error, MisfeatError) else ValueError
            raise kind(reason) from None
    note = "{file!r} is not UTF-8 and is read as {way}; if letters look wrong, save it as UTF-8."
    notes += [Message(note, file=file, way=way) for file, way in encodings.items() if way]
    return native, names, notes


def _encoding(file: str) -> str | None:
    """The encoding of a text that is not UTF-8; None of UTF-8, and of what is not text."""
    with _opened(file, None) as lines:
        head = lines.read(4096)
        way = "windows-1252"
        if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
            way = "utf-32"
        elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            way = "utf-16"
        elif b"\0" in head:
            way = "utf-16-le" if head.index(b"\0") % 2 else "utf-16-be"
        if _NOT_TEXT.search(head.decode(way, errors="replace")[:1000]):
            return None
    with _opened(file, None) as lines:
        texts = (line.decode(errors="surrogateescape") for line in lines)
        letters = {letter for text in texts if not text.isascii() for letter in text}
    # Text of another encoding hardly ever has a letter of UTF-8 in it; a damaged file has many.
    beyond = {letter for letter in letters if letter > "\x7f"}
    foreign = beyond and all("\udc80" <= letter <= "\udcff" for letter in beyond)
    return way if foreign or way != "windows-1252" else None


def _in_some_form(files: list[str], load: Load) -> NotedRelation:
    """Load CSV files in the form that their header suggests, or else in another that fits."""
    form, delimiters = _form(files[0])
    if len(ways := {*map(_packed, files)}) == 1:  # DuckDB knows ".gz", but ".GZ" not always
        form["compression"] = ways.pop() or "none"
    try:
        return load(files, form)
    except MisfeatError:
        raise
    except Exception as error:
        odd = _row_that_differs(files, form)
        # Lines may end in different ways, and text may follow a quote, which DuckDB does not like.
        others: list[dict[str, Any]] = [{"strict_mode": False}] if odd is None else []
        others += [{"escapechar": "\\"}, *({"delimiter": one} for one in delimiters)]
        for other in others:
            with suppress(Exception):
                return load(files, {**form, **other})
        if odd is None:
            raise
        raise odd from error


def _loaded(
    connection: Any, codes: MissingCodes, texts: Names, files: list[str], form: dict[str, Any]
) -> NotedRelation:
    names = _names(files[0], form)
    for file in files[1:]:
        if (own := _names(file, form)) != names:
            raise MisfeatError(
                f"{file!r} has the columns {listed(own)}, but {files[0]!r} has {listed(names)}; "
                "files that are read together need the same columns in the same order."
            )
    missing = (*NULL_SPELLINGS, *(code for code in codes.everywhere if isinstance(code, str)))
    n_above = form["skiprows"]
    form = form if form["header"] else {**form, "skiprows": n_above + 1}
    if connection.execute("SELECT version() < 'v1.3.2'").fetchall()[0][0]:  # blanks do not count
        with _opened(files[0]) as lines:
            above = islice(lines, form["skiprows"])
            form = {**form, "skiprows": sum(bool(line.strip()) for line in above)}
    read = partial(
        connection.read_csv,
        [glob.escape(file) for file in files],
        sample_size=-1,
        date_format="%Y-%m-%d",
        auto_type_candidates=TYPES,
        na_values=[*dict.fromkeys(missing)],
        **form,
    )
    (names, notes), held = numbered(names), read()
    if n_above:
        notes.append(Message(ABOVE, file=files[0], n=n_above + 1))
    kept = {inner for inner, name in zip(held.columns, names, strict=True) if name in texts}
    held = read(dtype=dict.fromkeys(kept, "VARCHAR")) if kept else held
    held.create("csv_rows")
    either = _THOUSANDS if form["delimiter"] == ";" else f"{_THOUSANDS} AND {_APART}"
    asked = {"VARCHAR": _FLAGS, "DOUBLE": f"{_CODES} OR {either}", "TIMESTAMP": "true"}
    kinds = {n: str(k) for n, k in zip(held.columns, held.types, strict=True) if str(k) in asked}
    tests = ", ".join(asked[kind].format(_quoted(name)) for name, kind in kinds.items())
    (row,) = connection.execute(f"SELECT {tests or 'count(*)'} FROM csv_rows").fetchall()  # noqa: S608
    found = {name for name, yes in zip(kinds, row, strict=bool(tests)) if yes} - kept
    known = {
        n: f"regexp_matches({_quoted(n)}, '{_SURE[kinds[n]]}')" for n in found if kinds[n] in _SURE
    }
    cells = read(all_varchar=True, sample_size=2048) if known else held
    misread = {n for n, sure in known.items() if not cells.filter(sure).limit(1).fetchall()}
    if misread:
        connection.execute("DROP TABLE csv_rows")
        read(dtype=dict.fromkeys(kept | misread, "VARCHAR")).create("csv_rows")
    for name in (name for name in found if kinds[name] == "VARCHAR"):
        connection.execute(f"ALTER TABLE csv_rows ALTER {_quoted(name)} TYPE BOOLEAN")
    return connection.table("csv_rows"), names, notes


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


_FLAGS = "bool_and(lower({0}) IN ('true', 'false'))"  # All cells of a column
_CODES = "bool_and({0} = floor({0})) AND max(abs({0})) BETWEEN 2.0 ** 53 AND 1e300"
"""Whole numbers of which floats do not hold the last digit."""
_THOUSANDS = "count(*) FILTER (abs({0}) >= 1000 OR {0} <> floor({0}) AND abs({0}) < 1) = 0"
"""Where the comma may be the decimal mark, 1.041 beside 673 may be more than that."""
_APART = "avg({0}) FILTER ({0} = floor({0})) > max({0}) FILTER ({0} <> floor({0}))"
"""Where the comma separates columns, 2.333 beside 3 are thirds."""
_SURE = {"DOUBLE": r"[.](\d{0,2}|\d{4,})\s*$", "TIMESTAMP": r"^\s*\d{4}"}
"""A cell that rules these out, or that the day or the month comes first in all of a column."""


def _names(file: str, form: Mapping[str, Any]) -> tuple[str, ...]:
    """The names in the header of a file; a column without one goes by its number."""
    quote, escape = form["quotechar"], form["escapechar"]
    about = {"quotechar": quote, "escapechar": None if escape == quote else escape}
    with _opened(file, newline="") as opened:
        lines = islice(opened, form["skiprows"], None)
        try:
            header = next(filter(any, csv.reader(lines, delimiter=form["delimiter"], **about)))
        except (StopIteration, ValueError) as error:
            raise ValueError(f"{file}: {str(error) or 'it is empty'}") from error
    header = header if form["header"] else ["", *header]
    return tuple(cell.strip() or f"column{at}" for at, cell in enumerate(header))


def numbered(names: Sequence[str]) -> tuple[tuple[str, ...], list[Message]]:
    """Names of which each occurs once, as pandas numbers them, and a note on those it changed."""
    taken, new = set(names), dict[str, None]()
    for name in names:
        free = (n for at in count(1) if (n := f"{name}.{at}") not in taken and n not in new)
        new[next(free) if name in new else name] = None
    renamed = [name for name in new if name not in taken]
    text = "Columns that share a name are numbered: {names}."
    return tuple(new), [Message(text, names=listed(renamed))] if renamed else []


def _opened(file: str, encoding: str | None = "utf-8-sig", **about: Any) -> Any:
    """A file, unpacked where it is packed; its bytes where there is no encoding."""
    way = _packed(file)
    opened: Any = (gzip.open if way == "gzip" else open)(file, "rb")
    if way == "zstd":
        import pyarrow as pa

        opened = BufferedReader(pa.CompressedInputStream(opened, "zstd"))
    return opened if encoding is None else TextIOWrapper(opened, encoding, **about)


def _packed(file: str) -> str | None:
    return PACKED.get(Path(ending(file)).suffix)


def _form(file: str) -> tuple[dict[str, Any], list[str]]:
    """How DuckDB is to take a file apart: by the delimiter that its header has most of; and others.

    DuckDB looks for the form that most rows agree with: a row that differs from all others, or a
    decimal comma, leads it astray, and a doubled quote that comes late it takes for damage.
    """
    with _opened(file) as opened:
        try:
            lines = [row for row in enumerate(islice(opened, 30)) if row[1].strip()]
        except UnicodeDecodeError as error:
            raise ValueError(f"{file}: {error}") from error
    if not lines:
        raise MisfeatError(f"{file!r} is empty; it needs a line of column names, and rows.")
    # A header lies above lines that have delimiters; those of blanks would be equally many in all.
    n, blanks = sum(bool(_ABOVE.match(t)) for _, t in lines), {t.count(" ") for _, t in lines}
    is_above = n < len(lines) and (len(blanks) > 1 or blanks == {0})
    first = n if is_above and all(_ABOVE.match(line) for _, line in lines[:n]) else 0
    (n_above, header), (_, below) = (*lines, (0, ""))[first : first + 2]
    if "\0" in header:
        raise ValueError(f"{file}: its header holds a character of code 0")
    quote = "'" if re.fullmatch("'.*'", header.strip()) else '"'
    unquoted = re.sub(f"{quote}[^{quote}]*({quote}|$)", "", header)
    delimiters = sorted(filter(unquoted.count, DELIMITERS), key=unquoted.count, reverse=True)
    if ending(file).startswith((".tsv", ".tab")):
        delimiters = ["\t"]
    elif not delimiters and 0 < unquoted.count(" ") <= below.count(" "):
        delimiters = [" "]
    mark, texts = (delimiters or DELIMITERS)[0], (line for at, line in lines if at >= n_above)
    rows: list[list[str]] = [[]]
    with suppress(csv.Error):  # a cell that is too long
        rows = list(csv.reader(texts, delimiter=mark, quotechar=quote))
    form = {
        "header": not _lacks_a_name(rows),
        "skiprows": n_above,
        "delimiter": mark,
        "quotechar": quote,
        "escapechar": quote,
    }
    return form, delimiters[1:]


def _lacks_a_name(rows: list[list[str]]) -> bool:
    """Whether rows begin with names of their own, which R writes without a name in the header."""
    header, *others = rows
    if {len(row) for row in others} != {len(header) + 1}:
        return False
    return len({row[0] for row in others}) == len(others) and any(row[-1] for row in others)


def _row_that_differs(files: list[str], form: Mapping[str, Any]) -> Exception | None:
    """The first row with more or fewer cells than its header, which DuckDB may not name."""
    for file in files:
        with _opened(file, errors="replace", newline="") as opened, suppress(csv.Error):
            lines = islice(opened, form["skiprows"], None)
            about = {"delimiter": form["delimiter"], "quotechar": form["quotechar"]}
            rows = filter(None, csv.reader(lines, **about))
            n_cells, number, row = 0, 0, [""]
            for number, row in enumerate(rows, 1):
                n_cells = n_cells or len(row) + (not form["header"])
                if len(row) != n_cells - (number == 1 and not form["header"]):
                    break
            else:
                n_cells = 0  # no row differs
            later = next(rows, [""])
            if later == [""] and row[-1].count("\n") > 1:
                text = ", ".join(row)[:60]
                return ValueError(
                    f"{file}: Row #{number} opens a quote that nothing closes: {text!r}"
                )
            if n_cells:
                reason = f"Row #{number}: Expected {n_cells} columns, got {len(row)}: {row}"
                if len(row) == len(later) == 1 and all(len(other) == 1 for other in rows):
                    reason += "; it looks like a note below the table, so delete it"
                return ValueError(f"{file}: {reason}")
    return None


def matching_files(path: str) -> list[str]:
    """The files of a path: itself, those of a folder, or those that a glob pattern matches."""
    folder = Path(path)
    try:
        if folder.is_dir():
            files = sorted(str(p) for p in folder.rglob("*") if ending(p.name) in PARQUET)
            if not files:
                raise MisfeatError(
                    f"The folder {path!r} holds no Parquet file; of others name a glob, such as "
                    f"{str(folder / '*.csv')!r}."
                )
        elif folder.exists() or not glob.has_magic(path):
            files = [path] if folder.exists() else []
        else:
            files = sorted(glob.iglob(path, recursive=True))  # noqa: PTH207
    except OSError as error:
        raise unreadable(path[:200], error) from error
    if not files:
        raise MisfeatError(f"There is no file {without_secrets(path)!r}; check the path.")
    for file in files:
        if not Path(file).is_file():
            raise MisfeatError(f"{file!r} is not a plain file; copy it to one.")
        if not ending(file):
            raise MisfeatError(
                f"{file!r} is not a file that can be read; expected one that ends in "
                f"{', '.join((*_TEXT, *PARQUET, *FOREIGN))}."
            )
    if len({ending(file) in PARQUET for file in files}) > 1:
        raise MisfeatError(f"{path!r} matches both CSV and Parquet files; name one kind.")
    return files


def ending(file: str) -> str:
    """What the name of a file ends in, of what can be read; empty of all others."""
    return next((end for end in (*_TEXT, *PARQUET, *FOREIGN) if file.lower().endswith(end)), "")


def connect(path: str) -> tuple[Any, Callable[[], None]]:
    """A connection that spills to disk in time, and what closes it and removes what it left."""
    try:
        import duckdb
        import pyarrow as pa  # noqa: F401
    except ImportError as error:
        raise MisfeatError(
            f"Reading {path!r} needs DuckDB; install it with: pip install 'misfeat[duckdb]'"
        ) from error
    from joblib import effective_n_jobs

    spilled = TemporaryDirectory(prefix="misfeat-", ignore_cleanup_errors=True)
    allowed = max(LEAST_MEMORY, int(QUERIES_SHARE * allowed_memory()))
    connection = duckdb.connect(
        config={
            "memory_limit": f"{allowed // 2**20}MiB",
            "temp_directory": spilled.name,
            "threads": max(1, min(int(effective_n_jobs(-1)), allowed // MEMORY_A_THREAD)),
            # Rows of a table have no order, and keeping one takes memory.
            "preserve_insertion_order": "false",
        }
    )
    # DuckDB draws its bar on standard output, which belongs to the answer.
    connection.execute("SET enable_progress_bar = false").fetchall()

    def close() -> None:
        connection.close()
        spilled.cleanup()

    return connection, close
