"""Answers as Markdown in the manner of GitHub, for papers and notes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from misfeat.show.console import BETWEEN, UNKNOWN, TableColumn, in_unit, text
from misfeat.show.export.formats import legal_text
from misfeat.show.questions import QUESTIONS, lines_of
from misfeat.show.terminal import STAR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from misfeat.selection import Selection
    from misfeat.show.export.tables import AnswerTable

_MARKUP = re.compile(
    r"([\\`*\[\]|~$^@]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # within a word it is a letter
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)"
    r"|(?<=\w):(?=//)|(?<=www)\.)"
)
"""What Markdown takes for more than text, the start of a link included."""
SHARES = "In per cent of what there is to tell about the target in the subgroup."


def markdown_bytes(
    selection: Selection, tables: Sequence[AnswerTable], sentences: Sequence[str]
) -> bytes:
    """The answers under a heading each: in words, and as the table that a terminal shows."""
    target = escaped(selection.cohorts.target)
    blocks = [f"# What tells most about {target}", *_listed(sentences)]
    for table in tables:
        words = [escaped(f"{table.words} {table.note}".strip()), *_listed(table.sentences)]
        blocks += [f"## {table.title}", *words, *_table(selection, table)]
    return ("\n\n".join(blocks) + "\n").encode()


def _listed(sentences: Sequence[str]) -> list[str]:
    return ["\n".join(f"- {escaped(one)}" for one in sentences)] if sentences else []


def _table(selection: Selection, table: AnswerTable) -> Iterator[str]:
    """The table of an answer, and what stands under it; nothing where it has no lines."""
    lines = lines_of(selection, table.columns)
    if not lines:
        return
    answer = QUESTIONS[table.question]
    shown = in_unit(answer.shown, selection.set_scores.measure.unit)
    if not shown:  # cautions, which a terminal has in sentences only
        shown = [text(name) for name in ("kind", "severity", "sentence", "remedy")]
    elif answer.by_subgroup:
        shown = [text("subgroup"), *shown]
    told = [one for one in shown if {one.text(line) for line in lines} - {"", UNKNOWN}]
    columns: list[TableColumn] = []
    for one in told:
        if one.title == BETWEEN and columns:
            columns[-1] = _with_interval(columns[-1], one)
        else:
            columns.append(one)
    rows = [
        [escaped(one.title) for one in columns],
        ["---:" if one.number else "---" for one in columns],
        *([escaped(one.text(line)) for one in columns] for line in lines),
    ]
    yield "\n".join(f"| {' | '.join(row)} |" for row in rows)
    if any(line[one.starred] for one in columns if one.starred for line in lines):
        yield STAR
    if table.question in ("top", "enough", "features", "alternatives", "interactions", "worth"):
        yield SHARES


def _with_interval(value: TableColumn, interval: TableColumn) -> TableColumn:
    """A column with every interval in brackets behind what it is about."""

    def both(line: dict[str, Any]) -> str:
        between = interval.text(line)
        return f"{value.text(line)} ({between})" if between else value.text(line)

    return replace(value, text=both)


def escaped(text: str) -> str:
    """Text on one line in which Markdown finds no markup, for a cell of a table."""
    return _MARKUP.sub(r"\\\1", legal_text(text))
