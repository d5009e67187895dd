"""An open table, looked over once: its columns counted and its groupings made ready.

Everything that is made of a table starts from here, so that its columns are read once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from misfeat.cohorts.columns import profile_column
from misfeat.cohorts.groups import AUTO, ByValue, prepare
from misfeat.cohorts.proposing import Proposal, proposed
from misfeat.cohorts.targets import check_target
from misfeat.cohorts.weight_columns import weighing_of
from misfeat.exceptions import MisfeatError, Setting, no_such_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from misfeat.cohorts.groups import Grouping
    from misfeat.cohorts.profiles import Profile
    from misfeat.cohorts.rules import CohortRules
    from misfeat.cohorts.table import Table
    from misfeat.cohorts.weighing import Weighing
    from misfeat.machine.progress import Progress


@dataclass(frozen=True)
class ProfiledTable:
    """An open table, and what is known of it before its rows are coded."""

    table: Table
    target: str
    rules: CohortRules
    profiles: Mapping[str, Profile]
    """What is known of each column, in the table's order."""
    groupings: tuple[Grouping, ...]
    chosen: Proposal | None = None
    """How that was chosen, where it was."""
    weighing: Weighing | None = None
    """How rows are weighed; None where all weigh the same."""


def profile_table(
    table: Table, target: str, rules: CohortRules, progress: Progress | None = None
) -> ProfiledTable:
    """Check the names of columns, and count the values of every column inside the engine."""
    check_columns(table, target, rules)
    if table.n_rows() == 0:
        raise MisfeatError("The table has no rows; check the file or the filter that made it.")
    weighing, weights = None, rules.weights
    if weights.column is not None:
        weighing = weighing_of(table, weights.column, weights.kind)
        table = table if weighing is None else table.weighed(weighing)
    # What only says how much a row counts is not read; strata and clusters are, as they are.
    names = [name for name in table.names if name != weights.column]
    n_rows = table.n_rows()
    found = {}
    for done, column in enumerate([target, *(name for name in names if name != target)]):
        if progress is not None:
            progress("Reading columns", done, len(names))
        found[column] = profile_column(table, column, rules.codes, n_rows, rules.way(column))
        if column == target:
            check_target(found[column], rules)
    profiles = {column: found[column] for column in names}
    if progress is not None:
        progress("Reading columns", len(names), len(names))
    chosen = None
    if rules.auto:
        rules, chosen = _with_groups_chosen(table, target, rules, profiles)
    groupings = tuple(prepare(rule, profiles) for rule in rules.groups)
    return ProfiledTable(table, target, rules, profiles, groupings, chosen, weighing)


def _with_groups_chosen(
    table: Table, target: str, rules: CohortRules, profiles: Mapping[str, Profile]
) -> tuple[CohortRules, Proposal | None]:
    """Rules with columns that tell subgroups apart; one that is named so is meant itself."""
    if AUTO in profiles:
        named = replace(rules, groups=(ByValue(AUTO, {}),), auto=False)
        check_columns(table, target, named)
        return named, None
    chosen = proposed(table, profiles, target)
    return replace(rules, groups=chosen.rules), chosen


def check_columns(table: Table, target: str | None, rules: CohortRules) -> None:
    """Refuse names of columns that the table does not have, and a target that is a group."""
    for column in rules.group_columns:
        if column not in table.names:
            raise no_such_column(column, table.names, Setting("groups"))
        if column == target:
            raise MisfeatError(
                "{column!r} is both the target and a group; within a subgroup it would tell "
                "nothing.",
                remedy="Take it out of {groups}.",
                column=column,
                groups=Setting("groups"),
            )
    if target is not None:
        rules.weights.check(table.names, target, rules.group_columns)
    _check_named(rules.bins.by_column, "bins", table)
    _check_named(rules.codes.by_column, "missing_values", table)
    _check_named(rules.ways, "read", table)


def _check_named(columns: Iterable[str], parameter: str, table: Table) -> None:
    for column in columns:
        if column not in table.names:
            raise no_such_column(column, table.names, Setting(parameter))
