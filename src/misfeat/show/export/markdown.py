"""Answers as tables of Markdown, in the manner of GitHub, for papers and notes."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from misfeat.answers.top import best_sets
from misfeat.exceptions import MisfeatError, check_count
from misfeat.show.answer_columns import (
    BETWEEN,
    NOT_ASKED,
    Shown,
    count,
    flag,
    in_unit,
    names,
    p_value,
    score,
    text,
)
from misfeat.show.answers import answered, in_columns, lines_of
from misfeat.show.export.cells import legal_text
from misfeat.show.export.tables import MAY_BE_REFUSED, NOTHING, TITLES, with_share_bounds
from misfeat.show.questions import QUESTIONS, About
from misfeat.show.terminal import STAR
from misfeat.words.numbers import percent, percent_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from misfeat.selection import Selection

    Line = dict[str, Any]

RANKED = ("top", "stability", "alternatives")
"""Questions whose answer is as long as the selection's `k` says."""
_MARKUP = re.compile(
    r"([\\`*\[\]|~$^@]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # within a word it is a letter
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)"
    r"|(?<=\w):(?=//)|(?<=www)\.)"
)
"""What Markdown takes for more than text, the start of a link included."""


def markdown_table(
    selection: Selection,
    question: str = "top",
    about: About | None = None,
    k: int | None = None,
) -> str:
    """The answer to a question as a table of Markdown."""
    check_count(k, "k", none=True)
    longer = {"k": int(k)} if k is not None and question in RANKED else {}
    plain = in_columns(selection, **longer)
    columns, _ = answered(plain, question, about or About())
    held = with_share_bounds(plain, columns)
    lines = list(_first(lines_of(plain, held), k))
    if not lines:
        return f"{NOTHING}\n"
    shown = _columns(plain, question, lines)
    table = [
        [one.title for one in shown],
        ["---:" if one.number else "---" for one in shown],
        *([one.text(line) for one in shown] for line in lines),
    ]
    notes = _notes(question, lines)
    return "".join(map(_row, table)) + "".join(f"\n{note}\n" for note in notes)


def markdown_page(
    selection: Selection,
    questions: Sequence[str],
    costs: Mapping[str, float] | None = None,
    spell: Callable[[str], str] = str,
) -> str:
    """The answers to questions, one table after the other; several have a heading each."""
    pages = []
    best = best_sets(selection, k=1)
    for question in (name for name in TITLES if name in questions):
        about = [About(costs=costs or {} if question == "worth" else {})]
        if QUESTIONS[question].of_a_set:
            about = [About(one.subgroup, one.features) for one in best]
        try:
            tables = [markdown_table(selection, question, one) for one in about]
        except MisfeatError as error:
            if question not in MAY_BE_REFUSED:
                raise
            tables = [f"{escaped(spell(error.message))}\n"]
        if QUESTIONS[question].of_a_set and len(tables) == len(best):
            heads = [f"{one.subgroup}: {', '.join(one.features)}" for one in best]
            tables = [f"{escaped(head)}\n\n{one}" for head, one in zip(heads, tables, strict=True)]
        heading = f"## {TITLES[question].capitalize()}\n\n" if len(questions) > 1 else ""
        pages.append(heading + "\n".join(tables))
    return "\n".join(pages)


def _first(lines: Sequence[Line], k: int | None) -> Iterator[Line]:
    """The first k lines of every subgroup; all of those that are of none."""
    seen: Counter[str | None] = Counter()
    for line in lines:
        name = line.get("subgroup")
        seen[name] += name is not None
        if k is None or seen[name] <= k:
            yield line


def _columns(selection: Selection, question: str, lines: Sequence[Line]) -> list[Shown]:
    """The columns of a table in which some line says something, the subgroup first."""
    shown = [*_shown(selection, question)]
    if QUESTIONS[question].by_subgroup and len({line.get("subgroup") for line in lines}) > 1:
        shown = [text("subgroup"), *shown]
    told = [one for one in shown if {one.text(line) for line in lines} - {"", NOT_ASKED}]
    return [_escaped(one) for one in _with_intervals(told)]


def _with_intervals(shown: Sequence[Shown]) -> list[Shown]:
    """The columns with every interval in brackets behind what it is about."""
    found: list[Shown] = []
    for one in shown:
        if one.title == BETWEEN and found:
            found[-1] = _followed(found[-1], one)
        else:
            found.append(one)
    return found


def _followed(value: Shown, interval: Shown) -> Shown:
    def told(line: Line) -> str:
        between = interval.text(line)
        return f"{value.text(line)} ({between})" if between else value.text(line)

    return replace(value, text=told)


def _shown(selection: Selection, question: str) -> Sequence[Shown]:
    """What a terminal shows, but shares first and with their intervals."""
    unit = selection.set_scores.measure.unit
    if question == "top":
        return (
            count("rank"),
            names("features", missing="missing"),
            _share(selection),
            *in_unit([score("score", "low", "high")], unit),
            p_value("p_value"),
            text("source"),
        )
    if question == "enough":
        return (
            count("size"),
            names("features", "best set"),
            _share(selection),
            *in_unit([score("score", "low", "high")], unit),
            p_value("p_value"),
            flag("enough"),
        )
    if question == "cautions":
        return text("kind"), text("severity"), text("sentence"), text("remedy", "what to do")
    return in_unit(QUESTIONS[question].shown, unit)


def _share(selection: Selection) -> Shown:
    """A share with its interval, such as ``19 % (13–24 %)``, in as many digits as that leaves."""
    sure = selection.confidence
    title = "share" if sure is None else f"share ({100 * sure:.0f} % interval)"

    def told(line: Line) -> str:
        share, low, high = (line[name] for name in ("share", "share_low", "share_high"))
        if math.isnan(low) or math.isnan(high) or low == high:
            return percent(share)
        return f"{percent(share, low, high)} ({percent_between(low, high)})"

    return Shown(title, told)


def _notes(question: str, lines: Sequence[Line]) -> Iterator[str]:
    """What stands under a table."""
    if question == "top" and any(line["missing"] for line in lines):
        yield STAR
    if question in ("features", "alternatives", "interactions", "worth"):
        yield "In per cent of what there is to tell about the target in the subgroup."


def _escaped(one: Shown) -> Shown:
    return replace(one, title=escaped(one.title), text=lambda line: escaped(one.text(line)))


def escaped(text: str) -> str:
    r"""Text on one line in which Markdown finds no markup, for a cell of a table.

    Examples
    --------
    >>> print(escaped("a|b_c"), escaped("<b> & *"))
    a\|b_c \<b> & \*
    """
    return _MARKUP.sub(r"\\\1", legal_text(text))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
