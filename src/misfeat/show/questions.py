"""The questions that a saved run answers, and their answers as tables, sentences or JSON lines."""

from __future__ import annotations

import json
import math
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from misfeat.answers.cautions import list_cautions
from misfeat.answers.enough_features import enough_features
from misfeat.answers.stability import stability_of
from misfeat.answers.top import best_sets, subgroup_rows
from misfeat.answers.why import explanation
from misfeat.exceptions import Message, MisfeatError, Setting, listed
from misfeat.information.mutual_info import target_entropies
from misfeat.reading.inputs import AS_COLUMNS
from misfeat.safe_text import visible, visible_json
from misfeat.show.console import (
    UNRECORDED,
    TableColumn,
    count,
    fitting_table,
    flag,
    in_unit,
    names,
    new_console,
    number,
    p_value,
    per_cent,
    per_cent_between,
    plain_text,
    score,
    score_share,
    score_share_interval,
    text,
)
from misfeat.show.first_screen import first_screen
from misfeat.show.terminal import STAR, WORTH, with_wholes, worth_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.console import Console

    from misfeat.selection import Selection
    from misfeat.show.first_screen import FirstScreen

    Columns = Mapping[str, Sequence[Any]]
    Line = dict[str, Any]

MOST_LINES = 10
"""Lines of each subgroup, where there are several; one subgroup is shown whole."""
ANSWER_COLUMNS = ("subgroup", "rows", "verdict", "features", "share", "low", "high", "p_value")
COLUMN_NOTES = (
    "column", "role", "treatment", "categories", "missing", "looks_like", "taken_for", "example",
)  # fmt: skip
"""What is told of every column of the table."""
INTERVAL = ("low", "high")


@dataclass(frozen=True)
class About:
    """What a question is about."""

    subgroup: str | None = None
    features: tuple[str, ...] = ()
    size: int | None = None
    costs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class QuestionSpec:
    """A question, and how it is answered."""

    words: str
    columns: Callable[[Selection, About], Columns]
    shown: tuple[TableColumn, ...] = ()  # that a terminal shows; JSON has all columns
    sentences: Callable[[Selection, About], Sequence[str]] = lambda selection, about: ()  # noqa: ARG005
    of_a_set: bool = False  # whether it needs a subgroup and a set
    takes: tuple[str, ...] = ("subgroup", "size")  # what else of `About` it looks at
    by_subgroup: bool = True  # whether every subgroup has a table of its own


def _column_notes(selection: Selection, about: About) -> Columns:  # noqa: ARG001
    audits = selection.cohorts.columns
    return {name: [getattr(one, name) for one in audits] for name in COLUMN_NOTES}


