"""From coded rows of the whole table to cohorts: who is in which, and what each never recorded.

Rows are counted or drawn in the table's engine; columns with many values are settled then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.binning import Classes, merged
from misfeat.cohorts.coding import ONE_BY_ONE
from misfeat.cohorts.model import BETWEEN_TERMS, NOT_RECORDED
from misfeat.cohorts.subgroups import DROPPED, Recorded, Runs, rows_without, settle_small
from misfeat.cohorts.weights import effective_sizes, heaviest_of
from misfeat.exceptions import MemoryLimitError, MisfeatError, Setting
from misfeat.reading.coders import CodedRows, Coder, Kind, collapse
from misfeat.reading.engine_queries import Drawing, DrawsRows
from misfeat.reading.values import MISSING_LABEL
from misfeat.runtime.memory import allowed_memory

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import ColumnAudit
    from misfeat.cohorts.profiles import Profile
    from misfeat.cohorts.profiling import ProfiledTable
    from misfeat.cohorts.rules import CohortRules, Grouping, Notes
    from misfeat.cohorts.targets import TargetCoding
    from misfeat.reading.table import Weighing


EVERYTHING = "all rows"
"""The name of the only cohort where no groups are given."""


def rows_with_target(rows: CodedRows, n_classes: int, target: str, notes: Notes) -> CodedRows:
    """Drop the rows whose target, the last code, is missing."""
    present = rows.codes[-1] < n_classes
    if present.all():
        return rows
    dropped = int(rows.weights[~present].sum())
    notes.add(
        "{rows:,} rows without a value of the target {column!r} are dropped.",
        rows=dropped,
        column=target,
    )
    return rows.where(present)


def find_cohorts(
    rows: CodedRows,
    groupings: Sequence[Grouping],
    features: Mapping[str, int],
    rules: CohortRules,
    notes: Notes,
    floor: int = 1,
    weighing: Weighing | None = None,
) -> tuple[Runs, list[str]]:
    """Find the minterms that occur, from rows sorted by their first codes, those of the groupings.

    `features` has the number of codes of each, the one for missing not counted; `floor` says from
    how many rows on a subgroup is not small, where the rules do not. Where rows are weighed, a
    subgroup is as large as its effective size.
    """
    starts, terms, absent = _stretches(rows, groupings)
    bounds = np.append(starts, len(rows.weights))
    kept = np.ones(len(starts), dtype=bool)
    if absent.any():
        count = int(np.add.reduceat(rows.weights, starts)[absent].sum())
        if rules.coding.missing_groups == "drop":
            notes.add("{rows:,} rows with a missing group value are dropped.", rows=count)
            kept = ~absent
        else:
            notes.add(
                "{rows:,} rows with a missing group value form subgroups of their own.", rows=count
            )
    if not kept.any():
        missing = [f"{grouping.terms[-1]!r}" for grouping in groupings]
        raise MisfeatError(
            "Every row has a missing group value ({missing}); use {own}, or other groups.",
            missing=" or ".join(missing),
            own=Setting("missing_groups", "own"),
        )
    minterms, number = np.unique(terms[:, kept], axis=1, return_inverse=True)
    cohort = np.full(len(starts), DROPPED, dtype=np.int64)
    cohort[kept] = number.ravel()
    names = [_minterm_name(minterm, groupings) for minterm in minterms.T]
    runs = Runs(
        bounds,
        cohort,
        codes=rows.codes[: len(groupings), starts],
        rows=np.add.reduceat(rows.weights, starts),
        without=rows_without(
            rows.codes[len(groupings) : -1], rows.weights, starts, features.values()
        ),
    )
    sizes = runs.sizes(len(names))
    if weighing is not None:
        sizes = effective_of(rows, runs, len(names), weighing).astype(np.int64)
    recorded = Recorded(
        features=tuple(features),
        sizes=sizes,
        rows=runs.sizes(len(names)),
        without=runs.in_cohorts(runs.without, len(names)).T,
        threshold=rules.coding.missing_threshold,
    )
    runs, names = settle_small(runs, names, recorded, rules.coding, floor, notes)
    return runs, _unique(names)


def effective_of(
    rows: CodedRows, runs: Runs, n_cohorts: int, weighing: Weighing
) -> NDArray[np.float64]:
    """The effective sizes of cohorts whose rows have sampling weights."""
    sizes = runs.sizes(n_cohorts)
    if not rows.more:
        return sizes.astype(np.float64)
    mass, square = (
        runs.in_cohorts(np.add.reduceat(one, runs.bounds[:-1]), n_cohorts) for one in rows.more
    )
    return effective_sizes(sizes, mass, square, weighing)


def subgroups_in(
    rows: CodedRows, groupings: Sequence[Grouping], rules: CohortRules
) -> tuple[str, ...]:
    """The names of all subgroups that rows belong to, however small they are."""
    _, terms, absent = _stretches(rows, groupings)
    kept = ~absent if rules.coding.missing_groups == "drop" else np.ones(len(absent), dtype=bool)
    minterms = np.unique(terms[:, kept], axis=1)
    return tuple(_unique([_minterm_name(minterm, groupings) for minterm in minterms.T]))


def _stretches(
    rows: CodedRows, groupings: Sequence[Grouping]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Where rows of one minterm start, its terms, and whether a group value is missing in it."""
    group_codes = rows.codes[: len(groupings)]
    changes = np.any(group_codes[:, 1:] != group_codes[:, :-1], axis=0)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    terms = np.array(
        [g.term_of[codes] for g, codes in zip(groupings, group_codes[:, starts], strict=True)],
        dtype=np.int64,
    ).reshape(len(groupings), len(starts))
    last = np.array([len(grouping.terms) - 1 for grouping in groupings], dtype=np.int64)
    return starts, terms, (terms == last[:, None]).any(axis=0)


