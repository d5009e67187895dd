"""The questions that a saved run answers, and their answers as tables, sentences or JSON lines."""

import json
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.recommendation import ANSWER_COLUMNS, MODEL_COLUMNS, answer_columns, answer_of
from misfeat.answers.selection_base import subgroup_rows
from misfeat.answers.set_cells import explanation
from misfeat.answers.stability import stability_of
from misfeat.answers.top_sets import best_sets
from misfeat.exceptions import MisfeatError
from misfeat.information.mutual_info import target_entropies
from misfeat.messages import Message, Setting, listed, visible, visible_json
from misfeat.reading.dataframe_libraries import AS_COLUMNS
from misfeat.selection import Selection
from misfeat.show import terminal as tables
from misfeat.show.answer_with_map import FirstScreen
from misfeat.show.terminal import STAR, Line, TableColumn, with_wholes

Columns = Mapping[str, Sequence[Any]]

SKIPPED = "Ranks left out: sets that hold a smaller one which explains nearly as much by itself."
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
    """A question, and how it is answered; question_output.toml says what its parts are."""

    words: str
    answer: str
    shown: Sequence[TableColumn] = ()
    takes: Sequence[str] = ("subgroup", "size")
    by_subgroup: bool = True  # whether every subgroup has a table of its own
    empty: str = "There is nothing to show."

    @classmethod
    def of(cls, shown: Sequence[dict[str, Any]] = (), **spec: Any) -> "QuestionSpec":
        """A question from its description."""
        columns = [getattr(tables, column.pop("kind"))(**column) for column in shown]
        return cls(shown=columns, **spec)

    @property
    def of_a_set(self) -> bool:
        """Whether it needs a subgroup and a set."""
        return "features" in self.takes


_TEXT = Path(__file__).with_name("question_output.toml").read_text(encoding="utf-8")
QUESTIONS = {name: QuestionSpec.of(**spec) for name, spec in tomllib.loads(_TEXT).items()}
SENTENCES: dict[str, Callable[[Selection, About], Sequence[str]]] = {
    "answer": lambda found, about: answer_of(found, about.subgroup, about.size).sentences,
    "enough": lambda found, about: [
        one.sentence for one in answer_of(found, about.subgroup, about.size)
    ],
    "why": lambda found, about: explanation(found, str(about.subgroup), about.features).sentences(),
    "stability": lambda found, about: stability_of(found, about.size).sentences(about.subgroup),
    "cautions": lambda found, about: [
        Message(f"{one.kind} ({one.severity}): {{words}}", words=one.words)
        for one in list_cautions(found, about.size)
    ],
}


def answered(selection: Selection, question: str, about: About) -> tuple[Columns, Sequence[str]]:
    """The answer to a question as columns, and in words where it has some."""
    # Raises where it is not a question, or something is missing or too much.
    if question not in QUESTIONS:
        raise MisfeatError(
            f"{question!r} is not a question; ask for {listed(list(QUESTIONS), len(QUESTIONS))}."
        )
    asked = QUESTIONS[question]
    if asked.of_a_set and about.subgroup is not None and not about.features:
        about = replace(about, features=answer_of(selection, about.subgroup).subgroups[0].features)
    if asked.of_a_set and (about.subgroup is None or not about.features):
        raise MisfeatError(
            f"{question!r} is about one set; name its subgroup with {Setting('subgroup')}, and "
            f"with {Setting('feature')} its features, if not those that are recommended."
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
    return answer, SENTENCES[question](plain, about) if question in SENTENCES else ()


def in_columns(selection: Selection, **asked: Any) -> Selection:
    """The same selection, which answers in plain columns, and to other options if given."""
    if not asked and selection.options.backend == AS_COLUMNS:
        return selection
    plain = copy(selection)
    plain.options = replace(selection.options, backend=AS_COLUMNS, **asked)
    return plain


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
    rows = zip(*columns.values(), strict=True)
    lines = with_wholes(selection, (dict(zip(columns, row, strict=True)) for row in rows))
    if not lines:
        cohorts = selection.cohorts
        entropies = dict(zip(cohorts.names, target_entropies(cohorts), strict=True))
        asked_about = selection.subgroup_names(about.subgroup)
        where = repr(asked_about[0]) if len(asked_about) == 1 else "every subgroup"
        why = f"There is nothing to show: {cohorts.target!r} has a single value in {where}."
        why = asked.empty if any(entropies[name] for name in asked_about) else why
        console.print(tables.plain_text(why, style="dim"))
        return
    if not asked.shown:
        return
    unit = selection.set_scores.measure.unit
    shown = [replace(one, title=unit) if one.title == tables.UNIT else one for one in asked.shown]
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
    if any(own[-1].get("rank", 0) > len(own) for own in subgroups.values()):
        console.print(SKIPPED, style="dim", highlight=False)
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
    worths: Sequence[Mapping[str, Any]],
    screen: FirstScreen,
    spell: Callable[[str], str] = str,
) -> Iterator[str]:
    """The answer as lines of JSON: subgroups, sets, what is worth recording, and sentences."""
    for line in subgroup_rows(selection.cohorts):
        yield as_json("subgroup", line)
    for best in best_sets(selection):
        yield as_json("set", asdict(best))
    for worth in worths:
        yield as_json("worth", worth)
    if selection.validation is not None:
        yield as_json("validation", {"text": selection.validation})
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
