"""From any table to cohorts: profile the columns, choose coders, one group-by, and lay out."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from misfeat.cohorts import column_coding, column_profiles, subgroups, target_coding
from misfeat.cohorts import merged_categories as merging
from misfeat.cohorts.auto_groups import proposed_groups
from misfeat.cohorts.cohort_data import NO_RANKS, NOT_RECORDED, Cohorts, ColumnAudit, as_left_out
from misfeat.cohorts.column_coding import Coding
from misfeat.cohorts.column_profiles import IDENTIFIER, Profile, profile_column, suspects
from misfeat.cohorts.design_effects import effective_sizes
from misfeat.cohorts.parsed_text import AS_THEY_STAND, TEXT, parse_read_rules
from misfeat.cohorts.target_coding import TargetCoding
from misfeat.cohorts.time_to_event import TimeCoding, time_coding
from misfeat.cohorts.weights import SAMPLING, WeightRules, masses_of, weighing_of
from misfeat.exceptions import MemoryLimitError, MisfeatError, Notes, no_such_column
from misfeat.messages import Setting, listed
from misfeat.number_formatting import count_words
from misfeat.parameters.declaration import check_parameters
from misfeat.reading.coders import CodedRows, Coder, Kind, collapse
from misfeat.reading.engine_table import EngineTable
from misfeat.reading.files import NULL_SPELLINGS
from misfeat.reading.inputs import Event, Table, open_outcome, with_weights
from misfeat.reading.table_statistics import Weighing
from misfeat.reading.values import MISSING_LABEL, MissingCodes, Value, canonical, label
from misfeat.runtime.array_types import Flags, Indices
from misfeat.runtime.memory import allowed_memory
from misfeat.runtime.progress import Progress, unreported

# Treatments that wait until rows are counted.
TREATED_LATER = (column_coding.TO_MERGE, *column_coding.UNREAD)
WORTH_SAYING = 0.01  # What merging loses is said from so many bits on
AUTO = "auto"  # Asks for group columns to be chosen, where no column has that name
BYTES_A_ROW, BYTES_A_CODE = 120, 14
"""What a different row takes from the engine to the last score, and what each of its codes does."""
FEWEST_ROWS = 100_000  # So many different rows fit any memory that scores can be computed in


@dataclass(frozen=True)
class CohortRules:
    """By what rules a table becomes cohorts, parsed and checked once."""

    groups: tuple[subgroups.GroupRule, ...]
    bins: column_coding.BinRules
    codes: MissingCodes
    ways: Mapping[str, str]  # How columns of text are to be read, where the user says so
    coding: Coding  # All other settings, as users give them
    auto: bool = False  # Whether group columns are chosen by what is missing where
    weights: WeightRules = field(default_factory=WeightRules)
    event: Event | None = None  # Where the target is the time until something happens

    @classmethod
    def parse(cls, groups: object, coding: Coding | None = None) -> "CohortRules":
        """Read and check the parameters as users write them."""
        coding = Coding() if coding is None else coding
        check_parameters(coding)
        auto = isinstance(groups, str | list | tuple) and groups in (AUTO, [AUTO], (AUTO,))
        return cls(
            groups=() if auto else subgroups.parse_groups(groups),
            bins=column_coding.BinRules.parse(coding.bins),
            codes=MissingCodes.parse(coding.missing_values),
            ways=parse_read_rules(coding.read),
            coding=coding,
            auto=auto,
        )

    def for_columns(self, names: Sequence[str]) -> "CohortRules":
        """The same, ``"race,sex"`` for two columns unless one is called so; cuts are the last's."""
        rules: list[subgroups.GroupRule] = []
        for rule in self.groups:
            if rule.column not in names and "," in rule.column:
                *first, last = parts = [part.strip() for part in rule.column.split(",")]
                if {*parts} <= {*names} and len({*parts}) == len(parts):
                    rules.extend(subgroups.ByValue(column, {}) for column in first)
                    rule = replace(rule, column=last)
            rules.append(rule)
        return replace(self, groups=tuple(rules))

    def way(self, column: str) -> str | None:
        """How a column is to be read; subgroups are told apart by its texts as they stand."""
        by_text = any(isinstance(r, subgroups.ByValue) and r.column == column for r in self.groups)
        way = self.ways.get(column)
        return AS_THEY_STAND if by_text and way in (None, TEXT) else way

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns that tell the subgroups apart, each once."""
        return tuple(dict.fromkeys(rule.column for rule in self.groups))


class ProfiledTable(NamedTuple):
    """An open table, and what is known of it before its rows are coded."""

    table: Table
    target: str
    rules: CohortRules
    profiles: Mapping[str, Profile]  # What is known of each column, in the table's order
    groupings: tuple[subgroups.Grouping, ...]
    weighing: Weighing | None  # How rows are weighed; None where all weigh the same
    notes: Notes

    @property
    def most(self) -> int:
        """Distinct values up to which columns are not merged."""
        return column_coding.most_categories(
            self.rules.coding, self.table.n_rows(), len(self.table.names)
        )


class CodedColumns(NamedTuple):
    """The rows of a table in codes, and how they came about."""

    rows: CodedRows  # Codes of the groupings, of the features and of the target, in this order
    features: dict[str, tuple[str, ...]]
    target: TargetCoding
    audits: list[ColumnAudit]
    drawn: CodedRows | None  # With a design: the same, and codes of strata and clusters


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
    y : str, array or series, or tuple
        The target: the name of a column of `X`, or its values; of a time to an event, the names of
        both columns.
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
    table, target, event = open_outcome(X, y, rules.codes, rules.ways)
    table, column = with_weights(table, sample_weight)
    rules = replace(rules, weights=WeightRules.parse(column, weights, design), event=event)
    return cohorts_of(table, target, rules, progress or unreported)


def cohorts_of(
    table: Table, target: str, rules: CohortRules, progress: Progress = unreported
) -> Cohorts:
    """Build the cohorts of an open table, and close it; see `build_cohorts`."""
    with closing(table):
        profiled = profile_table(table, target, rules, progress)
        coded = code_table(profiled, progress)
    return lay_out(profiled, coded)[0]


def subgroup_names(table: Table, rules: CohortRules) -> tuple[str, ...]:
    """The subgroups that a table has, whether they are small or not; it may have few rows."""
    with closing(table):
        rules = rules.for_columns(table.names)
        check_columns(table, None, rules)
        n_rows = table.n_rows()
        profiles = {
            name: profile_column(table, name, rules.codes, n_rows, rules.way(name))
            for name in rules.group_columns
        }
        groupings = [subgroups.prepare(rule, profiles, whole=False) for rule in rules.groups]
        rows = table.count_codes([grouping.coder for grouping in groupings])
    return subgroups.subgroups_in(rows, groupings, rules.coding.missing_groups)


def groups_chosen(columns: Iterable[ColumnAudit]) -> list[str | dict[str, list[Value]]]:
    """The `groups` that were chosen for a table, as users would write them, from its audits."""
    return [
        {audit.column: list(audit.edges)} if audit.edges else audit.column
        for audit in columns
        if audit.role == "group"
    ]


def profile_table(
    table: Table, target: str, rules: CohortRules, progress: Progress = unreported
) -> ProfiledTable:
    """Check the names of columns, and count the values of every column inside the engine."""
    rules = rules.for_columns(table.names)
    check_columns(table, target, rules)
    if table.n_rows() == 0:
        raise MisfeatError("The table has no rows; check the file or the filter that made it.")
    weighing, weights = None, rules.weights
    if weights.column is not None:
        weighing = weighing_of(table, weights.column, weights.kind)
        table = table if weighing is None else table.weighed(weighing)
    # What only says how much a row counts is not read; strata and clusters are, as they are.
    names = [name for name in table.names if name != weights.column]
    n_rows, read = table.n_rows(), {}
    for done, column in enumerate([target, *(name for name in names if name != target)]):
        progress("Reading columns", done, len(names))
        read[column] = profile_column(table, column, rules.codes, n_rows, rules.way(column))
        if column == target and rules.event is None:
            target_coding.check_target(read[column], rules.bins, rules.coding.target)
    profiles = {column: read[column] for column in names}
    progress("Reading columns", len(names), len(names))
    notes = Notes()
    for note in table.notes:
        notes.add(note.template, **note.about)
    for column, given in rules.codes.by_column.items():
        profile = read.get(column)
        if profile is None or profile.counts is None or {*map(label, given)} & {*NULL_SPELLINGS}:
            continue  # what a file may spell so is missing already
        if {str(value).strip() for value in profile.reading.missing} <= {"", *profile.text.unread}:
            notes.add(
                "{missing}: no row of the column holds that, but there are {values}.",
                missing=Setting("missing_values", list(given), column=column),
                values=", ".join(map(label, map(canonical, profile.counts.values[:5]))),
            )
    if rules.auto and AUTO in profiles:  # a column that is named so is meant itself
        rules = replace(rules, groups=(subgroups.ByValue(AUTO, {}),), auto=False)
        check_columns(table, target, rules)
    elif rules.auto:
        rules = replace(rules, groups=proposed_groups(table, profiles, target, notes))
    groupings = tuple(subgroups.prepare(rule, profiles) for rule in rules.groups)
    return ProfiledTable(table, target, rules, profiles, groupings, weighing, notes)


def check_columns(table: Table, target: str | None, rules: CohortRules) -> None:
    """Refuse names of columns that the table does not have, and a target that is a group."""
    named: dict[str, Iterable[str]] = {
        "groups": rules.group_columns,
        "bins": rules.bins.by_column,
        "missing_values": rules.codes.by_column,
        "read": rules.ways,
    }
    for parameter, columns in named.items():
        for column in columns:
            if column not in table.names:
                raise no_such_column(column, table.names, Setting(parameter))
    if target in rules.group_columns:
        raise MisfeatError(
            f"{target!r} is both the target and a group; it is constant within a subgroup.",
            remedy=f"Take it out of {Setting('groups')}.",
            column=target,
        )
    if rules.event is not None and rules.event.column in (target, *rules.group_columns):
        column = rules.event.column
        raise MisfeatError(
            f"{column!r} is the event, and cannot be the time or a group as well.", column=column
        )
    if target is not None:
        rules.weights.check(table.names, target, rules.group_columns)


def code_table(
    profiled: ProfiledTable, progress: Progress = unreported, *, with_grids: bool = True
) -> CodedColumns:
    """Choose a coder for every column, and collapse equal rows, in one group-by of the engine."""
    table, rules, notes = profiled.table, profiled.rules, profiled.notes
    profiles = profiled.profiles
    target: TargetCoding
    if rules.event is not None:
        time, event = profiles[profiled.target], profiles[rules.event.column]
        target = time_coding(table, time, event, rules.event, rules.bins)
    else:
        target = target_coding.target_coding(
            table, profiles[profiled.target], rules.bins, rules.coding.target, with_grids=with_grids
        )
    features, audits = _feature_coders(profiled, target.audits)
    column_profiles.note_text(profiles.values(), notes)
    progress("Counting rows", 0, 1)
    groups = [grouping.coder for grouping in profiled.groupings]
    rows = _count_rows(profiled, [*groups, *features.values(), *target.coders])
    if isinstance(target, TimeCoding):
        target, rows = target.joined(rows, len(groups) + len(features))
    if profiled.weighing is not None and profiled.weighing.leaves_out:
        column = profiled.weighing.column
        notes.add("Rows whose weight in {column!r} is 0 are left out.", column=column)
    design, drawn = [profiles[column] for column in rules.weights.design], None
    for part in design:
        if part.missing:
            raise MisfeatError(
                f"Column {part.column!r} of the design is missing in {part.missing:,} rows; leave "
                "these rows out, or say where they were drawn.",
                column=part.column,
            )
    if design:
        drawn_by = map(column_coding.as_it_is, design)
        drawn = table.count_codes([*groups, *features.values(), *target.coders, *drawn_by])
        if isinstance(target, TimeCoding):
            drawn = target.joined(drawn, len(groups) + len(features))[1]
    progress("Counting rows", 1, 1)
    labels = {name: coder.labels for name, coder in features.items()}
    coded = CodedColumns(rows, labels, target, audits, drawn)
    # Those of few values first, which others may determine; the order of columns does not matter.
    to_merge = [a.column for a in audits if a.role == "feature" and a.treatment in TREATED_LATER]
    for column in sorted(to_merge, key=lambda name: (len(labels[name]), name)):
        coded = _with_few_values(coded, column, profiled)
    for audit in sorted(coded.audits, key=lambda audit: audit.column):
        profile = profiles.get(audit.column)
        if audit.role != "feature" or profile is None or profile.in_order:
            continue
        if audit.treatment.startswith(merging.BY_GAPS):
            text = "Column {column!r} is a feature by whether it is {treatment}."
            notes.add(text, column=audit.column, treatment=audit.treatment)
        elif profile.kind is Kind.TEXT and profile.distinct > len(audit.categories):
            notes.add(
                "Column {column!r} has {n:,} values: {treatment}. A larger {most} keeps more of "
                "them.",
                column=audit.column,
                n=profile.distinct,
                treatment=audit.treatment,
                most=Setting("max_categories"),
            )
    for audit in coded.audits:
        if audit.role == "left out":
            _note_left_out(audit, profiled)
    return coded


def _feature_coders(
    profiled: ProfiledTable, targets: Mapping[str, ColumnAudit]
) -> tuple[dict[str, Coder], list[ColumnAudit]]:
    rules = profiled.rules
    grouped, roles = set(rules.group_columns), rules.weights.roles
    cuts = {rule.column: rule.points for rule in rules.groups if isinstance(rule, subgroups.ByCuts)}
    coders: dict[str, Coder] = {}
    audits: list[ColumnAudit] = []
    for column in profiled.table.names:
        if column in roles and column not in grouped:
            audits.append(ColumnAudit(column, *roles[column]))
            continue
        profile = profiled.profiles[column]
        if column in targets:
            audit = targets[column]
        elif column in grouped:
            edges = cuts.get(column, ()) if rules.auto else ()
            audit = replace(column_coding.left_out(profile, "subgroups"), role="group", edges=edges)
        else:
            coder, audit = column_coding.feature_coder(profiled.table, profile, rules)
            if coder is not None:
                coders[column] = coder
        if audit.role in ("feature", "target", "group"):
            values, why = suspects(profile)
            audit = replace(audit, suspects=values, why_suspect=why)
        audits.append(audit)
    return coders, [_cut_where_others_change(profiled, coders, audit) for audit in audits]


def _cut_where_others_change(
    profiled: ProfiledTable, coders: dict[str, Coder], audit: ColumnAudit
) -> ColumnAudit:
    """Bins of a number that also end where ordered categories do that it determines."""
    profile, ends = profiled.profiles.get(audit.column), dict[str, list[int]]()
    chosen = audit.column in profiled.rules.bins.by_column or audit.role != "feature"
    if chosen or not audit.edges or profile is None or profile.counts is None:
        return audit
    for name, coder in sorted(coders.items()):
        few = profiled.profiles[name].in_order and len(coder.labels) <= profiled.most
        if few and profile.distinct <= merging.MOST_VALUES:
            codes = profiled.table.count_codes([column_coding.as_it_is(profile), coder]).codes
            values, theirs = codes[:, (codes < [[profile.distinct], [len(coder.labels)]]).all(0)]
            steps = np.diff(theirs.astype(np.int64))
            if len(values) == len(np.unique(values)) and ((steps >= 0).all() or (steps <= 0).all()):
                ends[name] = values[:-1][steps != 0].tolist()
    cuts = {canonical(profile.counts.values[end]) for each in ends.values() for end in each}
    if not 0 < len(cuts) < profiled.most:
        return audit
    coders[audit.column] = coder = column_coding.cut_at(
        profile, tuple(sorted(cuts.union(audit.edges)))
    )
    treatment = f"{len(coder.labels)} bins, by quantiles and {' and '.join(ends)}"
    return replace(audit, treatment=treatment, edges=coder.edges, categories=coder.labels)


def _count_rows(profiled: ProfiledTable, coders: Sequence[Coder]) -> CodedRows:
    """Collapse equal coded rows; of a table in an engine, draw some where there are too many."""
    table, rules = profiled.table, profiled.rules
    if not isinstance(table, EngineTable):
        return table.count_codes(coders)
    fit = allowed_memory() // (BYTES_A_ROW + BYTES_A_CODE * len(coders))
    most = rules.coding.max_rows or max(FEWEST_ROWS, fit)
    rows, drawing = table.draw_codes(coders, len(profiled.groupings), most)
    if drawing is None:
        return rows
    if rules.weights.design:
        raise MemoryLimitError(
            f"The table has about {drawing.n_rows:,} different rows of codes, more than the "
            f"{most:,} that memory holds, and with a {Setting('design')} rows cannot be drawn "
            f"from them; use fewer {Setting('bins')}, leave features out, or raise "
            f"{Setting('max_rows')}."
        )
    rates = sorted(drawing.one_in.values())
    one_in = f"{rates[0]:,}" if rates[0] == rates[-1] else f"{rates[0]:,} to {rates[-1]:,}"
    why = "memory holds" if rules.coding.max_rows is None else "were asked for"
    profiled.notes.add(
        f"The table has about {drawing.n_rows:,} different rows of codes, more than the {most:,} "
        f"that {why}. Rows were drawn at random: one in {one_in} in the {len(rates):,} largest "
        "subgroups, all in others. Scores, intervals and tests are those of the rows drawn; a "
        f"larger {Setting('max_rows')} keeps more."
    )
    return rows


def _with_few_values(coded: CodedColumns, column: str, profiled: ProfiledTable) -> CodedColumns:
    """The same with the many values of a column merged, or by its gaps, or without it."""
    target, groups = coded.target, profiled.groupings
    rows, names, features = coded.rows, list(coded.features), dict(coded.features)
    lines = [*(group.coder.labels for group in groups), *features.values()]
    bases = [*(len(labels) + 1 for labels in lines), target.n_codes + 1]
    line = len(groups) + names.index(column)
    n_classes = len(target.classes)  # of a number, those of its first grid
    classes = target.classes_of(rows.codes[-1], missing=n_classes)
    audit = next(audit for audit in coded.audits if audit.column == column)
    codes = list(rows.codes)
    if audit.treatment == column_coding.TO_MERGE:
        settled = {one.column for one in coded.audits if one.treatment not in TREATED_LATER}
        others = {
            name: (len(groups) + names.index(name), features[name])
            for name in sorted(settled.intersection(names))
        }
        values, most = features[column], profiled.most
        if profiled.profiles[column].in_order:
            bins = profiled.rules.bins.bins
            merged = merging.merge_neighbours(rows, line, others, values, bins=bins, most=most)
        else:
            merged = merging.merge_rare(rows, line, others, values[:-1], most=most)
        labels, treatment = merged.labels, merged.treatment
        codes[line], bases[line] = merged.codes, len(labels) + 1
        lost = merging.lost_bits(rows.codes[line], merged, classes, rows.weights, n_classes)
        if lost >= WORTH_SAYING:
            text = (
                "All values of {column!r} explain {bits:.2f} bits more of other rows than {those}."
            )
            profiled.notes.add(text, column=column, bits=lost, those=treatment)
    else:
        missing = codes[line] == bases[line] - 1
        explain = merging.gaps_explain(rows, missing, len(groups), classes, n_classes)
        labels = (merging.RECORDED,) if explain else ()
        treatment = f"{merging.BY_GAPS} ({audit.treatment})"
        codes[line], bases[line] = missing.astype(np.int8), 2
    features[column] = labels
    changed = replace(audit, treatment=treatment, categories=labels)
    if not labels:
        changed = as_left_out(audit, audit.treatment)
        del features[column], bases[line], codes[line]
    rows = collapse(codes, rows.weights, bases, rows.more)
    audits = [changed if one is audit else one for one in coded.audits]
    return coded._replace(rows=rows, features=features, audits=audits)


def _note_left_out(audit: ColumnAudit, profiled: ProfiledTable) -> None:
    column, why, notes = audit.column, audit.treatment, profiled.notes
    profile = profiled.profiles[column]
    start = "Column {column!r} is left out: {why}"
    if why == column_coding.NEVER_RECORDED:
        _warn_of_never_recorded(column, notes)
    elif why == IDENTIFIER and profile.kind is not Kind.TEXT:
        reason = "its values are integers, nearly all distinct"
        reason = "it is called one" if profile.is_called_so else reason
        text = "Column {column!r} is left out as an identifier: {reason}. If its values measure "
        text += "something, pass {bins}; else drop the column."
        notes.warn(text, column=column, reason=reason, bins=Setting("bins", 5, column=column))
    elif why == column_coding.UNSCORED:
        text = f"{start}, since it holds lists, structures, durations or bytes. "
        text += "Make plain columns of what it holds to have it scored."
        notes.add(text, column=column, why=why)
    elif why in (column_profiles.FREE_TEXT, IDENTIFIER):
        text = f"{start}. {{text}} keeps it, as categories."
        notes.add(text, column=column, why=why, text=Setting("read", "text", column=column))
    else:
        notes.add(f"{start}.", column=column, why=why)
    repeats = profile.is_called_so and profile.distinct < profile.recorded
    if repeats and profiled.rules.weights.cluster is None:
        notes.warn(
            "{column!r} has {rows:.1f} rows a value. If these are rows of one person or place, "
            "intervals are too narrow; {cluster} allows for that.",
            column=column,
            rows=profile.recorded / profile.distinct,
            cluster=Setting("design", {"cluster": column}),
        )


def _warn_of_never_recorded(feature: str, notes: Notes) -> None:
    notes.warn(
        "Feature {column!r} is missing in every subgroup and is left out; check {codes} and "
        "{threshold} if it should not be.",
        column=feature,
        codes=Setting("missing_values"),
        threshold=Setting("missing_threshold"),
    )


def lay_out(profiled: ProfiledTable, coded: CodedColumns) -> tuple[Cohorts, subgroups.Runs]:
    """Find the cohorts that coded rows belong to, and lay the rows out cohort by cohort."""
    coding, groupings, notes = profiled.rules.coding, profiled.groupings, profiled.notes
    target, rows = coded.target, _rows_with_target(profiled, coded)
    classes = target.classes_of(rows.codes[-1])
    by_class = np.bincount(classes, rows.counted, len(target.classes))
    n_codes = {name: len(labels) for name, labels in coded.features.items()}
    floor = subgroups.sufficient_rows(list(n_codes.values()), by_class)
    weighing, threshold = profiled.weighing, coding.missing_threshold
    runs, names = subgroups.find_cohorts(
        rows, groupings, n_codes, coding, notes, floor, weighing, classes
    )
    missing = runs.never_recorded(threshold)
    kept: Flags = ~np.all(missing, axis=0)
    never = list(itertools.compress(n_codes, ~kept))
    for feature in never:
        _warn_of_never_recorded(feature, notes)
    labels = dict(itertools.compress(coded.features.items(), kept))
    lines = [*(len(groupings) + np.flatnonzero(kept)), -1]
    bases = [*(len(codes) + 1 for codes in labels.values()), target.n_codes + 1]
    parts = [
        _rows_of_cohort(rows, lines, bases, runs.of(cohort), absent)
        for cohort, absent in enumerate(missing[:, kept])
    ]
    laid_out = CodedRows(
        np.concatenate([part.codes for part in parts], axis=1),
        np.concatenate([part.weights for part in parts]),
        *(np.concatenate(sums) for sums in zip(*(part.more for part in parts), strict=True)),
    )
    *codes, target_codes = laid_out.codes
    categories, gap_codes = _with_gaps(codes, labels.values(), coding.sporadic == "category")
    masses, heaviest = masses_of(laid_out, weighing)
    effective, joint_effects = effective_sizes(profiled, coded, rows, runs, kept)
    cohorts = Cohorts(
        names=tuple(names),
        features=tuple(labels),
        target=profiled.target,
        codes=laid_out.codes[:-1],
        target_codes=target.classes_of(target_codes),
        weights=laid_out.weights,
        offsets=np.cumsum([0, *(len(part.weights) for part in parts)], dtype=np.int64),
        missing=missing[:, kept],
        categories=categories,
        classes=target.classes,
        gap_codes=gap_codes,
        columns=tuple(
            as_left_out(audit, column_coding.NEVER_RECORDED) if audit.column in never else audit
            for audit in coded.audits
        ),
        seen=subgroups.subgroups_in(coded.rows, groupings, coding.missing_groups),
        joined=subgroups.joined_recordings(runs, names, list(n_codes), threshold),
        ranks=target_codes if len(target.grids) else NO_RANKS,
        grids=target.grids,
        masses=masses,
        heaviest=heaviest,
        effective=effective,
        joint_effects=joint_effects,
    )
    if isinstance(target, TimeCoding):
        cohorts = target.followed(cohorts, notes)
    _warn_of_constant_target(cohorts, notes)
    return replace(cohorts, notes=tuple(notes.texts)), runs


def _with_gaps(
    codes: Sequence[Indices], labels: Iterable[tuple[str, ...]], as_category: bool
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[int, ...], ...]]:
    """Labels and gap codes where values missing here and there are a category, or blanked out."""
    categories, gap_codes = list[tuple[str, ...]](), list[tuple[int, ...]]()
    for line, meant in zip(codes, labels, strict=True):
        lacking = line == len(meant)
        is_category = as_category and bool(lacking.any())
        if not is_category:
            line[lacking] = NOT_RECORDED
        gap = MISSING_LABEL if MISSING_LABEL not in meant else f"({MISSING_LABEL})"
        categories.append((*meant, gap) if is_category else meant)
        gap_codes.append((len(meant),) if is_category else ())
    return tuple(categories), tuple(gap_codes)


def _rows_with_target(profiled: ProfiledTable, coded: CodedColumns) -> CodedRows:
    rows = coded.rows
    present = rows.codes[-1] < coded.target.n_codes
    if not present.any():
        raise MisfeatError(
            f"None of the rows at hand has a value of the target {profiled.target!r}.",
            remedy=f"Choose another target, or a larger {Setting('max_rows')}.",
            column=profiled.target,
        )
    if present.all():
        return rows
    dropped = int(rows.weights[~present].sum())
    profiled.notes.add(
        "Without a value of the target {column!r}, {rows} dropped.",
        rows=f"{count_words(dropped, 'row')} {'is' if dropped == 1 else 'are'}",
        column=profiled.target,
    )
    return rows.where(present)


def _rows_of_cohort(
    rows: CodedRows,
    lines: Sequence[int],
    bases: Sequence[int],
    stretches: Sequence[slice],
    absent: Flags,
) -> CodedRows:
    """The rows of a cohort, features that it never recorded blanked out, the target last."""
    own = [np.concatenate([rows.codes[line][s] for s in stretches]) for line in lines]
    for feature in np.flatnonzero(absent).tolist():
        own[feature][:] = bases[feature] - 1
    weights, *more = (
        np.concatenate([sums[s] for s in stretches]) for sums in (rows.weights, *rows.more)
    )
    part = collapse(own, weights, bases, more)
    part.codes[:-1][absent] = NOT_RECORDED
    return part


def _warn_of_constant_target(cohorts: Cohorts, notes: Notes) -> None:
    constant = [cohort.name for cohort in cohorts if len(np.unique(cohort.target)) == 1]
    if len(np.unique(cohorts.target_codes)) == 1:
        notes.warn(
            "The target {column!r} has a single value in all rows, so that nothing can explain "
            "it; every score is 0. Choose another target.",
            column=cohorts.target,
        )
    elif constant:
        single = len(constant) == 1
        notes.warn(
            "The target {column!r} has a single value in the {subgroups} {names}; every score "
            "there is 0. Merge {them} with another subgroup if that is not meant.",
            column=cohorts.target,
            subgroups="subgroup" if single else "subgroups",
            names=listed(constant),
            them="it" if single else "them",
        )