def _minterm_name(minterm: NDArray[np.int64], groupings: Sequence[Grouping]) -> str:
    terms = (grouping.terms[term] for grouping, term in zip(groupings, minterm, strict=True))
    return BETWEEN_TERMS.join(terms) or EVERYTHING


def _unique(names: list[str]) -> list[str]:
    """Tell equal names apart, as values such as "A & q=B" can bring about."""
    unique: dict[str, None] = {}
    for name in names:
        number, candidate = 1, name
        while candidate in unique:
            number += 1
            candidate = f"{name} ({number})"
        unique[candidate] = None
    return list(unique)


def systematically_missing(runs: Runs, n_cohorts: int, threshold: float) -> NDArray[np.bool_]:
    """Which features are missing in at least `threshold` of a cohort's rows."""
    share = runs.in_cohorts(runs.without, n_cohorts) / runs.sizes(n_cohorts)
    missing: NDArray[np.bool_] = threshold <= share.T
    return missing


@dataclass(frozen=True)
class LaidOutRows:
    """Coded rows in the order of their cohorts; cohort i owns ``offsets[i]:offsets[i + 1]``."""

    codes: NDArray[np.integer]
    weights: NDArray[np.int64]
    offsets: NDArray[np.int64]
    masses: NDArray[np.int64] | None = None
    heaviest: NDArray[np.float64] | None = None


def cohort_rows(
    lines: Sequence[NDArray[np.integer]],
    rows: CodedRows,
    runs: Runs,
    missing: NDArray[np.bool_],
    cardinalities: Sequence[int],
    weighing: Weighing | None = None,
) -> LaidOutRows:
    """Lay the rows out cohort by cohort, features that a cohort never recorded blanked out.

    `lines` are the codes of all rows, one line per feature and the target last; `cardinalities` say
    how many codes each has, the one for missing not counted. `missing` is of
    shape (n_cohorts, n_features).
    """
    bases = [cardinality + 1 for cardinality in cardinalities]
    parts: list[CodedRows] = []
    for cohort, absent in enumerate(missing):
        stretches = runs.of(cohort)
        own = [np.concatenate([line[stretch] for stretch in stretches]) for line in lines]
        for feature in np.flatnonzero(absent).tolist():
            own[feature][:] = cardinalities[feature]
        counted, *more = (
            np.concatenate([one[stretch] for stretch in stretches])
            for one in (rows.weights, *rows.more)
        )
        part = collapse(own, counted, bases, more)
        part.codes[:-1][absent] = NOT_RECORDED
        parts.append(part)
    return LaidOutRows(
        codes=np.concatenate([part.codes for part in parts], axis=1),
        weights=np.concatenate([part.weights for part in parts]),
        offsets=np.cumsum([0, *(len(part.weights) for part in parts)], dtype=np.int64),
        **({} if weighing is None or rows.masses is None else _weighed(parts, weighing)),
    )


