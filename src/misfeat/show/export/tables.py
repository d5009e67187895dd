"""From a selection to the tables that are exported: one a question, and two about them all."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from math import comb
from typing import TYPE_CHECKING, Any

from misfeat.answers.cautions import list_cautions
from misfeat.answers.options import MOST_RESAMPLED, USUAL_PERMUTATIONS
from misfeat.answers.top import best_sets
from misfeat.cohorts.coding import CLASSES, NUMBER
from misfeat.exceptions import Message, MisfeatError, Setting
from misfeat.show.questions import QUESTIONS, About, answered, in_columns
from misfeat.show.terminal import ABOUT as ESTIMATES
from misfeat.version import __version__

if TYPE_CHECKING:
    from misfeat.selection import Selection

    Spell = Callable[[str], str]
    Columns = dict[str, list[Any]]

_GLOSSARY = tomllib.loads(
    (files("misfeat.show.export") / "glossary.toml").read_text(encoding="utf-8")
)
TITLES: dict[str, str] = _GLOSSARY["titles"]  # of tables by question, in the order of an export
ABOUT, IN_WORDS = "about", "in words"  # what the tables about all others are called
# Other questions some selections cannot answer, such as one that keeps no rows.
ALWAYS_ANSWERED = {"subgroups", "top", "worth", "plan", "cautions", "columns"}
MOST_PERMUTED = 15e9  # rows times sets times permutations, about a quarter of a minute
MOST_PAIRS = 30_000  # over all subgroups
NOTHING = "There is nothing to show."
CONVENTIONS = (
    "Features of a set stand one after the other, those with a comma or a quote in double quotes. "
    "In CSV files, text that a spreadsheet might run has an apostrophe before it. Empty cells are "
    "not known, or were not asked for."
)


@dataclass(frozen=True)
class AnswerTable:
    """The answer to a question, ready to be written."""

    question: str
    title: str
    words: str  # the question in words
    columns: Columns = field(default_factory=dict)  # empty where it cannot be answered
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
            why = Message(f"Not worked out: with so many sets it takes minutes; use {one}.")
            words = QUESTIONS[name].words
            tables[name] = AnswerTable(name, TITLES[name], words, note=spell(why))
        else:
            tables[name] = _table(plain, name, costs or {}, spell)
    return [tables[name] for name in TITLES if name in tables]


def long_questions(selection: Selection) -> set[str]:
    """Questions that were not asked yet, and would take much longer than to write the others."""
    size, n_features = selection.size, len(selection.feature_names)
    n_cohorts, n_rows = len(selection.cohorts), float(selection.cohorts.weights.sum())
    sets = sum(comb(n_features, m) for m in range(1, size + 1))
    tests = sets * n_rows * USUAL_PERMUTATIONS > MOST_PERMUTED
    long = {
        **dict.fromkeys(("answer", "significance", "enough"), tests),
        "stability": comb(n_features, size) * n_cohorts > MOST_RESAMPLED,
        "interactions": comb(n_features, 2) * n_cohorts > MOST_PAIRS,
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
        notes.append(_GLOSSARY["empty"].get(question, NOTHING))
    said = tuple(map(spell, sentences)) if answer.shown else ()
    return AnswerTable(question, title, answer.words, columns, said, " ".join(notes))


def _of_best_sets(selection: Selection, question: str) -> tuple[Columns, Sequence[str]]:
    """The answers about the best set of every subgroup, one after the other."""
    named = "features" if question == "why" else "instead_of"
    whole: Columns = {}
    sentences: list[str] = []
    for best in best_sets(selection, k=1):
        columns, words = answered(selection, question, About(best.subgroup, best.features))
        subgroups = columns["subgroup"]
        lines = {"subgroup": subgroups, named: [best.features] * len(subgroups)}
        for name, values in (lines | dict(columns) | lines).items():
            whole.setdefault(name, []).extend(values)
        sentences += [f"{best.subgroup}: {one}" for one in words]
    return whole, sentences


def with_share_bounds(selection: Selection, columns: Mapping[str, Sequence[Any]]) -> Columns:
    """The columns of an answer, beside shares of the uncertainty their intervals."""
    wholes = dict(
        zip(selection.cohorts.names, selection.set_scores.measure.whole.tolist(), strict=True)
    )
    found: Columns = {}
    for name, values in columns.items():
        found[name] = list(values)
        if name == "share" and {"subgroup", "score", "low", "high"} <= set(columns):
            for end in ("low", "high"):
                bounds = zip(columns[end], columns["subgroup"], strict=True)
                found[f"share_{end}"] = [
                    value / wholes[subgroup] if wholes[subgroup] > 0 else 0.0
                    for value, subgroup in bounds
                ]
    return found


def in_words_table(tables: Sequence[AnswerTable]) -> AnswerTable:
    """Answers in sentences, each once."""
    titles: dict[str, str] = {}
    for table in tables:
        for sentence in table.sentences:
            titles.setdefault(sentence, table.title)
    columns = {"table": list(titles.values()), "sentence": list(titles)}
    return AnswerTable("", IN_WORDS, "What is that in words?", columns, note=NOTHING)


def about_table(selection: Selection, tables: Sequence[AnswerTable]) -> AnswerTable:
    """What was asked of which table, and what every column means."""
    lines: list[tuple[str, str, Any]] = [
        *(("run", name, value) for name, value in _facts(selection).items()),
        *(("setting", name, value) for name, value in selection.options.settings.items()),
        *(("note", "", note) for note in selection.cohorts.notes),
        *(("table", one.title, f"{one.words} {one.note}".strip()) for one in tables),
        ("reading", "", CONVENTIONS),
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
