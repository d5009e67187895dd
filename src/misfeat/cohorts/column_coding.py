"""Coding: its settings, and how columns become codes."""

import datetime as dt
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.cohort_data import ColumnAudit
from misfeat.cohorts.column_profiles import (
    DISTINCT_LIMIT,
    FREE_TEXT,
    IDENTIFIER,
    LEAST_ROWS,
    Profile,
    holds_sentences,
    looks_like,
)
from misfeat.cohorts.merged_categories import RECORDED, common_values
from misfeat.cohorts.parsed_text import TEXT
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.parameters.coding_parameters import CodingParameters
from misfeat.parameters.declaration import Parameters, with_parameters
from misfeat.reading.coders import CategoryCoder, Coder, EdgeCoder, Kind
from misfeat.reading.inputs import Table
from misfeat.reading.table_statistics import quantiles_of_counts
from misfeat.reading.values import LARGEST_INTEGER, Value, canonical, label, read_number
from misfeat.runtime.array_types import Array, Integers

if TYPE_CHECKING:
    from misfeat.cohorts.cohort_building import CohortRules


@with_parameters
class Coding(CodingParameters, Parameters):
    """How the columns of a table become codes, and which rows become subgroups.

    {parameters}

    Examples
    --------
    >>> from misfeat import Coding, SubgroupSelector
    >>> table = {"age": [20, 30, 50, 60], "y": [0, 0, 1, 1]}
    >>> selector = SubgroupSelector(size=1, coding=Coding(bins={"age": [40]})).fit(table, "y")
    >>> selector.cohorts_.categories
    (('<=40', '>40'),)
    >>> selector.set_params(coding__bins=2).coding
    Coding(bins=2)
    """


MOST_BINS = 250
MOST_CUT_POINTS = 1000


@dataclass(frozen=True)
class BinRules:
    """How many bins, and where."""

    bins: int = 5
    by_column: Mapping[str, int | tuple[Value, ...]] = field(default_factory=dict)
    """Another number, or the cut points themselves, for single columns."""

    @classmethod
    def parse(cls, bins: object) -> "BinRules":
        """Read the parameter ``bins``: a number, or a dict by column."""
        if not isinstance(bins, Mapping):
            return cls(_number_of_bins(bins))
        everywhere = _number_of_bins(bins.get("*", cls.bins), "*")
        by_column = {
            column: _number_of_bins(rule, column)
            if isinstance(rule, Integral)
            else cut_points(rule, "bins", column)
            for column, rule in bins.items()
            if column != "*"
        }
        return cls(everywhere, by_column)


def _number_of_bins(value: Any, column: str | None = None) -> int:
    if not isinstance(value, Integral) or not 2 <= int(value) <= MOST_BINS:
        raise MisfeatError(
            f"{Setting('bins', value, column=column)}; it must be an integer from 2 to {MOST_BINS}."
        )
    return int(value)


def cut_points(points: object, parameter: str, column: str | None = None) -> tuple[Value, ...]:
    """Check cut points: numbers or dates (ISO text will do), ascending, at least one."""
    setting = Setting(parameter, points, column=column)
    if not isinstance(points, Sequence | np.ndarray) or isinstance(points, str) or not len(points):
        raise MisfeatError(
            f"{setting}; give cut points, such as {Setting(parameter, [40, 65], column=column)}."
        )
    parsed = tuple(map(_cut_point, points))
    if None in parsed:
        problem = f": {points[parsed.index(None)]!r} is neither a number nor a date."
    elif any(isinstance(p, int) and abs(p) > LARGEST_INTEGER for p in parsed):
        problem = " holds an integer that 64 bits do not; give cut points between -2**63 and 2**63."
    elif len(parsed) > MOST_CUT_POINTS:
        problem = f" has {len(parsed):,} cut points; give at most {MOST_CUT_POINTS:,}."
    elif len({isinstance(point, int | float) for point in parsed}) > 1:
        problem = " mixes numbers and dates; give one kind."
    elif any(a >= b for a, b in itertools.pairwise(parsed)):
        problem = " must ascend, without repeats."
    else:
        return parsed
    raise MisfeatError(f"{setting}{problem}")


def _cut_point(point: object) -> Value:
    if isinstance(point, str):
        number = read_number(point)
        try:
            return canonical(dt.datetime.fromisoformat(point) if number is None else number)
        except ValueError:
            return None
    value = canonical(point)
    return None if isinstance(value, bool | str) else value


def check_cut_points(profile: Profile, points: tuple[Value, ...], parameter: str) -> None:
    """Refuse cut points, given in a parameter, that do not fit the column's type."""
    numeric = isinstance(points[0], int | float)
    fits = profile.kind in (Kind.INTEGER, Kind.NUMBER) if numeric else profile.kind is Kind.TIME
    if not fits:
        raise MisfeatError(
            f"Column {profile.column!r} holds {profile.kind.value} values and cannot be cut at "
            f"{', '.join(map(label, points))}; give cut points of its own kind, or none.",
            column=profile.column,
            parameter=parameter,
        )