def _weighed(parts: Sequence[CodedRows], weighing: Weighing) -> dict[str, NDArray[Any]]:
    """What rows weigh, and how unequal weights are within them.

    Masses are in the largest unit that leaves them whole: small numbers are counted faster.
    """
    weights = np.concatenate([part.weights for part in parts])
    masses = np.concatenate([part.masses for part in parts if part.masses is not None])
    squares = np.concatenate([part.squares for part in parts if part.squares is not None])
    unit = max(int(np.gcd.reduce(masses)), 1)
    in_masses = squares * (weighing.scale**2 / weighing.square_scale)
    return {"masses": masses // unit, "heaviest": heaviest_of(weights, masses, in_masses) / unit}


def settle_sporadic(
    codes: NDArray[np.integer], labels: Collection[tuple[str, ...]], sporadic: str
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[int, ...], ...]]:
    """Make sporadic missing values a category of their own, or blank them out, in place.

    Returns what the codes of each feature mean now, and which of them stand for missing values.
    """
    categories, gap_codes = [], []
    for line, names in zip(codes, labels, strict=True):
        absent = line == len(names)
        own = sporadic == "category" and bool(absent.any())
        if not own:
            line[absent] = NOT_RECORDED
        label = MISSING_LABEL if MISSING_LABEL not in names else f"({MISSING_LABEL})"
        categories.append((*names, label) if own else names)
        gap_codes.append((len(names),) if own else ())
    return tuple(categories), tuple(gap_codes)


BYTES_A_ROW, BYTES_A_CODE = 120, 14
"""What a different row takes from the engine to the last score, and what each of its codes does."""
FEWEST_ROWS = 100_000
"""So many different rows fit any memory that scores can be computed in."""


@dataclass(frozen=True)
class CodedTable:
    """The rows of a table in codes, and how they came about."""

    rows: CodedRows
    """Codes of the groupings, of the features and of the target, in this order."""
    features: dict[str, tuple[str, ...]]
    target: TargetCoding
    audits: list[ColumnAudit]
    notes: Notes
    drawn: CodedRows | None = None
    """Where a design says how rows were drawn, the codes of the groupings, of the target, of strata
    and of clusters."""


def with_few_values(coded: CodedTable, profiled: ProfiledTable) -> CodedTable:
    """The same with the many values of columns merged, by what they tell where they tell anything.

    Until then, every common value of such columns has a code of its own.
    """
    # In the order of names, so that the order of columns does not matter.
    for audit in sorted(coded.audits, key=lambda one: one.column):
        if audit.role == "feature" and audit.treatment == ONE_BY_ONE:
            coded = _with_few_values_of(coded, audit, profiled)
        elif audit.role == "feature" and _has_rare_values(profiled.profiles[audit.column], audit):
            _say_merged(audit, profiled, coded.notes)
    return coded


def _has_rare_values(profile: Profile, audit: ColumnAudit) -> bool:
    """Whether text was merged by how frequent its values are, since none has rows enough."""
    return (
        profile.kind is Kind.TEXT
        and not profile.in_order
        and profile.distinct > len(audit.categories)
    )


def _say_merged(audit: ColumnAudit, profiled: ProfiledTable, notes: Notes) -> None:
    notes.add(
        "Column {column!r} has {n:,} values: {treatment}. A larger {most} keeps more of them.",
        column=audit.column,
        n=profiled.profiles[audit.column].distinct,
        treatment=audit.treatment,
        most=Setting("max_categories"),
    )


