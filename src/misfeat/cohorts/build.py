"""From any table to cohorts: profile the columns, choose coders, one group-by, and lay out."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts import assemble
from misfeat.cohorts.coding import Kind
from misfeat.cohorts.columns import (
    IDENTIFIER,
    NEVER_RECORDED,
    Profile,
    feature_coder,
    profile_column,
    target_coder,
)
from misfeat.cohorts.groups import prepare
from misfeat.cohorts.model import Cohorts, ColumnReport
from misfeat.cohorts.opening import open_table
from misfeat.cohorts.rules import CohortRules, Notes
from misfeat.exceptions import MisfeatError, listed, no_such_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from misfeat.cohorts.coding import Coder
    from misfeat.cohorts.table import Table
    from misfeat.machine.progress import Progress


def build_cohorts(
    X: object,
    y: object,
    *,
    groups: object = None,
    bins: int | Mapping[str, Any] = 5,
    binning: str = "quantile",
    max_categories: int = 9,
    missing_values: object = None,
    missing_threshold: float = 0.95,
    sporadic: str = "category",
    min_rows: int = 1,
    small_groups: str = "merge",
    missing_groups: str = "own",
    progress: Progress | None = None,
) -> Cohorts:
    """Cut a table into subgroups and code it.

    Parameters
    ----------
    X : dataframe, lazy frame, relation, array, mapping of columns, or path
        The table: pandas, polars, PyArrow, DuckDB, PySpark, Dask, Ibis, NumPy, or a CSV, TSV or
        Parquet path.
    y : str, array or series
        The target: the name of a column of `X`, or its values.
    groups : None, str, dict or list, default=None
        What tells the cohorts apart: a column, a list of columns, ``{"age": [40]}``,
        ``{"grade": {"B": "B", "*": "other"}}``, ``{"senior": "age > 65"}``, or a list of these.
    bins : int or dict, default=5
        Bins of an ordered column with more than `max_categories` distinct values. A dict gives a
        number or the cut points of single columns, ``"*"`` the number for all others.
    binning : {"quantile", "uniform"}, default="quantile"
        Equally full or equally wide bins, learned over all cohorts together.
    max_categories : int, default=9
        A column with at most so many distinct values is taken as it is. Text with more keeps its
        most frequent values; the rest become one.
    missing_values : value, list or dict, default=None
        Further values that mean missing: ``["?", -9]``, or by column ``{"chol": [0]}``.
    missing_threshold : float, default=0.95
        A feature that is missing in this share of a cohort's rows is systematically missing there.
    sporadic : {"category", "available"}, default="category"
        What becomes of other missing values: a category of their own, or rows that count only for
        sets of features that they have in full.
    min_rows : int, default=1
        Subgroups with fewer rows are merged or dropped, as `small_groups` says.
    small_groups : {"merge", "drop"}, default="merge"
        What becomes of small subgroups.
    missing_groups : {"own", "drop"}, default="own"
        What becomes of rows in which a group column is missing.
    progress : callable, default=None
        Called as ``progress(what, done, total)``.

    Returns
    -------
    Cohorts
        Coded, weighted rows of every subgroup.

    Examples
    --------
    >>> cohorts = build_cohorts(
    ...     {"site": ["a", "a", "b", "b"], "x": [0, 1, None, None], "y": [0, 1, 0, 1]},
    ...     "y",
    ...     groups="site",
    ... )
    >>> cohorts.names, cohorts.missing_features("site=b")
    (('site=a', 'site=b'), ('x',))
    """
    rules = CohortRules.parse(
        groups=groups,
        bins=bins,
        binning=binning,
        missing_values=missing_values,
        max_categories=max_categories,
        missing_threshold=missing_threshold,
        sporadic=sporadic,
        min_rows=min_rows,
        small_groups=small_groups,
        missing_groups=missing_groups,
    )
    table, target = open_table(X, y, rules.codes)
    return cohorts_of(table, target, rules, progress)


def cohorts_of(
    table: Table, target: str, rules: CohortRules, progress: Progress | None = None
) -> Cohorts:
    """Build the cohorts of an open table; see `build_cohorts`."""
    check_columns(table, target, rules)
    notes = Notes()
    profiles = profile_columns(table, rules, progress)
    groupings = [prepare(rule, profiles) for rule in rules.groups]
    class_coder, target_report = target_coder(table, profiles[target], rules.bins)
    coders, reports = _feature_coders(table, target_report, profiles, rules)
    _say_left_out(reports, profiles, notes)

    if progress is not None:
        progress("Counting rows", 0, 1)
    rows = table.count_codes([*(g.coder for g in groupings), *coders.values(), class_coder])
    table.close()
    if progress is not None:
        progress("Counting rows", 1, 1)

    seen = assemble.subgroups_in(rows, groupings, rules)
    rows = assemble.rows_with_target(rows, len(class_coder.labels), target, notes)
    runs, names = assemble.find_cohorts(rows, groupings, rules, notes)
    codes = rows.codes[len(groupings) : -1]
    missing = assemble.systematically_missing(
        codes,
        rows.weights,
        runs,
        len(names),
        [len(coder.labels) for coder in coders.values()],
        rules.missing_threshold,
    )
    kept = [not everywhere for everywhere in np.all(missing, axis=0)]
    _leave_out_never_recorded(compress(coders, map(not_, kept)), reports, notes)
    labels = {feature: coders[feature].labels for feature in compress(coders, kept)}
    laid_out = assemble.cohort_rows(
        [*compress(codes, kept), rows.codes[-1]],
        rows.weights,
        runs,
        missing[:, kept],
        [*map(len, labels.values()), len(class_coder.labels)],
    )
    categories = assemble.settle_sporadic(laid_out.codes[:-1], labels.values(), rules.sporadic)
    cohorts = Cohorts(
        names=tuple(names),
        features=tuple(labels),
        target=target,
        codes=laid_out.codes[:-1],
        target_codes=laid_out.codes[-1],
        weights=laid_out.weights,
        offsets=laid_out.offsets,
        missing=missing[:, kept],
        categories=categories,
        classes=class_coder.labels,
        columns=tuple(reports),
        seen=seen,
    )
    _warn_of_constant_targets(cohorts, notes)
    return replace(cohorts, notes=tuple(notes.texts))


def subgroup_names(table: Table, rules: CohortRules) -> tuple[str, ...]:
    """The subgroups that a table has, whether they are small or not; it may have few rows."""
    check_columns(table, "", rules)
    columns = dict.fromkeys(column for rule in rules.groups for column in rule.columns)
    n_rows = table.n_rows()
    profiles = {name: profile_column(table, name, rules.codes, n_rows) for name in columns}
    groupings = [prepare(rule, profiles, whole=False) for rule in rules.groups]
    rows = table.count_codes([grouping.coder for grouping in groupings])
    table.close()
    return assemble.subgroups_in(rows, groupings, rules)


def check_columns(table: Table, target: str, rules: CohortRules) -> None:
    """Refuse names of columns that the table does not have, and a target that is a group."""
    for rule in rules.groups:
        for column in rule.columns:
            if column not in table.names:
                raise no_such_column(column, table.names, "a group")
            if column == target:
                raise MisfeatError(
                    f"{target!r} is both the target and a group; within a subgroup it would tell "
                    "nothing. Take it out of groups."
                )
    for parameter, columns in (
        ("bins", rules.bins.by_column),
        ("missing_values", rules.codes.by_column),
    ):
        for column in columns:
            if column not in table.names:
                raise no_such_column(column, table.names, parameter)


def profile_columns(
    table: Table, rules: CohortRules, progress: Progress | None
) -> dict[str, Profile]:
    """Count the values of every column, inside the engine."""
    n_rows = table.n_rows()
    if n_rows == 0:
        raise MisfeatError("The table has no rows; check the file or the filter that made it.")
    profiles = {}
    for done, column in enumerate(table.names):
        if progress is not None:
            progress("Reading columns", done, len(table.names))
        profiles[column] = profile_column(table, column, rules.codes, n_rows)
    if progress is not None:
        progress("Reading columns", len(table.names), len(table.names))
    return profiles


def _feature_coders(
    table: Table, target: ColumnReport, profiles: Mapping[str, Profile], rules: CohortRules
) -> tuple[dict[str, Coder], list[ColumnReport]]:
    """Choose a coder for every feature, and report on every column in the table's order."""
    grouped = {column for rule in rules.groups for column in rule.columns}
    coders: dict[str, Coder] = {}
    reports: list[ColumnReport] = []
    for column, profile in profiles.items():
        if column == target.column:
            reports.append(target)
        elif column in grouped:
            reports.append(ColumnReport(column, "group", "cohorts", missing=profile.missing))
        else:
            coder, report = feature_coder(table, profile, rules.bins, rules.max_categories)
            reports.append(report)
            if coder is not None:
                coders[column] = coder
    return coders, reports


