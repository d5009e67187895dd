"""From any table to cohorts: profile the columns, choose coders, one group-by, and lay out."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts import assembly
from misfeat.cohorts.assembly import CodedTable, counted_rows, with_few_values
from misfeat.cohorts.binning import TELLS_NOTHING
from misfeat.cohorts.coding import NEVER_RECORDED, UNSCORED, feature_coder, left_out, profile_column
from misfeat.cohorts.design import design_coders, effective_of_cohorts
from misfeat.cohorts.model import Cohorts, ColumnAudit, no_ranks
from misfeat.cohorts.profiles import FREE_TEXT, IDENTIFIER, suspects
from misfeat.cohorts.profiling import ProfiledTable, check_columns, profile_table
from misfeat.cohorts.rules import ByCuts, CohortRules, Notes, prepare
from misfeat.cohorts.subgroups import Runs, joined_recordings, rows_to_tell
from misfeat.cohorts.targets import target_coding
from misfeat.cohorts.weights import SAMPLING, WeightRules
from misfeat.exceptions import Setting, listed
from misfeat.reading.coders import Coder, Kind
from misfeat.reading.inputs import open_table, with_weights

if TYPE_CHECKING:
    from collections.abc import Iterable

    from misfeat.cohorts.coding import Coding
    from misfeat.cohorts.profiles import Profile, Taken
    from misfeat.reading.table import Table
    from misfeat.reading.values import Value
    from misfeat.runtime.progress import Progress


def build_cohorts(
    X: object,
    y: object,
    *,
    groups: object = None,
    coding: Coding | None = None,
    sample_weight: object = None,
    weights: str = SAMPLING,
    design: object = None,
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
        What tells the subgroups apart: a column, a list of columns, ``{"age": [40]}``,
        ``{"grade": {"B": "B", "*": "other"}}``, ``{"senior": "age > 65"}``, or a list of these;
        ``"auto"``: the few columns that explain most of where features are missing.
    coding : Coding, default=None
        How columns become codes. None: ``Coding()``.
    sample_weight : str, array or series, default=None
        How much every row counts: the name of a column of `X`, or values.
    weights : {"sampling", "frequency"}, default="sampling"
        Whether weights say how many of the population a row stands for, or how often it occurs.
    design : dict, default=None
        How rows were drawn: the columns of ``"strata"`` and of ``"cluster"``.
    progress : callable, default=None
        Called as ``progress(what, done, total)``.

    Returns
    -------
    Cohorts
        The coded, weighted rows of every subgroup.

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
    rules = CohortRules.parse(groups, coding)
    table, target = open_table(X, y, rules.codes)
    table, column = with_weights(table, sample_weight)
    rules = replace(rules, weights=WeightRules.parse(column, weights, design))
    return cohorts_of(table, target, rules, progress)


def cohorts_of(
    table: Table, target: str, rules: CohortRules, progress: Progress | None = None
) -> Cohorts:
    """Build the cohorts of an open table, and close it; see `build_cohorts`."""
    with closing(table):
        profiled = profile_table(table, target, rules, progress)
        coded = code_table(profiled, progress)
    return assembled(profiled, coded)[0]


def code_table(
    profiled: ProfiledTable, progress: Progress | None = None, *, with_grids: bool = True
) -> CodedTable:
    """Choose a coder for every column, and collapse equal rows, in one group-by of the engine."""
    notes = Notes()
    table, rules = profiled.table, profiled.rules
    if profiled.chosen is not None:
        notes.say(profiled.chosen.sentence())
    profile = profiled.profiles[profiled.target]
    target = target_coding(table, profile, rules, with_grids=with_grids)
    features, audits = _feature_coders(profiled, target.audit)
    say_how_text_was_read(profiled.profiles.values(), notes)
    if progress is not None:
        progress("Counting rows", 0, 1)
    groups = [grouping.coder for grouping in profiled.groupings]
    rows = counted_rows(profiled, [*groups, *features.values(), target.coder], notes)
    if profiled.weighing is not None and profiled.weighing.leaves_out:
        column = profiled.weighing.column
        notes.add("Rows whose weight in {column!r} is 0 are left out.", column=column)
    drawn = None
    if rules.weights.strata is not None or rules.weights.cluster is not None:
        drawn = table.count_codes([*groups, target.coder, *design_coders(profiled)])
    if progress is not None:
        progress("Counting rows", 1, 1)
    labels = {name: coder.labels for name, coder in features.items()}
    coded = CodedTable(rows, labels, target, audits, notes, drawn)
    coded = with_few_values(coded, profiled)
    _say_left_out(coded.audits, profiled, notes)
    return coded


def assembled(profiled: ProfiledTable, coded: CodedTable) -> tuple[Cohorts, Runs]:
    """Find the cohorts that coded rows belong to, and lay the rows out cohort by cohort."""
    rules, groupings, notes = profiled.rules, profiled.groupings, coded.notes
    target, n_codes = coded.target, len(coded.target.coder.labels)
    rows = assembly.rows_with_target(coded.rows, n_codes, profiled.target, notes)
    cardinalities = {name: len(labels) for name, labels in coded.features.items()}
    n_classes = len(target.classes)
    counted = rows.weights if rows.masses is None else rows.masses
    by_class = np.bincount(target.classes_of(rows.codes[-1]), counted, minlength=n_classes)
    floor = rows_to_tell(list(cardinalities.values()), by_class)
    runs, names = assembly.find_cohorts(
        rows, groupings, cardinalities, rules, notes, floor, profiled.weighing
    )
    codes = rows.codes[len(groupings) : -1]
    threshold = rules.coding.missing_threshold
    missing = assembly.systematically_missing(runs, len(names), threshold)
    kept = [not everywhere for everywhere in np.all(missing, axis=0)]
    never = compress(coded.features, map(not_, kept))
    audits = _with_never_recorded(coded.audits, list(never), notes)
    labels = {name: coded.features[name] for name in compress(coded.features, kept)}
    laid_out = assembly.cohort_rows(
        [*compress(codes, kept), rows.codes[-1]],
        rows,
        runs,
        missing[:, kept],
        [*map(len, labels.values()), n_codes],
        profiled.weighing,
    )
    categories, gap_codes = assembly.settle_sporadic(
        laid_out.codes[:-1], labels.values(), rules.coding.sporadic
    )
    cohorts = Cohorts(
        names=tuple(names),
        features=tuple(labels),
        target=profiled.target,
        codes=laid_out.codes[:-1],
        target_codes=target.classes_of(laid_out.codes[-1]),
        weights=laid_out.weights,
        offsets=laid_out.offsets,
        missing=missing[:, kept],
        categories=categories,
        classes=target.classes,
        gap_codes=gap_codes,
        columns=audits,
        seen=assembly.subgroups_in(coded.rows, groupings, rules),
        joined=joined_recordings(runs, names, list(cardinalities), threshold),
        ranks=laid_out.codes[-1] if len(target.grids) else no_ranks(),
        grids=target.grids,
        masses=laid_out.masses,
        heaviest=laid_out.heaviest,
        effective=effective_of_cohorts(profiled, coded, rows, runs, len(names)),
    )
    _warn_of_constant_targets(cohorts, notes)
    return replace(cohorts, notes=tuple(notes.texts)), runs


def subgroup_names(table: Table, rules: CohortRules) -> tuple[str, ...]:
    """The subgroups that a table has, whether they are small or not; it may have few rows."""
    with closing(table):
        check_columns(table, None, rules)
        n_rows = table.n_rows()
        columns = rules.group_columns
        profiles = {
            name: profile_column(table, name, rules.codes, n_rows, rules.way(name))
            for name in columns
        }
        groupings = [prepare(rule, profiles, whole=False) for rule in rules.groups]
        rows = table.count_codes([grouping.coder for grouping in groupings])
    return assembly.subgroups_in(rows, groupings, rules)


def _feature_coders(
    profiled: ProfiledTable, target: ColumnAudit
) -> tuple[dict[str, Coder], list[ColumnAudit]]:
    rules = profiled.rules
    grouped, roles = set(rules.group_columns), rules.weights.roles
    coders: dict[str, Coder] = {}
    audits: list[ColumnAudit] = []
    for column in profiled.table.names:
        if column == target.column:
            found = suspects(profiled.profiles[column])
            audits.append(replace(target, suspects=found.values, why_suspect=found.why))
        elif column in grouped:
            profile = profiled.profiles[column]
            edges = _cuts_of(column, rules) if rules.auto else ()
            audits.append(replace(left_out(profile, "subgroups"), role="group", edges=edges))
        elif column in roles:
            audits.append(ColumnAudit(column, *roles[column]))
        else:
            profile = profiled.profiles[column]
            kept = rules.is_kept(column)
            coder, audit = feature_coder(
                profiled.table, profile, rules.bins, rules.coding, kept=kept
            )
            if coder is not None:
                coders[column] = coder
                found = suspects(profile)
                audit = replace(audit, suspects=found.values, why_suspect=found.why)
            audits.append(audit)
    return coders, audits


def _cuts_of(column: str, rules: CohortRules) -> tuple[Value, ...]:
    """Where a column that was chosen to tell subgroups apart is cut."""
    cut = (rule for rule in rules.groups if isinstance(rule, ByCuts))
    return next((rule.points for rule in cut if rule.column == column), ())


def groups_chosen(columns: Iterable[ColumnAudit]) -> list[str | dict[str, list[Value]]]:
    """The `groups` that were chosen for a table, as users would write them, from its audits."""
    return [
        {audit.column: list(audit.edges)} if audit.edges else audit.column
        for audit in columns
        if audit.role == "group"
    ]


def _say_left_out(audits: Iterable[ColumnAudit], profiled: ProfiledTable, notes: Notes) -> None:
    for audit in audits:
        column = audit.column
        if audit.role != "left out":
            continue
        if audit.treatment == NEVER_RECORDED:
            _warn_of_never_recorded(column, notes)
        elif audit.treatment == IDENTIFIER and profiled.profiles[column].kind is not Kind.TEXT:
            notes.warn(
                "Column {column!r} is left out as an identifier: its values are integers, nearly "
                "all distinct. If they measure something, pass {bins}; else drop the column.",
                column=column,
                bins=Setting("bins", 5, column=column),
            )
        elif audit.treatment == UNSCORED:
            notes.add(
                "Column {column!r} is left out: {why}, since it holds lists, structures, durations "
                "or bytes. Make plain columns of what it holds to have it scored.",
                column=column,
                why=audit.treatment,
            )
        elif audit.treatment in (FREE_TEXT, IDENTIFIER, TELLS_NOTHING):
            notes.add(
                "Column {column!r} is left out: {why}. {text} keeps it, as categories.",
                column=column,
                why=audit.treatment,
                text=Setting("read", "text", column=column),
            )
        else:
            notes.add("Column {column!r} is left out: {why}.", column=column, why=audit.treatment)


def _warn_of_never_recorded(feature: str, notes: Notes) -> None:
    notes.warn(
        "Feature {column!r} is missing in every subgroup and is left out; check {codes} and "
        "{threshold} if it should not be.",
        column=feature,
        codes=Setting("missing_values"),
        threshold=Setting("missing_threshold"),
    )


def _with_never_recorded(
    audits: Iterable[ColumnAudit], features: list[str], notes: Notes
) -> tuple[ColumnAudit, ...]:
    for feature in features:
        _warn_of_never_recorded(feature, notes)
    return tuple(
        replace(
            audit, role="left out", treatment=NEVER_RECORDED, categories=(), edges=(), looks_like=""
        )
        if audit.column in features
        else audit
        for audit in audits
    )


def _warn_of_constant_targets(cohorts: Cohorts, notes: Notes) -> None:
    constant = [cohort.name for cohort in cohorts if len(np.unique(cohort.target)) == 1]
    if len(np.unique(cohorts.target_codes)) == 1:
        notes.warn(
            "The target {column!r} has a single value in all rows, so that nothing can tell about "
            "it; every score is 0. Choose another target.",
            column=cohorts.target,
        )
    elif constant:
        one = len(constant) == 1
        notes.warn(
            "The target {column!r} has a single value in the {subgroups} {names}; every score "
            "there is 0. Merge {them} with another subgroup if that is not meant.",
            column=cohorts.target,
            subgroups="subgroup" if one else "subgroups",
            names=listed(constant),
            them="it" if one else "them",
        )


MOST_NAMED = 5
"""Columns that the note about read text names."""


def say_how_text_was_read(profiles: Iterable[Profile], notes: Notes) -> None:
    """Note which columns of text stand for numbers or dates, and warn of what is in doubt."""
    profiles = list(profiles)
    read = [profile for profile in profiles if profile.taken.spelled]  # not plain numbers
    if read:
        examples = [f"{one.column}: {one.taken.example!r}, {one.taken.words}" for one in read]
        notes.add(
            "{n} of text {are} read as what {they} {stand} for ({examples}); {text} keeps the "
            "texts of one as categories.",
            n="1 column" if len(read) == 1 else f"{len(read)} columns",
            are="is" if len(read) == 1 else "are",
            they="it" if len(read) == 1 else "they",
            stand="stands" if len(read) == 1 else "stand",
            examples="; ".join(examples[:MOST_NAMED]) + ("; …" if len(read) > MOST_NAMED else ""),
            text=Setting("read", "text", column=read[0].column),
        )
    for profile in profiles:
        _warn_of_doubt(profile.column, profile.taken, notes)


def _warn_of_doubt(column: str, taken: Taken, notes: Notes) -> None:
    """Whatever there is to say about one column."""
    as_text = Setting("read", "text", column=column)
    if taken.words and taken.unread:
        say = notes.add if taken.only_words else notes.warn
        say(
            "Column {column!r} is read as {words}, as in {example!r}; {rows:,} of its rows do not "
            "read and count as missing: {examples}. If they should not, pass {text}.",
            column=column,
            words=taken.words,
            example=taken.example,
            rows=taken.unread_rows,
            examples=listed(taken.unread),
            text=as_text,
        )
    if taken.doubtful:
        notes.warn(
            "Column {column!r} is read as {words}, but {examples!r} could be read in another way, "
            "and no value tells which is meant; if it is the other, pass {other}.",
            column=column,
            words=taken.words,
            examples=taken.doubtful,
            other=Setting("read", taken.otherwise, column=column),
        )
    if taken.centuries:
        this, last = taken.centuries
        notes.warn(
            "Column {column!r} writes years with two digits; {this!r} is taken for this century "
            "and {last!r} for the last one. If that is wrong, write them with four.",
            column=column,
            this=this,
            last=last,
        )
    if taken.alike:
        one, other = taken.alike
        notes.add(
            "Column {column!r} is read as numbers, so that {one!r} and {other!r} are the same; if "
            "they are codes, pass {text}.",
            column=column,
            one=one,
            other=other,
            text=as_text,
        )
    if taken.bare:
        notes.warn(
            "Column {column!r} is read as {words}, as in {example!r}, and {rows:,} of its rows "
            "hold bare numbers such as {bare!r}, which are taken in the same unit. If they are in "
            "another one, bring all to one unit first.",
            column=column,
            words=taken.words,
            example=taken.example,
            rows=taken.bare_rows,
            bare=taken.bare,
        )
    if taken.almost:
        notes.warn(
            "Column {column!r} is taken for text, though most of its rows read as {words}, as in "
            "{example!r}: {rows:,} do not, such as {examples}. If those mean missing, pass "
            "{number}.",
            column=column,
            words=taken.almost,
            example=taken.example,
            rows=taken.unread_rows,
            examples=listed(taken.unread),
            number=Setting("read", _way(taken.almost), column=column),
        )


def _way(words: str) -> str:
    if "decimal comma" in words:
        return "decimal comma"
    return "date" if words.startswith("date") else "number"