def _with_few_values_of(
    coded: CodedTable, audit: ColumnAudit, profiled: ProfiledTable
) -> CodedTable:
    first, column, rules = len(profiled.groupings), audit.column, profiled.rules
    groupings = [len(grouping.coder.labels) + 1 for grouping in profiled.groupings]
    bases = [*groupings, *(len(names) + 1 for names in coded.features.values())]
    bases.append(len(coded.target.coder.labels) + 1)
    line = first + list(coded.features).index(column)
    by_name = sorted(coded.features)
    names = list(coded.features)
    order = [*range(first), *(first + names.index(name) for name in by_name), len(bases) - 1]
    kept = rules.is_kept(column)
    n_bins, most = rules.bins.bins, rules.coding.max_categories
    classes = _classes_of(coded)
    found = merged(
        coded.rows, line, bases, audit.categories[:-1], n_bins, most, kept, order, classes
    )
    settled = replace(audit, treatment=found.treatment, categories=found.labels)
    if found.labels:
        features = {**coded.features, column: found.labels}
        rows = found.rows
        _say_merged(settled, profiled, coded.notes)
    else:
        features = {name: names for name, names in coded.features.items() if name != column}
        rows = _without_line(coded.rows, line, bases)
        settled = replace(settled, role="left out", looks_like="")
    audits = [settled if one is audit else one for one in coded.audits]
    return replace(coded, rows=rows, features=features, audits=audits)


def _classes_of(coded: CodedTable) -> Classes:
    """The classes of rows; of a number, those of its first grid."""
    codes, target = coded.rows.codes[-1], coded.target
    there = codes < len(target.coder.labels)
    count = len(target.classes)
    return Classes(np.where(there, target.classes_of(np.where(there, codes, 0)), count), count)


def _without_line(rows: CodedRows, line: int, bases: list[int]) -> CodedRows:
    codes = np.delete(rows.codes, line, axis=0)
    return collapse(list(codes), rows.weights, [*bases[:line], *bases[line + 1 :]], rows.more)


def counted_rows(profiled: ProfiledTable, coders: Sequence[Coder], notes: Notes) -> CodedRows:
    """Collapse equal coded rows; of a table in an engine, draw some where there are too many.

    The coders of the groupings come first, that of the target last.
    """
    table, rules = profiled.table, profiled.rules
    if not isinstance(table, DrawsRows):
        return table.count_codes(coders)
    most = rules.coding.max_rows or _most_rows(len(coders))
    rows, drawing = table.draw_codes(coders, len(profiled.groupings), most)
    if drawing is not None:
        if rules.weights.strata is not None or rules.weights.cluster is not None:
            raise _too_many(drawing, most)
        _say_drawn(drawing, profiled, most, notes)
    return rows


def _most_rows(n_codes: int) -> int:
    """How many different rows of so many codes the memory holds that may be taken."""
    return max(FEWEST_ROWS, allowed_memory() // (BYTES_A_ROW + BYTES_A_CODE * n_codes))


def _say_drawn(drawing: Drawing, profiled: ProfiledTable, most: int, notes: Notes) -> None:
    rates = sorted(drawing.one_in.values())
    notes.add(
        "The table has about {different:,} different rows of codes, more than the {most:,} that "
        "{why}. Rows were drawn at random: one in {rates} in the {n:,} largest subgroups, all in "
        "others. Scores, intervals and tests are those of the rows drawn; a larger {setting} keeps "
        "more.",
        different=drawing.n_rows,
        most=most,
        why="memory holds" if profiled.rules.coding.max_rows is None else "were asked for",
        rates=f"{rates[0]:,}" if rates[0] == rates[-1] else f"{rates[0]:,} to {rates[-1]:,}",
        n=len(rates),
        setting=Setting("max_rows"),
    )


def _too_many(drawing: Drawing, most: int) -> MemoryLimitError:
    return MemoryLimitError(
        "The table has about {different:,} different rows of codes, more than the {most:,} that "
        "memory holds, and with a {design} rows cannot be drawn from them; use fewer {bins}, leave "
        "features out, or raise {limit}.",
        different=drawing.n_rows,
        most=most,
        design=Setting("design"),
        bins=Setting("bins"),
        limit=Setting("max_rows"),
    )
