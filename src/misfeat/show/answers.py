"""Answers to the questions, for a terminal: a table, a sentence, or JSON lines for programs."""

from __future__ import annotations

import json
import math
from copy import copy
from dataclasses import asdict, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

from misfeat.answers.top import best_sets, subgroup_rows
from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.information.grids import target_entropies
from misfeat.reading.inputs import AS_COLUMNS
from misfeat.show.answer_columns import (
    UNRECORDED,
    WHOLE,
    Shown,
    fitting_table,
    in_unit,
)
from misfeat.show.console import new_console, plain_text
from misfeat.show.first_screen import first_screen
from misfeat.show.questions import QUESTIONS, About, Answer
from misfeat.show.terminal import STAR, worth_rows
from misfeat.visible import visible, visible_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.console import Console

    from misfeat.selection import Selection
    from misfeat.show.first_screen import FirstScreen

    Columns = Mapping[str, Sequence[Any]]

MOST_LINES = 10
"""Lines of each subgroup, where there are several; one subgroup is shown whole."""
ANSWER_COLUMNS = ("subgroup", "rows", "verdict", "features", "share", "low", "high", "p_value")


def answered(selection: Selection, question: str, about: About) -> tuple[Columns, Sequence[str]]:
    """The answer to a question as columns, and in words where it has some."""
    answer = _checked(question, about)
    plain = in_columns(selection)
    if about.subgroup is not None:
        about = replace(about, subgroup=selection.cohorts.full_name(about.subgroup))
    return answer.columns(plain, about), answer.sentences(plain, about)


def in_columns(selection: Selection, **asked: Any) -> Selection:
    """The same selection, which answers in plain columns; it stays the same one where it does.

    `asked` is what else is asked for than at fit, such as another `k`.
    """
    if not asked and selection.options.backend == AS_COLUMNS:
        return selection
    plain = copy(selection)
    plain.options = replace(selection.options, backend=AS_COLUMNS, **asked)
    return plain


def lines_of(selection: Selection, columns: Columns) -> list[dict[str, Any]]:
    """The lines of an answer by column, with what there is to tell in the subgroup of each."""
    measure = selection.set_scores.measure
    wholes = dict(zip(selection.cohorts.names, measure.whole.tolist(), strict=True))
    lines = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    features, lacks = measure.features, measure.missing
    missing = {
        name: tuple(compress(features, lacking))
        for name, lacking in zip(wholes, lacks, strict=True)
    }
    return [
        {
            **line,
            WHOLE: wholes.get(line.get("subgroup", "")),
            UNRECORDED: missing.get(line.get("subgroup", ""), ()),
        }
        for line in lines
    ]


def _checked(question: str, about: About) -> Answer:
    """The answer to a question; an error where it is none, or something is missing or too much."""
    if question not in QUESTIONS:
        raise MisfeatError(
            "{question!r} is no question; ask for {names}.",
            question=question,
            names=listed(list(QUESTIONS), len(QUESTIONS)),
        )
    answer = QUESTIONS[question]
    if answer.of_a_set and (about.subgroup is None or not about.features):
        raise MisfeatError(
            "{question!r} is about one set; name it with {subgroup} and {feature}.",
            question=question,
            subgroup=Setting("subgroup"),
            feature=Setting("feature"),
        )
    for name in ("subgroup", "features", "size"):
        if getattr(about, name) and name not in answer.takes:
            raise MisfeatError(
                "{question!r} takes no {name}; leave it out.",
                question=question,
                name=Setting(name.removesuffix("s")),
            )
    return answer


