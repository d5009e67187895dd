"""All answers in a file or a folder for other programs, in the format that its name asks for."""

import csv
import io
import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import islice
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.selection_base import checked_k, checked_size, level_size
from misfeat.answers.subgroup_significance import effort_for
from misfeat.answers.top_sets import best_sets
from misfeat.cohorts.target_coding import CLASSES, NUMBER
from misfeat.exceptions import MisfeatError, warn
from misfeat.messages import Message, Setting, listed, visible
from misfeat.runtime import file_system
from misfeat.selection import Selection
from misfeat.show.question_output import QUESTIONS, About, QuestionSpec, answered, in_columns
from misfeat.show.terminal import ABOUT as ESTIMATES
from misfeat.show.terminal import Spell, in_a_row
from misfeat.version import __version__

ColumnData = dict[str, list[Any]]
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
    spell: Spell = str,
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
    place = file_system.as_path(path, "path")
    with file_system.refusals_told(place, "written"):
        suffix = _checked_format(path, place, asked)
    size, k = checked_size(selection, size), checked_k(selection, k)
    selection = in_columns(selection, size=int(size), k=int(k))
    answers = answer_tables(selection, asked, costs, spell, named=questions is not None)
    if suffix == CSV:
        file_system.write_file(place, csv_bytes(answers[0]))
    else:
        answers = [about_table(selection, answers), in_words_table(answers), *answers]
        if suffix == EXCEL:
            file_system.write_file(place, workbook_bytes(answers))
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
    return set(map(_file, (ABOUT, IN_WORDS, *TITLES.values())))


def _file(title: str) -> str:
    return f"{title.replace(' ', '_')}{CSV}"


