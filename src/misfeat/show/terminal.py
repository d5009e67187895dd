"""A run in a terminal: tables of subgroups, best sets and what to collect, and sentences."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from itertools import compress, groupby
from typing import TYPE_CHECKING, Any

from misfeat.answers.feature_worth import feature_worths
from misfeat.answers.top import best_sets, subgroup_rows
from misfeat.exceptions import InPython, Message
from misfeat.safe_text import visible
from misfeat.show.console import (
    NARROW,
    UNRECORDED,
    WHOLE,
    TableColumn,
    count,
    filled_table,
    in_unit,
    names,
    new_console,
    number,
    plain_text,
    print_lines,
    score,
    score_share,
    score_share_interval,
    text,
)
from misfeat.show.first_screen import (
    CHANCE,
    MAY_BE_CHANCE,
    NOTHING,
    TOLD,
    UNTESTED,
    collecting_sentences,
    first_screen,
    with_weights,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

    from misfeat.selection import Selection
    from misfeat.show.first_screen import FirstScreen, SubgroupAnswer

    Line = dict[str, Any]
    Spell = Callable[[str], str]

STAR = "A star marks a feature that the subgroup never recorded."
ABOUT = {
    "population": ", estimated for the population",
    "above_chance": ", less what chance alone would score",
    "sample": ", of the rows as they are",
}
ALL_RECORDED = "Every subgroup recorded every feature."
MOST_SENTENCES = 20
"""Sentences under one heading; of more subgroups the most telling ones are shown."""
_ORDER = (TOLD, UNTESTED, MAY_BE_CHANCE, CHANCE, NOTHING)
"""Verdicts, the most telling first."""


def likely(worth: Mapping[str, Any]) -> str:
    """How likely recording a feature raises the best score at all."""
    if math.isnan(worth["probability"]):
        return ""
    return f"{100 * worth['probability']:.0f} %{'' if worth['clear'] else ', not clear'}"


WORTH: tuple[TableColumn, ...] = (
    text("subgroup"),
    text("feature"),
    score_share("gain", "gain", "low", "high"),
    score_share_interval(spare=2),
    TableColumn("likely", likely),
    names("best_set", "best set with it", missing=UNRECORDED, spare=3),
    score("gain", "low", "high", spare=4),
)
"""Columns of what unrecorded features would be worth."""


def worth_rows(
    selection: Selection,
    costs: Mapping[str, float] | None = None,
    size: int | None = None,
    subgroup: str | None = None,
) -> list[Line]:
    """What unrecorded features would be worth; nothing is computed where all were recorded."""
    if not costs and not selection.cohorts.missing.any():
        return []
    return [vars(worth) for worth in feature_worths(selection, subgroup, size, costs)]


def with_wholes(selection: Selection, lines: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Lines, each with what there is to tell in its subgroup and what that never recorded."""
    measure, subgroups = selection.set_scores.measure, selection.cohorts.names
    wholes = dict(zip(subgroups, measure.whole.tolist(), strict=True))
    missing = {
        name: tuple(compress(measure.features, lacking))
        for name, lacking in zip(subgroups, measure.missing, strict=True)
    }
    return [
        {**line, WHOLE: wholes.get(name), UNRECORDED: missing.get(name, ())}
        for line in lines
        for name in [line.get("subgroup", "")]
    ]


def print_tables(
    selection: Selection,
    console: Console | None = None,
    worths: Sequence[Mapping[str, Any]] | None = None,
    *,
    size: int | None = None,
    k: int | None = None,
    subgroup: str | None = None,
) -> None:
    """Print the subgroups with what they never recorded, their best sets, and what to collect."""
    console = console or new_console()
    k = selection.k if k is None else k
    subgroup = None if subgroup is None else selection.cohorts.full_name(subgroup)
    sets = with_wholes(selection, map(asdict, best_sets(selection, size, k, subgroup)))
    worths = worth_rows(selection, size=size, subgroup=subgroup) if worths is None else worths
    narrow, unit = console.width < NARROW, selection.set_scores.measure.unit

    def style(line: Line) -> str | None:
        return "yellow" if line.get("source") == "predicted" else None

    def show(title: str, lines: Sequence[Line], columns: Sequence[TableColumn]) -> None:
        # A title of its own, since rich wraps a table's title to the table's width.
        console.print(plain_text(title, style="bold"))
        console.print(filled_table(lines, in_unit(columns, unit), narrow, style))

    rows = [row for row in subgroup_rows(selection.cohorts) if subgroup in (None, row["subgroup"])]
    title = f"Subgroups, and what each never recorded (target: {selection.cohorts.target})"
    show(title, rows, _subgroup_columns(narrow))
    columns = _set_columns(sets, narrow)
    for name, own in groupby(sets, key=lambda line: line["subgroup"]):
        show(name, list(own), columns)
    if worths:
        shown = [worth for worth in worths if worth["rank"] <= k]
        show("Worth collecting", with_wholes(selection, shown), _worth_columns(worths, narrow))
    for line in _legend(selection, bool(worths)):
        console.print(visible(line), style="dim", highlight=False, markup=False)


def _subgroup_columns(narrow: bool) -> list[TableColumn]:
    def rows(line: Line) -> str:
        effective = line.get("effective_rows")
        return f"{line['rows']:,}" + ("" if effective is None else f" (worth {effective:,.0f})")

    def missing(line: Line) -> str:
        return ", ".join(line["missing"]) or "–"

    columns = [
        text("subgroup"),
        TableColumn("rows", rows),
        TableColumn("never recorded", missing, number=False),
    ]
    entropy = number("target_entropy", "{:.4f}", "entropy of target")
    return columns if narrow else [*columns, entropy]