def quantile_edges(
    values: Array, counts: Integers, bins: int, part: int = 0, parts: int = 1
) -> tuple[Value, ...]:
    """Edges that fill the bins as equally as ties allow; each edge is a value of the column."""
    # Edge k is the smallest value with at least k/bins of the rows at or below it. All edges may be
    # moved up by part/parts of a bin, where the first bin is what is cut off below them.
    return _inner(quantiles_of_counts(values, counts, _levels(bins, part, parts)))


def _levels(bins: int, part: int, parts: int) -> list[Fraction]:
    levels = range(part or parts, bins * parts, parts)
    return [*(Fraction(level, bins * parts) for level in levels), Fraction(1)]


def _inner(quantiles: Sequence[Any]) -> tuple[Value, ...]:
    """Different edges; what is the largest value, given last, would leave a bin empty."""
    *edges, largest = quantiles
    return tuple(canonical(edge) for edge in sorted(set(edges) - {largest}))


def learned_quantiles(
    table: Table, profile: Profile, bins: int, part: int = 0, parts: int = 1
) -> tuple[Value, ...]:
    """The edges of equally full bins of a column, moved as in `quantile_edges`."""
    counts = profile.counts
    if counts is not None:
        return quantile_edges(counts.values, counts.counts, bins, part, parts)
    return _inner(table.quantiles(profile.reading, _levels(bins, part, parts)))


def cut_at(profile: Profile, edges: tuple[Value, ...]) -> EdgeCoder:
    """A coder of the bins between edges."""
    return EdgeCoder(profile.reading, edges, interval_labels(edges))


def interval_labels(edges: Sequence[Value]) -> tuple[str, ...]:
    """Labels of the bins between edges; six digits, or all where these do not differ."""
    cuts = [f"{edge:.6g}" if isinstance(edge, float) else label(edge) for edge in edges]
    if len(set(cuts)) < len(cuts):
        cuts = [label(edge) for edge in edges]
    inner = [f"({a}, {b}]" for a, b in itertools.pairwise(cuts)]
    return (f"<={cuts[0]}", *inner, f">{cuts[-1]}") if cuts else ("any",)


_KINDS = {
    Kind.INTEGER: "number",
    Kind.NUMBER: "number",
    Kind.TEXT: "category",
    Kind.FLAG: "flag",
    Kind.TIME: "date",
}
NEVER_RECORDED = "never recorded"
AS_IT_IS = "as it is"
OF_CODEBOOK = "bins of the codebook"
TO_MERGE = "one by one"  # The treatment of a column whose values are merged once rows are counted
CATEGORIES = 9, 40  # How many categories are kept at least and at most, where the user does not say
ROWS_A_CATEGORY = 50  # In between, one for so many rows
MOST_CODES = 1500  # And no more in all columns together, whose cross-products are held
UNSCORED = "its type cannot be scored"
SCATTERED = "most of its texts occur once or twice"
UNREAD = (IDENTIFIER, FREE_TEXT, SCATTERED)  # Why values are not looked at, though gaps may explain