def _write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files of a folder, all or none; those of an older export that it lacks go."""
    with file_system.refusals_told(folder, "written"):
        folder.mkdir(parents=True, exist_ok=True)
        file_system.write_files(folder, contents)
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


def csv_bytes(table: "AnswerTable") -> bytes:
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


def workbook_bytes(tables: "Sequence[AnswerTable]") -> bytes:
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


def _add_sheet(sheet: Any, table: "AnswerTable") -> None:
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


_GLOSSARY = tomllib.loads(Path(__file__).with_name("export.toml").read_text(encoding="utf-8"))
TITLES: dict[str, str] = _GLOSSARY["titles"]  # of tables by question, in the order of an export
ABOUT, IN_WORDS = "about", "in words"  # what the tables about all others are called
# Other questions some selections cannot answer, such as one that keeps no rows.
ALWAYS_ANSWERED = {"subgroups", "top", "worth", "plan", "cautions", "columns"}
MOST_PAIRS = 30_000  # over all subgroups
MOST_PATHS = 1_000  # features times subgroups


@dataclass(frozen=True)
class AnswerTable:
    """The answer to a question, ready to be written."""

    question: str
    title: str
    words: str  # the question in words
    columns: ColumnData = field(default_factory=dict)  # empty where it cannot be answered
    sentences: tuple[str, ...] = ()
    note: str = ""  # why there is no answer, or whom it leaves out

    @property
    def rows(self) -> int:
        """How many lines it has."""
        return len(next(iter(self.columns.values()), ()))


def answer_tables(
    selection: Selection,
    questions: Sequence[str],
    costs: Mapping[str, float] | None = None,
    spell: Spell = str,
    *,
    named: bool = True,
) -> list[AnswerTable]:
    """The tables of questions, in the order of `TITLES`; what takes long has to be `named`."""
    plain = in_columns(selection)
    longest = () if named else long_questions(plain)
    # Significance first: afterwards every set has its p-value.
    ordered = sorted(questions, key="significance".__ne__)
    tables = {}
    for name in ordered:
        if name in longest:
            one = Setting("questions", [name])
            why = Message(f"Not worked out: with so many rows or sets it takes minutes; use {one}.")
            words = QUESTIONS[name].words
            tables[name] = AnswerTable(name, TITLES[name], words, note=spell(why))
        else:
            tables[name] = _table(plain, name, costs or {}, spell)
    return [tables[name] for name in TITLES if name in tables]


def long_questions(selection: Selection) -> set[str]:
    """Questions that were not asked yet, and would take much longer than to write the others."""
    if selection.set_scores.rows_withheld:
        return set()  # what they cannot answer they say
    effort = effort_for(selection, level_size(selection, None))
    pairs = comb(len(selection.feature_names), 2) * len(selection.cohorts)
    long = {
        "significance": not effort.tested,
        "stability": not effort.resampled,
        "interactions": pairs > MOST_PAIRS,
        "path": len(selection.feature_names) * len(selection.cohorts) > MOST_PATHS,
    }
    asked = {question[0] for question in selection._answers}
    return {name for name, is_long in long.items() if is_long} - asked


def _table(
    selection: Selection, question: str, costs: Mapping[str, float], spell: Spell
) -> AnswerTable:
    """The answer to a question; where there is none, a table that says so."""
    answer, title = QUESTIONS[question], TITLES[question]
    try:
        if answer.of_a_set:
            columns, sentences = _of_best_sets(selection, question)
        else:
            given, sentences = answered(selection, question, About(costs=costs))
            columns = with_share_bounds(selection, given)
    except MisfeatError as error:
        if question in ALWAYS_ANSWERED:
            raise
        return AnswerTable(question, title, answer.words, note=spell(error.message))
    if question == "cautions":
        for name in ("sentence", "remedy"):
            columns[name] = [spell(getattr(one, name)) for one in list_cautions(selection)]
    notes = []
    if question == "top" or answer.of_a_set:
        ranked = {best.subgroup for best in best_sets(selection, k=1)}
        why = "the target has a single value there, and there is nothing to explain"
        without = [name for name in selection.cohorts.names if name not in ranked]
        notes = [f"No set of {name!r}: {why}." for name in without]
    if not any(map(len, columns.values())):
        notes.append(answer.empty)
    said = tuple(map(spell, sentences)) if answer.shown else ()
    return AnswerTable(question, title, answer.words, columns, said, " ".join(notes))


def _of_best_sets(selection: Selection, question: str) -> tuple[ColumnData, Sequence[str]]:
    """The answers about the best set of every subgroup, one after the other."""
    named = "features" if question == "why" else "instead_of"
    whole: ColumnData = {}
    sentences: list[str] = []
    for best in best_sets(selection, k=1):
        columns, words = answered(selection, question, About(best.subgroup, best.features))
        subgroups = columns["subgroup"]
        lines = {"subgroup": subgroups, named: [best.features] * len(subgroups)}
        for name, values in (lines | dict(columns) | lines).items():
            whole.setdefault(name, []).extend(values)
        sentences += [f"{best.subgroup}: {one}" for one in words]
    return whole, sentences


def with_share_bounds(selection: Selection, columns: Mapping[str, Sequence[Any]]) -> ColumnData:
    """The columns of an answer, beside shares of the uncertainty their intervals."""
    names, whole = selection.cohorts.names, selection.set_scores.measure.whole
    wholes = dict(zip(names, whole.tolist(), strict=True))
    found: ColumnData = {}
    for name, values in columns.items():
        found[name] = list(values)
        if name == "share" and {"subgroup", "score", "low", "high"} <= set(columns):
            own = [wholes[subgroup] for subgroup in columns["subgroup"]]
            for end in ("low", "high"):
                ends = zip(columns[end], own, strict=True)
                found[f"share_{end}"] = [value / of if of > 0 else 0.0 for value, of in ends]
    return found


def in_words_table(tables: Sequence[AnswerTable]) -> AnswerTable:
    """Answers in sentences, each once."""
    titles: dict[str, str] = {}
    for table in tables:
        for sentence in table.sentences:
            titles.setdefault(sentence, table.title)
    columns = {"table": list(titles.values()), "sentence": list(titles)}
    return AnswerTable("", IN_WORDS, "What is that in words?", columns, note=QuestionSpec.empty)


def about_table(selection: Selection, tables: Sequence[AnswerTable]) -> AnswerTable:
    """What was asked of which table, and what every column means."""
    lines: list[tuple[str, str, Any]] = [
        *(("run", name, value) for name, value in _facts(selection).items()),
        *(("setting", name, value) for name, value in selection.options.settings.items()),
        *(("note", "", note) for note in selection.cohorts.notes),
        *(("table", one.title, f"{one.words} {one.note}".strip()) for one in tables),
        ("reading", "", _GLOSSARY["conventions"]),
    ]
    lines += [
        (f"column of {one.title}", name, meaning_of(one.question, name))
        for one in tables
        for name in one.columns
    ]
    values = map(list, zip(*lines, strict=True))
    columns = dict(zip(("about", "name", "value"), values, strict=True))
    return AnswerTable("", ABOUT, "What is this?", columns)


def meaning_of(question: str, column: str) -> str:
    """What a column of the answer to a question means; empty where nobody wrote it down."""
    known = _GLOSSARY.get(question, {}).get(column) or _GLOSSARY["everywhere"].get(column)
    if known is None and column.endswith(("low", "high")):
        return f"{'Lower' if column.endswith('low') else 'Upper'} end of the interval."
    return known or ""


def _facts(selection: Selection) -> dict[str, Any]:
    cohorts, measure = selection.cohorts, selection.set_scores.measure
    kind = NUMBER if cohorts.is_number or measure.name == "r2" else CLASSES
    if cohorts.is_number:
        kind += f": scores are means over {len(cohorts.grids)} grids, classes those of the first"
    if cohorts.horizons:
        by = ", ".join(map(str, cohorts.horizons))
        kind = f"time to an event: scores are means over whether it happened by {by}"
    facts: dict[str, Any] = {
        "target": cohorts.target,
        "target taken as": kind,
        "classes of the target": tuple(cohorts.classes),
        "rows": int(cohorts.weights.sum()),
        "subgroups": len(cohorts),
        "features": len(selection.feature_names),
        "features per set": selection.size,
        "sets per subgroup": selection.k,
        "scores": f"{measure.words} with the target{ESTIMATES[selection.set_scores.estimate.name]}",
        "unit of scores": measure.unit,
        "coverage of intervals": selection.confidence,
        "misfeat": __version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if cohorts.effective is not None:
        facts["effective rows (of equal weight)"] = round(float(cohorts.effective.sum()))
    return facts