QUESTIONS: dict[str, QuestionSpec] = {
    "top": QuestionSpec(
        "Which sets tell most?",
        lambda found, about: found.top_k(about.size, None, about.subgroup),
        (
            count("rank"),
            names("features", missing="missing"),
            score_share("score", "tells", *INTERVAL),
            score_share_interval(spare=1),
            p_value("p_value"),
            text("source", spare=2),
            score("score", *INTERVAL, spare=3),
        ),
    ),
    "significance": QuestionSpec(
        "Does any set tell more than chance?",
        lambda found, about: found.significance(about.size),
        (
            text("subgroup"),
            p_value("p_value", spare=1),
            p_value("adjusted", "adjusted"),
            flag("more_than_chance", "more than chance"),
            names("features", "clearest set", spare=2),
            count("sets", spare=3),
            count("permutations", "deals", spare=4),
        ),
        takes=("size",),
        by_subgroup=False,
    ),
    "enough": QuestionSpec(
        "How many features are enough?",
        lambda found, about: found.enough(about.subgroup, about.size),
        (
            count("size"),
            names("features", "best set"),
            score_share("score", "tells", *INTERVAL),
            score_share_interval(spare=2),
            score_share("adds", spare=1),
            p_value("p_value"),
            flag("enough"),
            score("score", *INTERVAL, spare=3),
        ),
        lambda found, about: [
            one.sentence for one in enough_features(found, about.subgroup, about.size)
        ],
    ),
    "why": QuestionSpec(
        "Why does this set tell?",
        lambda found, about: found.why(str(about.subgroup), about.features),
        (
            text("cell"),
            count("rows"),
            text("class"),
            per_cent("share"),
            per_cent_between(spare=3),
            per_cent("overall", spare=2),
            number("lift", "{:.2f}", spare=1),
            score_share("contribution", "adds", spare=4),
            text("source", spare=5),
        ),
        lambda found, about: explanation(found, str(about.subgroup), about.features).sentences(),
        of_a_set=True,
        takes=("subgroup", "features"),
    ),
    "features": QuestionSpec(
        "What is every feature worth?",
        lambda found, about: found.features(about.subgroup, about.size),
        (
            text("feature"),
            score_share("alone"),
            score_share("adds", "adds", "adds_low", "adds_high"),
            score_share_interval("adds_low", "adds_high", spare=4),
            score_share("share_of_best", "share of best", spare=1),
            score_share("mean_share", "mean share", "mean_share_low", "mean_share_high"),
            score_share_interval("mean_share_low", "mean_share_high", spare=5),
            per_cent("in_best", "in best", spare=2),
            text("source", spare=3),
            score("mean_share", "mean_share_low", "mean_share_high", spare=6),
        ),
    ),
    "alternatives": QuestionSpec(
        "Which sets tell the same?",
        lambda found, about: found.alternatives(str(about.subgroup), about.features),
        (
            text("words", "swap"),
            names("features", "set", spare=1),
            score_share("score", "tells"),
            score_share("difference", "difference", "difference_low", "difference_high"),
            score_share_interval("difference_low", "difference_high", spare=2),
            text("source", spare=3),
            score("score", spare=4),
        ),
        of_a_set=True,
        takes=("subgroup", "features"),
    ),
    "interactions": QuestionSpec(
        "Which features tell more, or less, together than each by itself?",
        lambda found, about: found.interactions(about.subgroup),
        (
            text("feature"),
            text("other"),
            score_share("together", spare=2),
            score_share("alone", "sum of each", spare=1),
            score_share("interaction", "interaction", *INTERVAL),
            score_share_interval(spare=3),
            text("kind"),
            text("source", spare=4),
            score("interaction", *INTERVAL, spare=5),
        ),
        takes=("subgroup",),
    ),
    "stability": QuestionSpec(
        "Would it come out again?",
        lambda found, about: found.stability(about.size, subgroup=about.subgroup),
        (
            count("rank"),
            names("features", missing=UNRECORDED),
            per_cent("frequency", "comes again"),
            count("rank_median", "median rank"),
            count("rank_low", "lower quartile", spare=1),
            count("rank_high", "upper quartile", spare=1),
        ),
        lambda found, about: stability_of(found, about.size).sentences(about.subgroup),
    ),
    "cautions": QuestionSpec(
        "What may mislead?",
        lambda found, about: found.cautions(about.size),
        sentences=lambda found, about: [
            Message(
                "{kind} ({severity}): {words}",
                kind=one.kind,
                severity=one.severity,
                words=one.words,
            )
            for one in list_cautions(found, about.size)
        ],
        takes=("size",),
    ),
    "worth": QuestionSpec(
        "Which unrecorded feature is most worth collecting?",
        lambda found, about: found.worth_collecting(
            about.subgroup, about.size, about.costs or None
        ),
        WORTH,
        by_subgroup=False,
    ),
    "subgroups": QuestionSpec(
        "Which subgroups are there?",
        lambda found, about: found.subgroups_,  # noqa: ARG005
        (
            text("subgroup"),
            count("rows"),
            number("target_entropy", "{:.4f}", "entropy of target (nats)", spare=1),
            names("missing", "never recorded"),
        ),
        takes=(),
        by_subgroup=False,
    ),
    "columns": QuestionSpec(
        "What became of every column?",
        _column_notes,
        (
            text("column"),
            text("role"),
            text("treatment"),
            count("missing", "rows without it", spare=1),
            names("categories", "values", spare=2),
        ),
        takes=(),
        by_subgroup=False,
    ),
}
"""Every question by its name."""


def answered(selection: Selection, question: str, about: About) -> tuple[Columns, Sequence[str]]:
    """The answer to a question as columns, and in words where it has some."""
    found = _checked(question, about)
    plain = in_columns(selection)
    if about.subgroup is not None:
        about = replace(about, subgroup=selection.cohorts.full_name(about.subgroup))
    return found.columns(plain, about), found.sentences(plain, about)