def _say_left_out(
    reports: Sequence[ColumnReport], profiles: Mapping[str, Profile], notes: Notes
) -> None:
    for report in reports:
        if report.role != "left out":
            continue
        if report.treatment == NEVER_RECORDED:
            notes.warn(_never_recorded(report.column))
        elif report.treatment == IDENTIFIER and profiles[report.column].kind is not Kind.TEXT:
            notes.warn(
                f"Column {report.column!r} is left out as an identifier: its values are whole "
                f"numbers, nearly all distinct. If they measure something, pass "
                f"bins={{{report.column!r}: 5}}; else drop the column."
            )
        else:
            notes.add(f"Column {report.column!r} is left out: {report.treatment}.")


def _never_recorded(feature: str) -> str:
    return (
        f"Feature {feature!r} is missing in every cohort and is left out; check missing_values and "
        "missing_threshold if it should not be."
    )


def _leave_out_never_recorded(
    features: Iterable[str], reports: list[ColumnReport], notes: Notes
) -> None:
    for feature in features:
        notes.warn(_never_recorded(feature))
        position = next(i for i, report in enumerate(reports) if report.column == feature)
        reports[position] = ColumnReport(
            feature, "left out", NEVER_RECORDED, missing=reports[position].missing
        )


def _warn_of_constant_targets(cohorts: Cohorts, notes: Notes) -> None:
    constant = [cohort.name for cohort in cohorts if len(np.unique(cohort.target)) == 1]
    if constant:
        one = len(constant) == 1
        notes.warn(
            f"The target {cohorts.target!r} has a single value in the subgroup{'' if one else 's'} "
            f"{listed(constant)}; every score there is 0. Merge {'it' if one else 'them'} with "
            "another subgroup if that is not meant."
        )
