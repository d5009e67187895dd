"""The questions that a saved run answers, and their answers as tables, sentences or JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from misfeat.answers.answer import ANSWER_COLUMNS, MODEL_COLUMNS, answer_columns, answer_of
from misfeat.answers.cautions import list_cautions
from misfeat.answers.effort import STEP_PERMUTATIONS
from misfeat.answers.stability import stability_of
from misfeat.answers.top import best_sets, subgroup_rows
from misfeat.answers.why import explanation
from misfeat.exceptions import Message, MisfeatError, Setting, listed
from misfeat.information.mutual_info import target_entropies
from misfeat.reading.inputs import AS_COLUMNS
from misfeat.safe_text import visible, visible_json
from misfeat.show import terminal as tables
from misfeat.show.first_screen import FirstScreen, first_screen
from misfeat.show.terminal import INTERVAL, STAR, WORTH, TableColumn, with_wholes, worth_rows

if TYPE_CHECKING:
    from rich.console import Console

    from misfeat.selection import Selection

    Columns = Mapping[str, Sequence[Any]]
    Line = dict[str, Any]

MOST_LINES = 10  # lines of each subgroup, where there are several; one subgroup is shown whole
COLUMN_NOTES = (
    "column", "role", "treatment", "categories", "missing", "looks_like", "taken_for", "example",
)  # fmt: skip


@dataclass(frozen=True)
class About:
    """What a question is about."""

    subgroup: str | None = None
    features: tuple[str, ...] = ()
    size: int | None = None
    costs: Mapping[str, float] | None = None
    budget: float | None = None
    rows: int | None = None


@dataclass(frozen=True)
class QuestionSpec:
    """A question, and how it is answered."""

    words: str
    answer: str  # the method, or the attribute, of a selection that answers it in columns
    shown: tuple[TableColumn, ...] = ()  # that a terminal shows; JSON has all columns
    sentences: Callable[[Selection, About], Sequence[str]] = lambda selection, about: ()  # noqa: ARG005
    takes: tuple[str, ...] = ("subgroup", "size")  # what of `About` the method takes
    by_subgroup: bool = True  # whether every subgroup has a table of its own

    @property
    def of_a_set(self) -> bool:
        """Whether it needs a subgroup and a set."""
        return "features" in self.takes


def _rows_and_worth(line: Line) -> str:
    effective = line.get("effective_rows")
    return f"{line['rows']:,}" + ("" if effective is None else f" (worth {effective:,.0f})")


QUESTIONS: dict[str, QuestionSpec] = {
    "answer": QuestionSpec(
        "Which features should be used?",
        "answer",
        (
            tables.text("subgroup"),
            tables.names("features"),
            tables.per_cent("share", "explains"),
            tables.per_cent_between(spare=3),
            tables.p_value(),
            tables.text("metric", spare=2),
            tables.number("value", "{:.2f}", "on rows left out", spare=1),
        ),
        lambda found, about: answer_of(found, about.subgroup, about.size).sentences,
        by_subgroup=False,
    ),
    "top": QuestionSpec(
        "Which sets explain most?",
        "top_k",
        (
            tables.count("rank"),
            tables.names("features", missing="missing"),
            tables.score_share("score", "explains", *INTERVAL),
            tables.score_share_interval(spare=1),
            tables.p_value(),
            tables.text("source", spare=2),
            tables.score("score", *INTERVAL, spare=3),
        ),
    ),
    "significance": QuestionSpec(
        "Does any set explain more than chance?",
        "significance",
        (
            tables.text("subgroup"),
            tables.p_value(spare=1),
            tables.p_value("adjusted"),
            tables.flag("more_than_chance", "more than chance"),
            tables.names("features", "clearest set", spare=2),
            tables.count("sets", spare=3),
            tables.count("permutations", spare=4),
        ),
        takes=("size",),
        by_subgroup=False,
    ),
    "enough": QuestionSpec(
        "How many features are enough?",
        "enough",
        (
            tables.count("size"),
            tables.names("features", "best set"),
            tables.score_share("score", "explains", *INTERVAL),
            tables.score_share_interval(spare=2),
            tables.score_share("adds", spare=1),
            tables.p_value(permutations=STEP_PERMUTATIONS),
            tables.flag("enough"),
            tables.score("score", *INTERVAL, spare=3),
        ),
        lambda found, about: [one.sentence for one in answer_of(found, about.subgroup, about.size)],
    ),
    "why": QuestionSpec(
        "Why is this set informative?",
        "why",
        (
            tables.text("cell"),
            tables.count("rows"),
            tables.text("class"),
            tables.per_cent("share"),
            tables.per_cent_between(spare=3),
            tables.per_cent("overall", spare=2),
            tables.number("lift", "{:.2f}", spare=1),
            tables.score_share("contribution", "adds", spare=4),
            tables.text("source", spare=5),
        ),
        lambda found, about: explanation(found, str(about.subgroup), about.features).sentences(),
        takes=("subgroup", "features"),
    ),
    "features": QuestionSpec(
        "What is every feature worth?",
        "features",
        (
            tables.text("feature"),
            tables.score_share("alone"),
            tables.score_share("adds", "adds", "adds_low", "adds_high"),
            tables.score_share_interval("adds_low", "adds_high", spare=4),
            tables.score_share("share_of_best", "share of best", spare=1),
            tables.score_share("mean_share", "mean share", "mean_share_low", "mean_share_high"),
            tables.score_share_interval("mean_share_low", "mean_share_high", spare=5),
            tables.per_cent("in_best", "in best", spare=2),
            tables.text("source", spare=3),
            tables.score("mean_share", "mean_share_low", "mean_share_high", spare=6),
        ),
    ),
    "alternatives": QuestionSpec(
        "Which sets explain as much?",
        "alternatives",
        (
            tables.text("words", "swap"),
            tables.names("features", "set", spare=1),
            tables.score_share("score", "explains"),
            tables.score_share("difference", "difference", "difference_low", "difference_high"),
            tables.score_share_interval("difference_low", "difference_high", spare=2),
            tables.text("source", spare=3),
            tables.score("score", spare=4),
        ),
        takes=("subgroup", "features"),
    ),
    "interactions": QuestionSpec(
        "Which features explain more, or less, together than each by itself?",
        "interactions",
        (
            tables.text("feature"),
            tables.text("other"),
            tables.score_share("together", spare=2),
            tables.score_share("alone", "sum of each", spare=1),
            tables.score_share("interaction", "interaction", *INTERVAL),
            tables.score_share_interval(spare=3),
            tables.text("kind"),
            tables.text("source", spare=4),
            tables.score("interaction", *INTERVAL, spare=5),
        ),
        takes=("subgroup",),
    ),
    "stability": QuestionSpec(
        "How stable are the best sets?",
        "stability",
        (
            tables.count("rank"),
            tables.names("features", missing=tables.UNRECORDED),
            tables.per_cent("frequency", "in resamples"),
            tables.count("rank_median", "median rank"),
            tables.count("rank_low", "lower quartile", spare=1),
            tables.count("rank_high", "upper quartile", spare=1),
        ),
        lambda found, about: stability_of(found, about.size).sentences(about.subgroup),
    ),
    "cautions": QuestionSpec(
        "What may mislead?",
        "cautions",
        sentences=lambda found, about: [
            Message(f"{one.kind} ({one.severity}): {{words}}", words=one.words)
            for one in list_cautions(found, about.size)
        ],
        takes=("size",),
    ),
    "worth": QuestionSpec(
        "Which unrecorded feature is most worth collecting?",
        "worth_collecting",
        WORTH,
        takes=("subgroup", "size", "costs"),
        by_subgroup=False,
    ),
    "plan": QuestionSpec(
        "What should be recorded, where and in which order?",
        "plan",
        (
            tables.count("step"),
            tables.text("subgroup"),
            tables.names("features", "record"),
            tables.score_share("gain", "gain", *INTERVAL),
            tables.score_share_interval(spare=2),
            tables.number("probability", "{:.0%}", "worth it"),
            tables.flag("worth", "do it"),
            tables.number("cost", "{:g}", spare=3),
            tables.number("total_cost", "{:g}", "cost so far", spare=4),
            tables.count("rows", "rows of a pilot", spare=5),
        ),
        takes=("subgroup", "size", "costs", "budget", "rows"),
        by_subgroup=False,
    ),
    "subgroups": QuestionSpec(
        "Which subgroups are there?",
        "subgroups_",
        (
            tables.text("subgroup"),
            TableColumn("rows", _rows_and_worth),
            tables.number("target_entropy", "{:.4f}", "entropy of target (nats)", spare=1),
            tables.names("missing", "never recorded"),
        ),
        takes=(),
        by_subgroup=False,
    ),
    "columns": QuestionSpec(
        "What became of every column?",
        "cohorts",
        (
            tables.text("column"),
            tables.text("role"),
            tables.text("treatment"),
            tables.count("missing", "rows without it", spare=1),
            tables.names("categories", "values", spare=2),
        ),
        takes=(),
        by_subgroup=False,
    ),
}


def answered(selection: Selection, question: str, about: About) -> tuple[Columns, Sequence[str]]:
    """The answer to a question as columns, and in words where it has some.

    Raises where it is not a question, or something is missing or too much.
    """
    if question not in QUESTIONS:
        raise MisfeatError(
            f"{question!r} is not a question; ask for {listed(list(QUESTIONS), len(QUESTIONS))}."
        )
    asked = QUESTIONS[question]
    if asked.of_a_set and (about.subgroup is None or not about.features):
        raise MisfeatError(
            f"{question!r} is about one set; name it with {Setting('subgroup')} and "
            f"{Setting('feature')}."
        )
    for part in ("subgroup", "features", "size", "budget", "rows"):
        if getattr(about, part) and part not in asked.takes:
            raise MisfeatError(
                f"{question!r} takes no {Setting(part.removesuffix('s'))}; leave it out."
            )
    plain = in_columns(selection)
    if about.subgroup is not None:
        about = replace(about, subgroup=selection.cohorts.full_name(about.subgroup))
    answer: Any = getattr(plain, asked.answer)
    if question == "columns":
        audits = selection.cohorts.columns
        answer = {name: [getattr(one, name) for one in audits] for name in COLUMN_NOTES}
    elif question == "answer":
        answer = answer_columns(answer_of(plain, about.subgroup, about.size))
    elif callable(answer):
        answer = answer(**{name: getattr(about, name) for name in asked.takes})
    return answer, asked.sentences(plain, about)


def in_columns(selection: Selection, **asked: Any) -> Selection:
    """The same selection, which answers in plain columns, and to other options if given."""
    if not asked and selection.options.backend == AS_COLUMNS:
        return selection
    plain = copy(selection)
    plain.options = replace(selection.options, backend=AS_COLUMNS, **asked)
    return plain


def lines_of(selection: Selection, columns: Columns) -> list[Line]:
    """The lines of an answer by column, with the entropy of the subgroup of each."""
    lines = (dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True))
    return with_wholes(selection, lines)


def print_answer(
    selection: Selection,
    question: str,
    about: About,
    console: Console | None = None,
    spell: Callable[[str], str] = str,
) -> None:
    """Print the answer to a question: what it says in words, then its tables."""
    columns, sentences = answered(selection, question, about)
    console, asked = console or tables.new_console(), QUESTIONS[question]
    console.print(tables.plain_text(asked.words, style="bold"))
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
        console.print(tables.plain_text(why, style="dim"))
        return
    if not asked.shown:
        return
    shown = tables.in_unit(asked.shown, selection.set_scores.measure.unit)
    subgroups: dict[str, list[Line]] = {}
    for line in lines:
        subgroups.setdefault(line["subgroup"] if asked.by_subgroup else "", []).append(line)
    most = MOST_LINES if len(subgroups) > 1 else len(lines)
    for name, own in subgroups.items():
        if asked.by_subgroup:
            console.print(tables.plain_text(name, style="bold"))
        console.print(tables.fitting_table(own[:most], shown, console))
        if len(own) > most:
            more = f"{len(own) - most:,} more; ask about this subgroup to see all."
            console.print(more, style="dim", highlight=False)
    if any(line[one.starred] for one in shown if one.starred for line in lines):
        console.print(STAR, style="dim")


def print_tables(
    selection: Selection,
    *,
    size: int | None = None,
    k: int | None = None,
    subgroup: str | None = None,
    costs: Mapping[str, float] | None = None,
    collecting: bool = True,
) -> None:
    """Print the subgroups, their best sets, and what is worth collecting."""
    shown = in_columns(selection, **({} if k is None else {"k": k}))
    if subgroup is None:
        print_answer(shown, "subgroups", About())
    print_answer(shown, "top", About(subgroup, size=size))
    if collecting and selection.missing.any():
        print_answer(shown, "worth", About(subgroup, size=size, costs=costs))
    about = tables.ABOUT[selection.set_scores.estimate.name]
    words = f"Shares are of the uncertainty about the target{about}."
    tables.new_console().print(words, style="dim", highlight=False)


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
    yield as_json("answer", {"subgroup": None, "sentence": spell(screen.sentence)})
    for one in screen.subgroups:
        answer = {name: getattr(one, name) for name in ANSWER_COLUMNS}
        models = [{name: getattr(model, name) for name in MODEL_COLUMNS} for model in one.models]
        yield as_json("answer", {**answer, "models": models, "sentence": spell(one.sentence)})


def as_json(kind: str, line: Mapping[str, Any], name: str = "kind") -> str:
    """A line of an answer as JSON, with its kind; what is not a number is null."""
    plain = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in line.items()
    }
    return visible_json(json.dumps({name: kind, **plain}, ensure_ascii=False))