def most_categories(coding: Coding, rows: int, n_columns: int) -> int:
    """Distinct values up to which columns are not merged: more in tables of many rows."""
    if coding.max_categories is not None:
        return min(coding.max_categories, DISTINCT_LIMIT)
    fewest, most = CATEGORIES
    most = min(most, rows // ROWS_A_CATEGORY, MOST_CODES // n_columns, DISTINCT_LIMIT)
    return max(fewest, most)


def feature_coder(
    table: Table, profile: Profile, rules: "CohortRules"
) -> tuple[Coder | None, ColumnAudit]:
    """Decide how a feature is coded; without a coder it is left out, and the audit says why."""
    bins, most = rules.bins, most_categories(rules.coding, profile.rows, len(table.names))
    kept = rules.ways.get(profile.column) == TEXT  # as the user says, whatever it looks like
    why_not = _reason_to_leave_out(profile, bins, kept)
    if why_not:
        return _by_gaps(profile, why_not, rules)
    chosen = profile.column in bins.by_column
    if chosen and not profile.kind.ordered:
        raise MisfeatError(
            f"{Setting('bins')} names the column {profile.column!r}, which holds "
            f"{profile.kind.value} values and cannot be binned; take it out of {Setting('bins')}.",
            column=profile.column,
        )
    coder: Coder | None
    if profile.kind.ordered and (chosen or profile.distinct > most):
        coder, treatment = binned(table, profile, bins)
        usual = None if chosen else _cut_beside_usual(profile, bins.bins)
        if usual is not None:
            coder, treatment = usual, f"{len(usual.labels)} quantile bins, one of a single value"
    elif profile.distinct <= most:
        coder, treatment = as_it_is(profile), AS_IT_IS
    elif profile.in_order:
        coder, treatment = as_it_is(profile), TO_MERGE
    else:
        coder, treatment = common_values(profile), TO_MERGE
        often_new = profile.recorded >= LEAST_ROWS and 2 * profile.distinct > profile.recorded
        if len(coder.values) < 2 and often_new and not kept and profile.kind is Kind.TEXT:
            return _by_gaps(profile, SCATTERED, rules)
        if len(coder.values) < 2:
            coder = common_values(profile, fewest=1)
    return coder, audit_of(profile, coder, "feature", treatment)


def _by_gaps(profile: Profile, why: str, rules: "CohortRules") -> tuple[Coder | None, ColumnAudit]:
    """A coder of what is recorded and what is not, where that may be a feature; else none."""
    sporadic = rules.coding.sporadic == "category"
    if why not in UNREAD or not profile.missing or not sporadic:
        return None, left_out(profile, why)
    coder = EdgeCoder(profile.reading, (), (RECORDED,))
    return coder, replace(audit_of(profile, coder, "feature", why), looks_like="")


def _reason_to_leave_out(profile: Profile, rules: BinRules, kept: bool) -> str | None:
    if profile.kind is Kind.UNSUPPORTED:
        return UNSCORED
    if profile.distinct == 0:
        return NEVER_RECORDED
    if profile.distinct == 1 and profile.missing == 0:
        return "constant"
    if profile.counts is None and profile.kind is Kind.TEXT:
        return IDENTIFIER
    if profile.is_identifier and not kept and profile.column not in rules.by_column:
        return FREE_TEXT if holds_sentences(profile) else IDENTIFIER
    if not kept and looks_like(profile) == FREE_TEXT and holds_sentences(profile):
        return FREE_TEXT
    has_cuts = isinstance(rules.by_column.get(profile.column), tuple)
    if profile.counts is None and profile.kind is Kind.TIME and not has_cuts:
        return f"more than {DISTINCT_LIMIT:,} distinct dates; give cut points to keep it"
    return None


def as_it_is(profile: Profile) -> CategoryCoder | EdgeCoder:
    """One code per value."""
    if profile.counts is None:
        raise MisfeatError(
            f"Column {profile.column!r} has more than {DISTINCT_LIMIT:,} distinct values; group "
            "its values first.",
            column=profile.column,
        )
    values = tuple(canonical(value) for value in profile.counts.values)
    labels = tuple(profile.text.spelled.get(value) or label(value) for value in values)
    if profile.kind.ordered:
        return EdgeCoder(profile.reading, values[:-1], labels)
    return CategoryCoder(profile.reading, values, labels)


def binned(table: Table, profile: Profile, rules: BinRules) -> tuple[EdgeCoder, str]:
    """A coder of bins, and in words which."""
    rule = rules.by_column.get(profile.column, rules.bins)
    if isinstance(rule, tuple):
        check_cut_points(profile, rule, "bins")
        return cut_at(profile, rule), "given cut points"
    coder = cut_at(profile, learned_quantiles(table, profile, rule))
    return coder, f"{len(coder.labels)} quantile bins"


def _cut_beside_usual(profile: Profile, bins: int) -> EdgeCoder | None:
    """A coder in which a value of more than half of the rows is a bin; None where none is one."""
    counts = profile.counts
    usual = 0 if counts is None else int(np.argmax(counts.counts))
    if counts is None or 2 * counts.counts[usual] <= profile.recorded or bins < 3:
        return None
    others = counts.without(np.arange(len(counts.values)) == usual)
    edges = {canonical(value) for value in counts.values[max(usual - 1, 0) : usual + 1]}
    edges |= {*quantile_edges(others.values, others.counts, bins - 1)}
    return cut_at(profile, tuple(sorted(edges - {canonical(counts.values[-1])})))


def audit_of(profile: Profile, coder: Coder, role: str, treatment: str) -> ColumnAudit:
    """How a column that is coded was treated."""
    edges = coder.edges if isinstance(coder, EdgeCoder) and treatment != AS_IT_IS else ()
    looks = looks_like(profile) if role == "feature" else ""
    about: dict[str, Any] = {"categories": coder.labels, "edges": edges, "looks_like": looks}
    return replace(left_out(profile, treatment), role=role, **about)


def left_out(profile: Profile, why: str) -> ColumnAudit:
    """That a column is not a feature, and why."""
    taken_for = "category, in order" if profile.in_order else profile.text.words
    example = profile.text.example
    if not example and profile.counts is not None and profile.distinct:
        example = label(canonical(profile.counts.values[np.argmax(profile.counts.counts)]))
    about: dict[str, Any] = {"missing": profile.missing, "example": example}
    taken_for = taken_for or (_KINDS.get(profile.kind, "") if profile.distinct else "")
    return ColumnAudit(profile.column, "left out", why, taken_for=taken_for, **about)
