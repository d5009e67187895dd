"""Every question that a saved run answers, for a terminal: a table, a sentence, or JSON lines."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from misfeat.cohorts.dataframes import AS_COLUMNS
from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.show.terminal import NARROW, as_json, new_console, new_table, plain_text
from misfeat.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.console import Console

    from misfeat.selection.selection import Selection

    Columns = Mapping[str, Sequence[Any]]

NOT_ASKED = "–"

LEFT_OUT = ("values", "support", "unsettled", "settled_by", "joined", "probability_of_a_tenth")
"""Columns that a terminal has no room for; JSON has them."""


@dataclass(frozen=True)
class About:
    """What a question is about.

    Attributes
    ----------
    subgroup : str or None
        One subgroup only.
    features : tuple of str
        A set, for questions about one.
    size : int or None
        Features per set.
    """

    subgroup: str | None = None
    features: tuple[str, ...] = ()
    size: int | None = None


@dataclass(frozen=True)
class Answer:
    """How a question is answered.

    Attributes
    ----------
    words : str
        The question.
    columns : callable
        Asks a selection, and gives the answer as columns.
    sentences : callable
        The same in words; nothing where there are none.
    of_a_set : bool
        Whether it needs a subgroup and a set.
    takes : tuple of str
        What else of `About` it looks at.
    """

    words: str
    columns: Callable[[Selection, About], Columns]
    sentences: Callable[[Selection, About], Sequence[str]] = lambda selection, about: ()  # noqa: ARG005
    of_a_set: bool = False
    takes: tuple[str, ...] = ("subgroup", "size")


def _why_sentences(selection: Selection, about: About) -> Sequence[str]:
    return selection.explanation(str(about.subgroup), about.features).sentences()


def _enough_sentences(selection: Selection, about: About) -> Sequence[str]:
    return [one.sentence for one in selection.enoughs(about.subgroup, about.size)]


QUESTIONS: dict[str, Answer] = {
    "top": Answer(
        "Which sets tell most?", lambda found, about: found.top_k(about.size, None, about.subgroup)
    ),
    "significance": Answer(
        "Does any set tell more than chance?",
        lambda found, about: found.significance(about.size),
        takes=("size",),
    ),
    "enough": Answer(
        "How many features are enough?",
        lambda found, about: found.enough(about.subgroup, about.size),
        _enough_sentences,
    ),
    "why": Answer(
        "Why does this set tell?",
        lambda found, about: found.why(str(about.subgroup), about.features),
        _why_sentences,
        of_a_set=True,
        takes=("subgroup", "features"),
    ),
    "features": Answer(
        "What is every feature worth?",
        lambda found, about: found.features(about.subgroup, about.size),
    ),
    "alternatives": Answer(
        "Which sets tell the same?",
        lambda found, about: found.alternatives(str(about.subgroup), about.features),
        of_a_set=True,
        takes=("subgroup", "features"),
    ),
    "interactions": Answer(
        "Which features tell more, or less, together than each by itself?",
        lambda found, about: found.interactions(about.subgroup),
        takes=("subgroup",),
    ),
    "stability": Answer(
        "Would it come out again?",
        lambda found, about: found.stability(about.size, subgroup=about.subgroup),
        lambda found, about: found.resampled(about.size).sentences(),
    ),
    "cautions": Answer(
        "What may mislead?",
        lambda found, about: found.cautions(about.size),
        takes=("size",),
    ),
    "worth": Answer(
        "Which unrecorded feature is most worth collecting?",
        lambda found, about: found.worth_collecting(about.subgroup, about.size),
    ),
}
"""Every question by its name."""


def answered(selection: Selection, question: str, about: About) -> tuple[Columns, Sequence[str]]:
    """The answer to a question as columns, and in words where it has some.

    Parameters
    ----------
    selection : Selection
        What was found.
    question : str
        One of `QUESTIONS`.
    about : About
        What it is about.
    """
    answer = _checked(question, about)
    plain = copy(selection)
    plain.asked = replace(selection.asked, backend=AS_COLUMNS)
    return answer.columns(plain, about), answer.sentences(plain, about)


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
    selection: Selection, question: str, about: About, console: Console | None = None
) -> None:
    """Print the answer to a question: what it says in words, then its table.

    Parameters
    ----------
    selection : Selection
        What was found.
    question : str
        One of `QUESTIONS`.
    about : About
        What it is about.
    console : Console, default=None
        Where to; standard output.
    """
    columns, sentences = answered(selection, question, about)
    console = console or new_console()
    console.print(plain_text(QUESTIONS[question].words, style="bold"))
    for sentence in sentences:
        console.print(visible(sentence), highlight=False, markup=False)
    n_lines = len(next(iter(columns.values()), ()))
    if not n_lines:
        console.print("There is nothing to show.", style="dim")
        return
    narrow = console.width < NARROW
    shown = {name: column for name, column in columns.items() if name not in LEFT_OUT}
    table = new_table(narrow=narrow)
    for name, column in shown.items():
        numeric = all(isinstance(value, int | float) for value in column)
        table.add_column(
            name.replace("_", " "), justify="right" if numeric else "left", overflow="fold"
        )
    for line in zip(*shown.values(), strict=True):
        table.add_row(*(plain_text(as_text(value)) for value in line))
    console.print(table)


def json_answer(selection: Selection, question: str, about: About) -> Iterator[str]:
    """The answer as lines of JSON, one a line of its table, each with the question.

    Parameters
    ----------
    selection : Selection
        What was found.
    question : str
        One of `QUESTIONS`.
    about : About
        What it is about.
    """
    columns, sentences = answered(selection, question, about)
    for line in zip(*columns.values(), strict=True):
        yield as_json(question, dict(zip(columns, line, strict=True)), "question")
    for sentence in sentences:
        yield as_json(question, {"sentence": sentence}, "question")


def as_text(value: Any) -> str:
    """A value of an answer as a cell of a table.

    Parameters
    ----------
    value : object
        A number, a text, a flag, or several texts.

    Examples
    --------
    >>> as_text(0.123456), as_text(3), as_text(True), as_text(("a", "b")), as_text(float("nan"))
    ('0.1235', '3', 'yes', 'a, b', '–')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOT_ASKED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
