"""From a selection to the tables that are exported: one a question, and one about them all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from misfeat.answers.cautions import list_cautions
from misfeat.answers.top import best_sets
from misfeat.cohorts.coding import CLASSES, NUMBER
from misfeat.exceptions import MisfeatError
from misfeat.show.answers import answered, in_columns
from misfeat.show.export.glossary import TEXT, Column, column_of
from misfeat.show.first_screen import first_screen
from misfeat.show.questions import QUESTIONS, About
from misfeat.show.terminal import ABOUT as ESTIMATES
from misfeat.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from misfeat.selection import Selection

    Spell = Callable[[str], str]
    Answers = dict[str, list[Any]]

TITLES = {
    "subgroups": "subgroups",
    "top": "best sets",
    "features": "features",
    "enough": "enough",
    "significance": "significance",
    "stability": "stability",
    "worth": "worth collecting",
    "alternatives": "alternatives",
    "why": "why",
    "interactions": "interactions",
    "cautions": "cautions",
    "columns": "columns",
}
"""What the table of a question is called, in the order in which they are exported."""
ABOUT, IN_WORDS = "about", "in words"
"""What the tables about all others are called."""
MAY_BE_REFUSED = {
    "features",
    "enough",
    "significance",
    "stability",
    "alternatives",
    "why",
    "interactions",
}
"""Questions that some selections cannot answer, such as one that keeps no rows."""
SINGLE_CLASS = "the target has a single value there, and nothing can tell about it"
NOTHING = "There is nothing to show."
_NOTHING_IN = {
    "alternatives": "Every other set of the size can be told from the best one.",
    "cautions": "Nothing was found that may mislead.",
    "interactions": "There are no two features to compare.",
    "worth": "Every subgroup recorded every feature: there is nothing to collect.",
}
_CONVENTIONS = {
    "sets": "Features of a set stand one after the other: a, b, c. A name that holds a comma, a "
    "quote or a blank at an end stands in double quotes, and quotes in it are doubled.",
    "text": "Characters that do not print are spelled as Python spells them, such as \\n. In CSV "
    "files, text that a spreadsheet might run as a formula has an apostrophe before it.",
    "empty cells": "Not known, or not asked.",
}


@dataclass(frozen=True)
class AnswerTable:
    """The answer to a question, ready to be written."""

    title: str
    words: str
    columns: tuple[Column, ...] = ()
    """What its columns hold; none where the question cannot be answered."""
    values: tuple[Sequence[Any], ...] = ()
    """The values of every column."""
    sentences: tuple[str, ...] = ()
    """The same in words, where there are some."""
    note: str = ""
    """What a reader should know: why there is no answer, or whom it leaves out."""

    @property
    def rows(self) -> int:
        """How many lines it has."""
        return len(self.values[0]) if self.values else 0

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """Its lines, one after the other."""
        return zip(*self.values, strict=True)


def answer_tables(
    selection: Selection,
    questions: Sequence[str],
    costs: Mapping[str, float] | None = None,
    spell: Spell = str,
) -> list[AnswerTable]:
    """The tables of questions, in the order of `TITLES`."""
    asking = Asking(in_columns(selection), costs or {}, spell)
    # Significance first: afterwards every set has its p-value.
    found = {name: asking.table(name) for name in sorted(questions, key="significance".__ne__)}
    return [found[name] for name in TITLES if name in found]


class Asking:
    """Asks a selection one question after the other."""

    def __init__(self, selection: Selection, costs: Mapping[str, float], spell: Spell) -> None:
        self._selection, self._costs, self._spell = selection, costs, spell

    def table(self, question: str) -> AnswerTable:
        """The answer to a question; where there is none, a table that says so."""
        title, words = TITLES[question], QUESTIONS[question].words
        try:
            columns, sentences, notes = self._answer(question)
        except MisfeatError as error:
            if question not in MAY_BE_REFUSED:
                raise
            return AnswerTable(title, words, note=self._spell(error.message))
        names = list(columns)
        if not columns or not columns[names[0]]:
            notes = [*notes, _NOTHING_IN.get(question, NOTHING)]
        return AnswerTable(
            title,
            words,
            tuple(column_of(question, name, columns[name]) for name in names),
            tuple(columns.values()),
            tuple(map(self._spell, sentences)) if QUESTIONS[question].shown else (),
            " ".join(notes),
        )

    def _answer(self, question: str) -> tuple[Answers, Sequence[str], list[str]]:
        if QUESTIONS[question].of_a_set:
            return self._of_best_sets(question)
        costs = self._costs if question == "worth" else {}
        columns, sentences = answered(self._selection, question, About(costs=costs))
        columns = with_share_bounds(self._selection, columns)
        if question == "cautions":
            columns |= self._spelled_cautions()
        notes = self._without_a_set() if question == "top" else []
        return columns, sentences, notes

    def _of_best_sets(self, question: str) -> tuple[Answers, Sequence[str], list[str]]:
        """The answers about the best set of every subgroup, one after the other."""
        named = "features" if question == "why" else "instead_of"
        whole: Answers = {}
        sentences: list[str] = []
        for best in best_sets(self._selection, k=1):
            asked = About(best.subgroup, best.features)
            columns, told = answered(self._selection, question, asked)
            rows = len(columns["subgroup"])
            lines = {
                "subgroup": columns["subgroup"],
                named: [best.features] * rows,
                **{name: values for name, values in columns.items() if name != "subgroup"},
            }
            for name, values in lines.items():
                whole.setdefault(name, []).extend(values)
            sentences += [f"{best.subgroup}: {one}" for one in told]
        return whole, sentences, self._without_a_set()

    def _without_a_set(self) -> list[str]:
        """Subgroups that have no best set, and why."""
        told = {best.subgroup for best in best_sets(self._selection, k=1)}
        names = self._selection.cohorts.names
        return [f"No set of {name!r}: {SINGLE_CLASS}." for name in names if name not in told]

    def _spelled_cautions(self) -> Answers:
        found = list_cautions(self._selection)
        return {
            name: [self._spell(getattr(one, name)) for one in found]
            for name in ("sentence", "remedy")
        }


def with_share_bounds(selection: Selection, columns: Mapping[str, Sequence[Any]]) -> Answers:
    """The columns of an answer, beside shares of what there is to tell their intervals."""
    found: Answers = {}
    for name, values in columns.items():
        found[name] = list(values)
        if name == "share" and {"subgroup", "score", "low", "high"} <= set(columns):
            wholes = _wholes(selection, columns["subgroup"])
            for end in ("low", "high"):
                found[f"share_{end}"] = [
                    value / whole if whole > 0 else 0.0
                    for value, whole in zip(columns[end], wholes, strict=True)
                ]
    return found


def _wholes(selection: Selection, subgroups: Sequence[str]) -> list[float]:
    """What there is to tell in each subgroup."""
    whole = dict(zip(selection.cohorts.names, selection.set_scores.measure.whole, strict=True))
    return [float(whole[name]) for name in subgroups]


def in_words_table(selection: Selection, tables: Sequence[AnswerTable]) -> AnswerTable:
    """Answers in sentences, those of the first screen first where all of it was asked."""
    lines = [("answer", sentence) for sentence in _first_sentences(selection, tables)]
    lines += [(table.title, sentence) for table in tables for sentence in table.sentences]
    columns = (
        Column("table", TEXT, "The table that it is about."),
        Column("sentence", TEXT, "The answer in words."),
    )
    return _of_lines(IN_WORDS, "What is that in words?", columns, lines)


def _first_sentences(selection: Selection, tables: Sequence[AnswerTable]) -> Iterator[str]:
    """Those of the first screen, where what they rest on is exported, too."""
    if not {TITLES["enough"], TITLES["significance"]} <= {table.title for table in tables}:
        return
    screen = first_screen(selection)
    yield from (one.words for one in screen.overturning)
    yield screen.whole
    if len(screen.subgroups) > 1:
        yield from (one.sentence for one in screen.subgroups)
    yield from screen.collecting


def about_table(selection: Selection, tables: Sequence[AnswerTable]) -> AnswerTable:
    """What was asked of which table, and what every column means."""
    columns = (
        Column("about", TEXT, "What the line is about."),
        Column("name", TEXT, "What it explains."),
        Column("value", TEXT, "What it is."),
    )
    lines = [("run", name, value) for name, value in _facts(selection).items()]
    lines += [("setting", name, value) for name, value in selection.options.settings.items()]
    lines += [("note", "", note) for note in selection.cohorts.notes]
    lines += [("table", one.title, f"{one.words} {one.note}".strip()) for one in tables]
    lines += [("reading", name, value) for name, value in _CONVENTIONS.items()]
    lines += [
        (f"column of {one.title}", column.name, column.meaning)
        for one in tables
        for column in one.columns
    ]
    return _of_lines(ABOUT, "What is this?", columns, lines)


def _facts(selection: Selection) -> dict[str, Any]:
    cohorts, measure = selection.cohorts, selection.set_scores.measure
    scores = f"{measure.words} with the target{ESTIMATES[selection.set_scores.estimate.name]}"
    facts: dict[str, Any] = {
        "target": cohorts.target,
        "target taken as": _kind_of_target(selection),
        "classes of the target": tuple(cohorts.classes),
        "rows": int(cohorts.weights.sum()),
        "subgroups": len(cohorts),
        "features": len(selection.feature_names),
        "features per set": selection.size,
        "sets per subgroup": selection.k,
        "scores": scores,
        "unit of scores": measure.unit,
        "coverage of intervals": selection.confidence,
        "misfeat": __version__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if cohorts.effective is not None:
        facts["rows of equal weight that tell as much"] = round(float(cohorts.effective.sum()))
    return facts


def _kind_of_target(selection: Selection) -> str:
    """What the target was taken for."""
    cohorts = selection.cohorts
    if not cohorts.is_number:
        return NUMBER if selection.set_scores.measure.name == "r2" else CLASSES
    return f"{NUMBER}: scores are means over {len(cohorts.grids)} grids, classes those of the first"


def _of_lines(
    title: str, words: str, columns: tuple[Column, ...], lines: Sequence[tuple[Any, ...]]
) -> AnswerTable:
    values = tuple([line[place] for line in lines] for place in range(len(columns)))
    return AnswerTable(title, words, columns, values, note="" if lines else NOTHING)
