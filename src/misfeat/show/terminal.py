"""Tables of what was found: subgroups, their best sets, and what is worth collecting."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from misfeat.answers.collecting import Worth, feature_worths
from misfeat.answers.top import best_sets, subgroup_rows
from misfeat.show.answer_columns import in_a_row
from misfeat.show.console import NARROW, new_console, new_table, plain_text
from misfeat.visible import visible
from misfeat.words.numbers import percent, percent_between, score_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from misfeat.answers.top import ScoredSet
    from misfeat.selection import Selection

    Rows = Sequence[Mapping[str, Any]]

STAR = "A star marks a feature that the subgroup never recorded."
ABOUT = {
    "population": ", estimated for the population",
    "above_chance": ", less what chance alone would score",
    "sample": ", of the rows as they are",
}
ALL_RECORDED = "Every subgroup recorded every feature."
_GAIN = ("gain", "low", "high")


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
        {name: getattr(worth, name) for name in Worth.COLUMNS}
        for worth in feature_worths(selection, subgroup, size, costs)
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
    subgroup = None if subgroup is None else selection.cohorts.full_name(subgroup)
    sets = best_sets(selection, size, k, subgroup)
    worths = worth_rows(selection, size=size, subgroup=subgroup) if worths is None else worths
    narrow = console.width < NARROW
    subgroups = _subgroup_table(selection, narrow, subgroup)
    _print_titled(console, _about_subgroups(selection), subgroups)
    measure = selection.set_scores.measure
    wholes = dict(zip(selection.cohorts.names, measure.whole.tolist(), strict=True))
    shown = _Columns.of(sets, narrow, measure.unit)
    for name, own in groupby(sets, key=lambda best: best.subgroup):
        _print_titled(console, name, _set_table(list(own), wholes[name], shown))
    if worths:
        table = _worth_table(worths, wholes, measure.unit, k, narrow)
        _print_titled(console, "Worth collecting", table)
    for line in _legend(selection, bool(worths)):
        console.print(visible(line), style="dim", highlight=False, markup=False)


def marked(best: ScoredSet) -> Text:
    """The features of a set, a star behind those that the subgroup never recorded."""
    return _starred(best.features, best.missing)


def _starred(features: Sequence[str], missing: Sequence[str]) -> Text:
    return plain_text(in_a_row(features, missing))


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
    table.add_column("never recorded", overflow="fold")
    if not narrow:
        table.add_column("entropy of target", justify="right")
    for line in subgroup_rows(selection.cohorts):
        if subgroup not in (None, line["subgroup"]):
            continue
        table.add_row(
            plain_text(line["subgroup"]),
            _rows(line),
            plain_text(", ".join(line["missing"]) or "–"),
            *([] if narrow else [f"{line['target_entropy']:.4f}"]),
        )
    return table


def _rows(line: dict[str, Any]) -> str:
    """The rows of a subgroup, and of equal weight as many as tell as much."""
    effective = line.get("effective_rows")
    return f"{line['rows']:,}" + ("" if effective is None else f" (worth {effective:,.0f})")


@dataclass(frozen=True)
class _Columns:
    """What there is to tell of sets, in how much room."""

    interval: bool
    source: bool
    narrow: bool
    unit: str

    @classmethod
    def of(cls, sets: Sequence[ScoredSet], narrow: bool, unit: str) -> _Columns:
        return cls(
            interval=any(best.low < best.high for best in sets),
            source=any(best.source == "predicted" for best in sets),
            narrow=narrow,
            unit=unit,
        )


def _set_table(sets: Sequence[ScoredSet], whole: float, shown: _Columns) -> Table:
    table = new_table(narrow=shown.narrow)
    table.add_column("" if shown.narrow else "rank", justify="right", no_wrap=True)
    table.add_column("features", overflow="fold")
    table.add_column("tells", justify="right", no_wrap=True)
    if not shown.narrow:
        if shown.interval:
            table.add_column("between", justify="right", no_wrap=True)
        if shown.source:
            table.add_column("source", no_wrap=True)
        table.add_column(shown.unit, justify="right", no_wrap=True)
    for best in sets:
        _add_set(table, best, whole, shown)
    return table


def _add_set(table: Table, best: ScoredSet, whole: float, shown: _Columns) -> None:
    low, high = best.low / whole, best.high / whole
    told = percent(best.share, low, high)
    between = percent_between(low, high) if best.low < best.high else ""
    cells = [f"{told}\n{between}" if between else told]
    if not shown.narrow:
        cells = [
            told,
            *([between] if shown.interval else []),
            *([best.source] if shown.source else []),
            score_words(best.score, best.low, best.high),
        ]
    guessed = best.source == "predicted"
    table.add_row(str(best.rank), marked(best), *cells, style="yellow" if guessed else None)


def _worth_table(
    worths: Rows, wholes: Mapping[str, float], unit: str, most: int, narrow: bool
) -> Table:
    """What to collect, the most worthwhile features of each subgroup."""
    costly = any(worth["cost"] != 1 for worth in worths)
    table = new_table(narrow=narrow)
    table.add_column("subgroup", overflow="fold")
    table.add_column("feature", overflow="fold")
    table.add_column("gain", justify="right", no_wrap=True)
    if costly:
        table.add_column("per cost", justify="right", no_wrap=True)
    if not narrow:
        table.add_column("between", justify="right", no_wrap=True)
        table.add_column("likely", justify="right", no_wrap=True)
        table.add_column("best set with it", overflow="fold")
        table.add_column(unit, justify="right", no_wrap=True)
    for worth in worths:
        if worth["rank"] > most:
            continue
        gain, low, high = (worth[name] / wholes[worth["subgroup"]] for name in _GAIN)
        cost = worth["cost"]
        more: tuple[str | Text, ...] = (
            percent_between(low, high),
            likely(worth),
            _starred(worth["best_set"], [worth["feature"]]),
            score_words(worth["gain"], worth["low"], worth["high"]),
        )
        table.add_row(
            plain_text(worth["subgroup"]),
            plain_text(worth["feature"]),
            percent(gain, low, high),
            *([percent(gain / cost, low / cost, high / cost)] if costly else []),
            *(() if narrow else more),
        )
    return table


def likely(worth: Mapping[str, Any]) -> str:
    """How likely recording a feature raises the best score at all."""
    if math.isnan(worth["probability"]):
        return ""
    return f"{100 * worth['probability']:.0f} %{'' if worth['clear'] else ', not clear'}"


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