def in_columns(selection: Selection, **asked: Any) -> Selection:
    """The same selection, which answers in plain columns, and to other options if given."""
    if not asked and selection.options.backend == AS_COLUMNS:
        return selection
    plain = copy(selection)
    plain.options = replace(selection.options, backend=AS_COLUMNS, **asked)
    return plain


def lines_of(selection: Selection, columns: Columns) -> list[Line]:
    """The lines of an answer by column, with what there is to tell in the subgroup of each."""
    lines = (dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True))
    return with_wholes(selection, lines)


def _checked(name: str, about: About) -> QuestionSpec:
    """A question; an error where it is none, or something is missing or too much."""
    if name not in QUESTIONS:
        raise MisfeatError(
            "{question!r} is no question; ask for {names}.",
            question=name,
            names=listed(list(QUESTIONS), len(QUESTIONS)),
        )
    question = QUESTIONS[name]
    if question.of_a_set and (about.subgroup is None or not about.features):
        raise MisfeatError(
            "{question!r} is about one set; name it with {subgroup} and {feature}.",
            question=name,
            subgroup=Setting("subgroup"),
            feature=Setting("feature"),
        )
    for part in ("subgroup", "features", "size"):
        if getattr(about, part) and part not in question.takes:
            raise MisfeatError(
                "{question!r} takes no {name}; leave it out.",
                question=name,
                name=Setting(part.removesuffix("s")),
            )
    return question


def print_answer(
    selection: Selection,
    question: str,
    about: About,
    console: Console | None = None,
    spell: Callable[[str], str] = str,
) -> None:
    """Print the answer to a question: what it says in words, then its tables."""
    columns, sentences = answered(selection, question, about)
    console, asked = console or new_console(), QUESTIONS[question]
    console.print(plain_text(asked.words, style="bold"))
    for sentence in sentences:
        console.print(visible(spell(sentence)), highlight=False, markup=False)
    lines = lines_of(selection, columns)
    if not lines:
        cohorts = selection.cohorts
        entropies = dict(zip(cohorts.names, target_entropies(cohorts), strict=True))
        asked_about = selection.subgroup_names(about.subgroup)
        where = repr(asked_about[0]) if len(asked_about) == 1 else "every subgroup"
        why = f": {cohorts.target!r} has a single value in {where}"
        varies = any(entropies[name] for name in asked_about)
        why = f"There is nothing to show{'' if varies else why}."
        console.print(plain_text(why, style="dim"))
        return
    if not asked.shown:
        return
    shown = in_unit(asked.shown, selection.set_scores.measure.unit)
    subgroups: dict[str, list[Line]] = {}
    for line in lines:
        subgroups.setdefault(line["subgroup"] if asked.by_subgroup else "", []).append(line)
    most = MOST_LINES if len(subgroups) > 1 else len(lines)
    for name, own in subgroups.items():
        if asked.by_subgroup:
            console.print(plain_text(name, style="bold"))
        console.print(fitting_table(own[:most], shown, console))
        if len(own) > most:
            more = f"{len(own) - most:,} more; ask about this subgroup to see all."
            console.print(more, style="dim", highlight=False)
    if any(line[one.starred] for one in shown if one.starred for line in lines):
        console.print(STAR, style="dim")


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
    """The answer as lines of JSON: subgroups, sets, what is worth recording, and sentences."""
    for line in subgroup_rows(selection.cohorts):
        yield as_json("subgroup", line)
    for best in best_sets(selection):
        yield as_json("set", asdict(best))
    for worth in worth_rows(selection) if worths is None else worths:
        yield as_json("worth", worth)
    if selection.validation is not None:
        yield as_json("validation", {"text": selection.validation})
    screen = first_screen(selection) if screen is None else screen
    yield as_json("answer", {"subgroup": None, "sentence": spell(screen.whole)})
    for one in screen.subgroups:
        answer = {name: getattr(one, name) for name in ANSWER_COLUMNS}
        yield as_json("answer", {**answer, "sentence": spell(one.sentence)})


def as_json(kind: str, line: Mapping[str, Any], name: str = "kind") -> str:
    """A line of an answer as JSON, with its kind; what is not a number is null."""
    plain = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in line.items()
    }
    return visible_json(json.dumps({name: kind, **plain}, ensure_ascii=False))