def print_answer(
    selection: Selection,
    question: str,
    about: About,
    console: Console | None = None,
    spell: Callable[[str], str] = str,
) -> None:
    """Print the answer to a question: what it says in words, then its tables."""
    columns, sentences = answered(selection, question, about)
    console = console or new_console()
    console.print(plain_text(QUESTIONS[question].words, style="bold"))
    for sentence in sentences:
        console.print(visible(spell(sentence)), highlight=False, markup=False)
    lines = lines_of(selection, columns)
    if not lines:
        console.print(plain_text(_why_nothing(selection, about), style="dim"))
        return
    answer, measure = QUESTIONS[question], selection.set_scores.measure
    if not answer.shown:
        return
    shown = in_unit(answer.shown, measure.unit)
    if answer.by_subgroup:
        _print_subgroups(console, lines, shown)
    else:
        console.print(fitting_table(lines, shown, console))
    if any(line[one.starred] for one in shown if one.starred for line in lines):
        console.print(STAR, style="dim")


def _why_nothing(selection: Selection, about: About) -> str:
    """That there is nothing to show, and why where the target never varies."""
    cohorts = selection.cohorts
    told = dict(zip(cohorts.names, target_entropies(cohorts), strict=True))
    names = selection.subgroup_names(about.subgroup)
    if any(told[name] for name in names):
        return "There is nothing to show."
    place = repr(names[0]) if len(names) == 1 else "every subgroup"
    return f"There is nothing to show: {cohorts.target!r} has a single value in {place}."


def _print_subgroups(
    console: Console, lines: Sequence[dict[str, Any]], shown: Sequence[Shown]
) -> None:
    """A table for every subgroup; of several, the first lines of each."""
    subgroups: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        subgroups.setdefault(line["subgroup"], []).append(line)
    most = len(lines) if len(subgroups) == 1 else MOST_LINES
    for name, own in subgroups.items():
        console.print(plain_text(name, style="bold"))
        console.print(fitting_table(own[:most], shown, console))
        if len(own) > most:
            more = f"{len(own) - most:,} more; ask about this subgroup to see all."
            console.print(more, style="dim", highlight=False)


def json_answer(selection: Selection, question: str, about: About) -> Iterator[str]:
    """The answer as lines of JSON, one a line of its table, each with the question."""
    columns, sentences = answered(selection, question, about)
    for line in zip(*columns.values(), strict=True):
        yield as_json(question, dict(zip(columns, line, strict=True)), "question")
    if QUESTIONS[question].shown:
        for sentence in sentences:
            yield as_json(question, {"sentence": sentence}, "question")


def json_lines(
    selection: Selection,
    worths: Sequence[Mapping[str, Any]] | None = None,
    screen: FirstScreen | None = None,
    spell: Callable[[str], str] = str,
) -> Iterator[str]:
    """The answer as lines of JSON, each with its ``"kind"``.

    One line a subgroup (``"subgroup"``), one a feature set (``"set"``), one a feature that some
    subgroup would gain by recording (``"worth"``), what `validate` found (``"validation"``), and
    the sentences: one for the whole table, whose ``"subgroup"`` is null, and one a subgroup
    (``"answer"``).

    `worths` and `screen` are asked for where they are not at hand already.
    """
    for line in subgroup_rows(selection.cohorts):
        yield as_json("subgroup", line)
    for best in best_sets(selection):
        yield as_json("set", asdict(best))
    for worth in worth_rows(selection) if worths is None else worths:
        yield as_json("worth", worth)
    if selection.validation is not None:
        yield as_json("validation", {"text": selection.validation})
    yield from _answers(first_screen(selection) if screen is None else screen, spell)


def _answers(screen: FirstScreen, spell: Callable[[str], str]) -> Iterator[str]:
    yield as_json("answer", {"subgroup": None, "sentence": spell(screen.whole)})
    for one in screen.subgroups:
        held = {name: getattr(one, name) for name in ANSWER_COLUMNS}
        yield as_json("answer", {**held, "sentence": spell(one.sentence)})


def as_json(kind: str, line: Mapping[str, Any], name: str = "kind") -> str:
    """A line of an answer as JSON, with its kind; what is not a number is null."""
    plain = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in line.items()
    }
    return visible_json(json.dumps({name: kind, **plain}, ensure_ascii=False))