def _set_columns(sets: Sequence[Line], narrow: bool) -> list[TableColumn]:
    share, between = score_share("score", "tells", "low", "high"), score_share_interval()

    def share_above_interval(line: Line) -> str:
        return f"{share.text(line)}\n{between.text(line)}".rstrip("\n")

    if narrow:
        rank, tells = replace(count("rank"), title=""), replace(share, text=share_above_interval)
        return [rank, names("features", missing="missing"), tells]
    return [
        count("rank"),
        names("features", missing="missing"),
        share,
        *([between] if any(line["low"] < line["high"] for line in sets) else []),
        *([text("source")] if any(line["source"] == "predicted" for line in sets) else []),
        score("score", "low", "high"),
    ]


def _worth_columns(worths: Iterable[Mapping[str, Any]], narrow: bool) -> list[TableColumn]:
    columns = list(WORTH[:3] if narrow else WORTH)
    if any(worth["cost"] != 1 for worth in worths):
        gain = columns[2]

        def per_cost(line: Line) -> str:
            costly = {name: line[name] / line["cost"] for name in ("gain", "low", "high")}
            return gain.text({**line, **costly})

        columns.insert(3, TableColumn("per cost", per_cost))
    return columns


def _legend(selection: Selection, worths: bool) -> Iterator[str]:
    lacking, measure = bool(selection.cohorts.missing.any()), selection.set_scores.measure
    about = ABOUT[selection.set_scores.estimate.name]
    yield (
        f"Shares are of what there is to tell about the target{about}; {measure.unit}: the "
        f"{measure.words} with it. {STAR if lacking else ALL_RECORDED}"
    )
    if worths:
        yield (
            "Gain is by how much a subgroup's best set is expected to tell more if it recorded the "
            f"feature{'' if selection.confidence is None else ', and how likely it does at all'}."
        )


def screen_of(
    selection: Selection, size: int | None = None, subgroup: str | None = None
) -> FirstScreen:
    """The first screen of a selection, or what of it is about one subgroup."""
    screen = first_screen(selection, size)
    if subgroup is None:
        return screen
    subgroup = selection.cohorts.full_name(subgroup)
    (own,) = (one for one in screen.subgroups if one.subgroup == subgroup)
    whole = float(selection.set_scores.measure.whole[selection.cohorts.position(subgroup)])
    worths = feature_worths(selection, subgroup, size)
    return replace(
        screen,
        whole=with_weights(own.sentence, selection.cohorts, subgroup),
        subgroups=(own,),
        collecting=tuple(collecting_sentences(worths, {subgroup: whole}, selection.confidence)),
        cautions=tuple(
            one for one in screen.cautions if not one.subgroups or subgroup in one.subgroups
        ),
    )


def print_sentences(
    screen: FirstScreen,
    console: Console | None = None,
    *,
    spell: Spell = str,
    collecting: bool = True,
    validation: str | None = None,
    further: Iterable[str] = (),
) -> None:
    """Print the answer: first what may overturn it, last how far to trust it."""
    console = console or new_console()
    for caution in screen.overturning:
        words = plain_text("Caution: " + spell(caution.words))
        words.stylize("bold red", 0, len("Caution: "))
        print_lines(console, words)
    if screen.overturning:
        console.print()
    print_lines(console, plain_text(spell(screen.whole), style="bold"))
    shown = most_informative(screen.subgroups, MOST_SENTENCES)
    if len(screen.subgroups) > 1:
        console.print()
        for one in shown:
            sentence, name = plain_text(spell(one.sentence)), visible(one.subgroup)
            if sentence.plain.startswith(name):
                sentence.stylize("bold", 0, len(name))
            print_lines(console, sentence, "• ", "  ")
    if len(shown) < len(screen.subgroups):
        more = Message(
            "and {number:,} more subgroups, in which less is told; {ask} tells about one.",
            number=len(screen.subgroups) - len(shown),
            ask=InPython("show(subgroup=...)", "'misfeat ask DIR enough --subgroup NAME'"),
        )
        print_lines(console, plain_text(spell(more)), "• ", "  ")
    if collecting:
        _print_headed(console, "Worth recording", map(spell, screen.collecting))
    trust = [*([] if validation is None else [validation]), *further]
    trust += [one.words for one in screen.other_cautions]
    _print_headed(console, "How far to trust it", map(spell, trust))


def most_informative(answers: Sequence[SubgroupAnswer], most: int) -> list[SubgroupAnswer]:
    """The subgroups in which most is told, in the table's order."""

    def place(one: SubgroupAnswer) -> tuple[int, float]:
        return _ORDER.index(one.verdict), 0.0 if math.isnan(one.share) else -one.share

    kept = {id(one) for one in sorted(answers, key=place)[:most]}
    return [one for one in answers if id(one) in kept]


def _print_headed(console: Console, heading: str, sentences: Iterable[str]) -> None:
    """Sentences under a heading; nothing where there are none."""
    lines = list(sentences)
    if not lines:
        return
    console.print()
    console.print(plain_text(heading, style="bold"))
    more = len(lines) - MOST_SENTENCES
    for line in [*lines[:MOST_SENTENCES], *([f"and {more:,} more."] if more > 0 else [])]:
        print_lines(console, plain_text(line), "• ", "  ")
