"""An open table, looked over once: weights checked, columns counted and groupings made ready.

Everything that is made of a table starts from here, so that its columns are read once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coders import Kind
from misfeat.cohorts.columns import profile_column
from misfeat.cohorts.groups import AUTO, ByValue, Grouping, prepare
from misfeat.cohorts.proposing import Proposal, proposed
from misfeat.cohorts.targets import check_target
from misfeat.cohorts.weighing import FREQUENCY, MOST_MASS, SAMPLING, Weighing, WeightRange
from misfeat.exceptions import MisfeatError, Setting, no_such_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from misfeat.cohorts.profiles import Profile
    from misfeat.cohorts.rules import CohortRules
    from misfeat.cohorts.table import Table
    from misfeat.machine.progress import Progress

MOST_APART = 1e5
"""Weights that differ by more than this factor would leave one row a subgroup that counts."""
LEAST_WEIGHT = 1e-140
"""The heaviest row weighs at least this, so that squares of weights are numbers."""


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
    named: dict[str, Iterable[str]] = {
        "bins": rules.bins.by_column,
        "missing_values": rules.codes.by_column,
        "read": rules.ways,
    }
    for parameter, columns in named.items():
        for column in columns:
            if column not in table.names:
                raise no_such_column(column, table.names, Setting(parameter))


def weighing_of(table: Table, column: str, kind: str) -> Weighing | None:
    """Check a column of weights, and say how they are summed; None where all are the same."""
    if column not in table.names:
        raise no_such_column(column, table.names, "the weights")
    if table.kind(column) not in (Kind.INTEGER, Kind.NUMBER):
        raise MisfeatError(
            "The weights {column!r} are {kind} values; pass numbers, one a row, none negative.",
            column=column,
            kind=table.kind(column).value,
        )
    found = table.weight_range(column)
    _check_range(found, column)
    n_rows = table.n_rows()
    if kind == FREQUENCY:
        _check_frequencies(found, column, n_rows)
        return Weighing(column, frequency=True)
    if found.least == found.greatest:
        return None
    if not LEAST_WEIGHT <= found.greatest <= 1.0 / LEAST_WEIGHT:
        raise MisfeatError(
            "The weights {column!r} go up to {greatest:g}, whose square no number holds; divide "
            "all of them by it.",
            column=column,
            greatest=found.greatest,
        )
    square_scale = _scale(n_rows, found.greatest * found.greatest)
    lost = square_scale * found.lightest**2 < 1.0
    if lost or found.greatest > MOST_APART * found.lightest:
        raise MisfeatError(
            "The weights {column!r} go from {lightest:g} to {greatest:g}, too far apart to weigh "
            "rows against each other; check the largest, or cap it.",
            column=column,
            lightest=found.lightest,
            greatest=found.greatest,
        )
    return Weighing(
        column,
        frequency=False,
        scale=_scale(n_rows, found.greatest),
        square_scale=square_scale,
        leaves_out=found.least == 0,
    )


def _scale(n_rows: int, greatest: float) -> float:
    """The power of 2 that makes so many numbers, none greater than this one, large but not too."""
    most = MOST_MASS / n_rows / greatest
    if not np.isfinite(most) or most == 0.0:
        raise MisfeatError(
            "Weights of {greatest:g} cannot be summed up; divide all weights by a constant.",
            greatest=greatest,
        )
    return float(2.0 ** np.floor(np.log2(most)))


def _check_range(found: WeightRange, column: str) -> None:
    if found.missing:
        raise MisfeatError(
            "The weights {column!r} are missing in {rows:,} rows; leave these rows out, or give "
            "them a weight.",
            column=column,
            rows=found.missing,
        )
    if found.least < 0:
        raise MisfeatError(
            "The weights {column!r} hold {value:g}; no weight may be negative.",
            remedy="Check where it comes from.",
            column=column,
            value=found.least,
        )
    if not np.isfinite(found.greatest):
        raise MisfeatError(
            "The weights {column!r} hold an infinite value; leave its row out, or correct it.",
            column=column,
        )
    if found.greatest == 0:
        raise MisfeatError(
            "All weights {column!r} are zero, so that no row counts; pass the weights of the rows.",
            column=column,
        )


def _check_frequencies(found: WeightRange, column: str, n_rows: int) -> None:
    if not found.whole:
        raise MisfeatError(
            "{setting} takes whole numbers, how often each row occurs, and {column!r} holds "
            "fractions; use {other}.",
            setting=Setting("weights", FREQUENCY),
            column=column,
            other=Setting("weights", SAMPLING),
        )
    if found.greatest * n_rows > MOST_MASS:
        raise MisfeatError(
            "The weights {column!r} are too large for frequencies, up to {value:g}; use {other}.",
            column=column,
            value=found.greatest,
            other=Setting("weights", SAMPLING),
        )
