"""Answers for a terminal: tables for people, JSON lines for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from misfeat.ranking import subgroup_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.ranking import ScoredSet
    from misfeat.selector import SubgroupSelector

WIDTH_IN_A_PIPE = 120
SCORES_ARE = {
    "mutual_info": "Scores are joint mutual information with the target, in nats.",
    "r2": "Scores are squared multiple correlations with the target.",
}
STAR = "A star marks a feature that the subgroup never recorded."


def json_lines(selector: SubgroupSelector) -> Iterator[str]:
    """One line a subgroup (``"kind": "subgroup"``), then one a feature set (``"kind": "set"``)."""
    for line in subgroup_rows(selector.cohorts_):
        yield json.dumps({"kind": "subgroup", **line}, ensure_ascii=False)
    for best in selector.best_sets():
        yield json.dumps({"kind": "set", **asdict(best)}, ensure_ascii=False)


def print_tables(selector: SubgroupSelector, console: Console | None = None) -> None:
    """Print the subgroups with what they never recorded, and their best sets."""
    console = console or new_console()
    console.print(_subgroup_table(selector))
    sets = selector.best_sets()
    for name in selector.cohorts_.names:
        console.print(_set_table(name, [s for s in sets if s.subgroup == name]))
    legend = f"{SCORES_ARE[selector.measure]} {STAR}"
    console.print(legend, style="dim", highlight=False)


def print_best(selector: SubgroupSelector, shown: int, console: Console) -> None:
    """Print the subgroups, and the few best sets of all of them in one table."""
    console.print(_subgroup_table(selector))
    table = new_table(f"The {shown} best sets of {selector.size} features in each")
    table.add_column("subgroup", overflow="fold")
    _add_set_columns(table)
    for best in selector.best_sets(k=shown):
        first = best.rank == 1
        _add_set(table, best, Text(best.subgroup if first else ""))
    console.print(table)
    legend = f"{SCORES_ARE[selector.measure]} {STAR}"
    console.print(f"{legend}\n", style="dim", highlight=False)


def new_console() -> Console:
    """Standard output, wide enough for whole names where it is not a terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH_IN_A_PIPE)


def new_table(title: str) -> Table:
    """A table in the style of all of them; the title is text, whatever it holds."""
    return Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE)


def _subgroup_table(selector: SubgroupSelector) -> Table:
    target = selector.cohorts_.target
    table = new_table(f"Subgroups, and what each never recorded (target: {target})")
    table.add_column("subgroup", overflow="fold")
    table.add_column("rows", justify="right")
    table.add_column("entropy of target", justify="right")
    table.add_column("never recorded", overflow="fold")
    for line in subgroup_rows(selector.cohorts_):
        table.add_row(
            Text(line["subgroup"]),
            f"{line['rows']:,}",
            f"{line['target_entropy']:.4f}",
            Text(", ".join(line["missing"]) or "–"),
        )
    return table


def _set_table(name: str, sets: list[ScoredSet]) -> Table:
    table = new_table(name)
    table.add_column("rank", justify="right")
    _add_set_columns(table)
    for best in sets:
        _add_set(table, best, Text(str(best.rank)))
    return table


def _add_set_columns(table: Table) -> None:
    table.add_column("features", overflow="fold")
    table.add_column("score", justify="right")
    table.add_column("between", justify="right")
    table.add_column("source")


def _add_set(table: Table, best: ScoredSet, first: Text) -> None:
    predicted = best.source == "predicted"
    table.add_row(
        first,
        marked(best),
        f"{best.score:.4f}",
        f"{best.low:.4f} – {best.high:.4f}" if predicted else "",
        best.source,
        style="yellow" if predicted else None,
    )


def marked(best: ScoredSet) -> Text:
    """The features of a set, a star behind those that the subgroup never recorded."""
    return Text(", ".join(f"{f}*" if f in best.missing else f for f in best.features))
