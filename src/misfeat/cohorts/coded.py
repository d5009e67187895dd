"""The rows of a table in codes, counted or drawn, and columns with many values settled then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coders import CodedRows, Coder, Kind, collapse
from misfeat.cohorts.columns import ONE_BY_ONE
from misfeat.cohorts.drawing import Drawing, DrawsRows
from misfeat.cohorts.merging import Classes, merged
from misfeat.exceptions import MemoryLimitError, Setting
from misfeat.machine.memory import allowed_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.cohorts.model import ColumnAudit
    from misfeat.cohorts.profiles import Profile
    from misfeat.cohorts.profiling import ProfiledTable
    from misfeat.cohorts.rules import Notes
    from misfeat.cohorts.targets import TargetCoding

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
