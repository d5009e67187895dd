"""Answers for a terminal: tables for people, JSON lines for programs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from misfeat.selection.collecting import WORTH_COLUMNS
from misfeat.selection.ranking import subgroup_rows
from misfeat.visible import visible, visible_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from misfeat.selection.ranking import ScoredSet
    from misfeat.selection.selection import Selection

    Rows = Sequence[Mapping[str, Any]]

WIDTH_IN_A_PIPE = 120
NARROW = 72
"""A terminal with fewer columns than this gets fewer columns of a table."""
STAR = "A star marks a feature that the subgroup never recorded."
ABOUT = {
    "population": ", estimated for the population",
    "above_chance": ", less what chance alone would score",
    "sample": ", of the rows as they are",
}
ALL_RECORDED = "Every subgroup recorded every feature."


def json_lines(selection: Selection, worths: Rows | None = None) -> Iterator[str]:
    """The answer as lines of JSON, each with its ``"kind"``.

    One line a subgroup (``"subgroup"``), one a feature set (``"set"``), one a feature that some
    subgroup would gain by recording (``"worth"``), and what `validate` found (``"validation"``).
    """
    for line in subgroup_rows(selection.cohorts):
        yield as_json("subgroup", line)
    for best in selection.best_sets():
        yield as_json("set", asdict(best))
    for worth in worth_rows(selection) if worths is None else worths:
        yield as_json("worth", worth)
    if selection.validation is not None:
        yield as_json("validation", {"text": selection.validation})


def as_json(kind: str, line: Mapping[str, Any], name: str = "kind") -> str:
    """A line of an answer as JSON, with its kind; what is not a number is null."""
    plain = {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in line.items()
    }
    return visible_json(json.dumps({name: kind, **plain}, ensure_ascii=False))


def worth_rows(
    selection: Selection,
    costs: Mapping[str, float] | None = None,
    size: int | None = None,
    subgroup: str | None = None,
) -> list[dict[str, Any]]:
    """What unrecorded features would be worth; nothing is computed where all were recorded."""
    if not costs and not selection.cohorts.missing.any():
        return []
    return [
        {name: getattr(worth, name) for name in WORTH_COLUMNS}
        for worth in selection.worths(subgroup, size, costs)
    ]


def print_tables(
    selection: Selection,
    console: Console | None = None,
    worths: Rows | None = None,
    *,
    size: int | None = None,
    k: int | None = None,
    subgroup: str | None = None,
) -> None:
    """Print the subgroups with what they never recorded, their best sets, and what to collect.

    Of another size, another number of sets or a single subgroup, where asked for.
    """
    console = console or new_console()
    k = selection.k if k is None else k
    sets = selection.best_sets(size, k, subgroup)
    worths = worth_rows(selection, size=size, subgroup=subgroup) if worths is None else worths
    narrow = console.width < NARROW
    subgroups = _subgroup_table(selection, narrow, subgroup)
    _print_titled(console, _about_subgroups(selection), subgroups)
    shown = _Columns.of(sets, narrow)
    for name in dict.fromkeys(best.subgroup for best in sets):
        own = [best for best in sets if best.subgroup == name]
        _print_titled(console, name, _set_table(own, shown))
    if worths:
        _print_titled(console, "Worth collecting", _worth_table(worths, k, narrow))
    for line in _legend(selection, bool(worths)):
        console.print(visible(line), style="dim", highlight=False, markup=False)


class _Answers(Console):
    """Standard output; who stops reading it is told apart from what goes wrong."""

    def on_broken_pipe(self) -> NoReturn:
        """Let the command line end in its own way."""
        raise BrokenPipeError


def new_console() -> Console:
    """Standard output, wide enough for whole names where it is not a terminal."""
    console = _Answers()
    return console if console.is_terminal else _Answers(width=WIDTH_IN_A_PIPE)


def new_table(title: str | None = None, narrow: bool = False) -> Table:
    """A table in the style of all of them; the title is text, whatever it holds."""
    text = None if title is None else plain_text(title, style="bold")
    padding = (0, 0) if narrow else (0, 1)
    return Table(title=text, title_justify="left", box=box.SIMPLE, padding=padding)


def plain_text(text: str, style: str = "") -> Text:
    """Text as rich prints it, neither markup nor anything that a terminal obeys."""
    return Text(visible(text), style=style)


def marked(best: ScoredSet) -> Text:
    """The features of a set, a star behind those that the subgroup never recorded."""
    return _starred(best.features, best.missing)


def _starred(features: Sequence[str], missing: Sequence[str]) -> Text:
    return plain_text(", ".join(f"{f}*" if f in missing else f for f in features))


def _print_titled(console: Console, title: str, table: Table) -> None:
    """A title of its own, since rich wraps a table's title to the table's width."""
    console.print(plain_text(title, style="bold"))
    console.print(table)


def _about_subgroups(selection: Selection) -> str:
    return f"Subgroups, and what each never recorded (target: {selection.cohorts.target})"


def _subgroup_table(selection: Selection, narrow: bool, subgroup: str | None = None) -> Table:
    table = new_table(narrow=narrow)
    table.add_column("subgroup", overflow="fold")
    table.add_column("rows", justify="right", no_wrap=True)
    if not narrow:
        table.add_column("entropy of target", justify="right")
    table.add_column("never recorded", overflow="fold")
    for line in subgroup_rows(selection.cohorts):
        if subgroup not in (None, line["subgroup"]):
            continue
        table.add_row(
            plain_text(line["subgroup"]),
            f"{line['rows']:,}",
            *([] if narrow else [f"{line['target_entropy']:.4f}"]),
            plain_text(", ".join(line["missing"]) or "–"),
        )
    return table


@dataclass(frozen=True)
class _Columns:
    """What there is to tell of sets, in how much room."""

    interval: bool
    source: bool
    narrow: bool

    @classmethod
    def of(cls, sets: Sequence[ScoredSet], narrow: bool) -> _Columns:
        return cls(
            interval=any(best.low < best.high for best in sets),
            source=any(best.source == "predicted" for best in sets),
            narrow=narrow,
        )


def _set_table(sets: Sequence[ScoredSet], shown: _Columns) -> Table:
    table = new_table(narrow=shown.narrow)
    table.add_column("" if shown.narrow else "rank", justify="right", no_wrap=True)
    _add_set_columns(table, shown)
    for best in sets:
        _add_set(table, best, Text(str(best.rank)), shown)
    return table


def _add_set_columns(table: Table, shown: _Columns) -> None:
    table.add_column("features", overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    if not shown.narrow:
        table.add_column("share", justify="right", no_wrap=True)
        if shown.interval:
            table.add_column("between", justify="right", no_wrap=True)
        if shown.source:
            table.add_column("source", no_wrap=True)


def _add_set(table: Table, best: ScoredSet, first: Text, shown: _Columns) -> None:
    known = best.low == best.high
    score = f"{best.score:.4f}"
    cells = [score if known else f"{score}\n{best.low:.4f}–{best.high:.4f}"]
    if not shown.narrow:
        between = "" if known else f"{best.low:.4f} – {best.high:.4f}"
        cells = [
            score,
            f"{100 * best.share:.1f} %",
            *([between] if shown.interval else []),
            *([best.source] if shown.source else []),
        ]
    guessed = best.source == "predicted"
    table.add_row(first, marked(best), *cells, style="yellow" if guessed else None)


def _worth_table(worths: Rows, most: int, narrow: bool) -> Table:
    """What to collect, the most worthwhile features of each subgroup."""
    costly = any(worth["cost"] != 1 for worth in worths)
    table = new_table(narrow=narrow)
    table.add_column("subgroup", overflow="fold")
    table.add_column("feature", overflow="fold")
    table.add_column("gain", justify="right", no_wrap=True)
    if not narrow:
        table.add_column("between", justify="right", no_wrap=True)
        table.add_column("likely", justify="right", no_wrap=True)
        table.add_column("best set with it", overflow="fold")
        if costly:
            table.add_column("cost", justify="right", no_wrap=True)
    if costly:
        table.add_column("per cost", justify="right", no_wrap=not narrow)
    for worth in worths:
        if worth["rank"] > most:
            continue
        more: tuple[str | Text, ...] = (
            f"{worth['low']:.4f} – {worth['high']:.4f}",
            _likely(worth),
            _starred(worth["best_set"], [worth["feature"]]),
            *([f"{worth['cost']:g}"] if costly else []),
        )
        table.add_row(
            plain_text(worth["subgroup"]),
            plain_text(worth["feature"]),
            f"{worth['gain']:.4f}",
            *(() if narrow else more),
            *([f"{worth['gain_per_cost']:.4f}"] if costly else []),
        )
    return table


def _likely(worth: Mapping[str, Any]) -> str:
    """How likely recording a feature raises the best score at all."""
    if math.isnan(worth["probability"]):
        return ""
    return f"{100 * worth['probability']:.0f} %{'' if worth['clear'] else ', not clear'}"


def _legend(selection: Selection, worths: bool) -> Iterator[str]:
    lacking = bool(selection.cohorts.missing.any())
    unit = selection.book.measure.unit
    scores = f"Scores are the {selection.book.measure.words} with the target ({unit})"
    about = ABOUT[selection.book.estimate.name]
    yield f"{scores}{about}. {STAR if lacking else ALL_RECORDED}"
    if worths:
        yield (
            "Gain is by how much a subgroup's best score is expected to rise if it recorded the "
            f"feature{'' if selection.confidence is None else ', and how likely it rises at all'}."
        )
    if selection.validation is not None:
        yield selection.validation
