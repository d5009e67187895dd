"""Coding: its settings, and what becomes of each column: taken as it is, binned, or left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from misfeat.cohorts.binning import (
    BinRules,
    interval_labels,
    one_by_one,
    quantile_edges,
    quantile_levels,
    uniform_edges,
)
from misfeat.cohorts.model import ColumnAudit
from misfeat.cohorts.parsed_text import TEXT
from misfeat.cohorts.profiles import (
    DISTINCT_LIMIT,
    FREE_TEXT,
    IDENTIFIER,
    Profile,
    check_way,
    example_of,
    holds_sentences,
    looks_like,
    read_text,
    taken_for,
)
from misfeat.exceptions import MisfeatError, Setting
from misfeat.parameters.coding import CodingParameters
from misfeat.parameters.declaring import with_parameters
from misfeat.reading.coders import CategoryCoder, Coder, EdgeCoder, Kind, Reading
from misfeat.reading.values import MissingCodes, Value, canonical, check_values, label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.reading.table import Table, ValueCounts


@with_parameters
class Coding(CodingParameters, BaseEstimator):  # type: ignore[misc]
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


NEVER_RECORDED = "never recorded"
AS_IT_IS = "as it is"
OF_CODEBOOK = "bins of the codebook"
ONE_BY_ONE = "one by one"
UNSCORED = "its type cannot be scored"


def profile_column(
    table: Table, column: str, codes: MissingCodes, rows: int, way: str | None = None
) -> Profile:
    """Count the values of a column inside the engine, apply missing codes, and read text.

    `way` is one of `misfeat.cohorts.parsed_text.WAYS`, where the user says how text is to be read.
    """
    kind = table.kind(column)
    check_way(column, kind, way)
    if kind is Kind.UNSUPPORTED:
        return Profile(Reading(column), kind, None, 0, rows)
    raw = table.value_counts(column, DISTINCT_LIMIT)
    if raw is not None and kind is Kind.TEXT:
        check_values(raw.values, column)
    if raw is None:
        numeric = kind in (Kind.INTEGER, Kind.NUMBER)
        labels = (*codes.labels(column), *([""] if kind is Kind.TEXT else []))
        reading = Reading(column, codes.numbers(column) if numeric else labels)
        if kind in (Kind.TIME, Kind.FLAG):
            reading = Reading(column)
        return Profile(reading, kind, None, table.count_missing(reading), rows)
    is_code = _is_code(raw, kind, codes, column)
    counts = raw.without(is_code)
    missing = tuple(canonical(value) for value in raw.values[is_code])
    profile = Profile(Reading(column, missing), kind, counts, counts.missing, rows)
    order = table.order(column)
    if order is not None and way in (None, TEXT) and set(order).issuperset(counts.values.tolist()):
        return replace(profile, counts=counts.in_order(order), in_order=True)
    if kind is not Kind.TEXT:
        return profile
    return read_text(profile, way, lambda value: codes.holds(column, value))


def _is_code(raw: ValueCounts, kind: Kind, codes: MissingCodes, column: str) -> NDArray[np.bool_]:
    """Which of the values mean missing: numbers by value, all others by label."""
    if kind in (Kind.INTEGER, Kind.NUMBER):
        numbers = codes.numbers(column)
        if raw.values.dtype.kind == "i":
            numbers = tuple(n for n in numbers if isinstance(n, int) and abs(n) < 2**63)
        return np.isin(raw.values, np.array(numbers, dtype=raw.values.dtype))
    labels = set(codes.labels(column))
    blank = kind is Kind.TEXT  # text of no letters means missing, as it does in files
    return np.array(
        [label(value) in labels or (blank and not value.strip()) for value in raw.values],
        dtype=bool,
    )


SCATTERED = "most of its texts occur once or twice"


def feature_coder(
    table: Table, profile: Profile, bins: BinRules, coding: Coding, *, kept: bool = False
) -> tuple[Coder | None, ColumnAudit]:
    """Decide how a feature is coded; without a coder it is left out, and the audit says why.

    Where its treatment is `ONE_BY_ONE`, its many values are merged once rows are counted.
    """
    most = coding.max_categories
    why_not = _reason_to_leave_out(profile, bins, kept)
    if why_not:
        return None, left_out(profile, why_not)
    chosen = profile.column in bins.by_column
    if chosen and not profile.kind.ordered:
        raise MisfeatError(
            "{bins} names the column {column!r}, which holds {kind} values and cannot be binned; "
            "take it out of {bins}.",
            bins=Setting("bins"),
            column=profile.column,
            kind=profile.kind.value,
        )
    if profile.kind.ordered and (chosen or profile.distinct > most):
        coder, treatment = binned(table, profile, bins)
    elif profile.in_order and profile.distinct > most:
        coder, treatment = _neighbours(profile, bins.bins)
    elif profile.distinct > most:
        one_each = one_by_one(profile)
        if one_each is None and profile.is_scattered and not kept:
            return None, left_out(profile, SCATTERED)
        coder, treatment = (one_each, ONE_BY_ONE) if one_each else _most_frequent(profile, most)
    else:
        coder, treatment = as_it_is(profile), AS_IT_IS
    return coder, audit_of(profile, coder, "feature", treatment)


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


def as_it_is(profile: Profile) -> Coder:
    """One code per value."""
    if profile.counts is None:
        raise MisfeatError(
            "Column {column!r} has more than {most:,} distinct values; group its values first.",
            column=profile.column,
            most=DISTINCT_LIMIT,
        )
    values = tuple(canonical(value) for value in profile.counts.values)
    labels = tuple(profile.taken.spelled.get(value) or label(value) for value in values)
    if profile.kind.ordered:
        return EdgeCoder(profile.reading, values[:-1], labels)
    return CategoryCoder(profile.reading, values, labels)


def binned(table: Table, profile: Profile, rules: BinRules) -> tuple[Coder, str]:
    """A coder of bins, and in words which."""
    rule = rules.by_column.get(profile.column, rules.bins)
    if isinstance(rule, tuple):
        check_cut_points(profile, rule, "bins")
        return cut_at(profile, rule), "given cut points"
    edges = _learned_edges(table, profile, rule, rules.strategy)
    return cut_at(profile, edges), f"{len(edges) + 1} {rules.strategy} bins"


def learned_quantiles(
    table: Table, profile: Profile, bins: int, part: int = 0, parts: int = 1
) -> tuple[Value, ...]:
    """The edges of equally full bins of a column, moved by part/parts of a bin."""
    counts = profile.counts
    if counts is not None:
        return quantile_edges(counts.values, counts.counts, bins, part, parts)
    *found, largest = table.quantiles(profile.reading, [*quantile_levels(bins, part, parts), 1.0])
    return tuple(canonical(edge) for edge in sorted(set(found) - {largest}))


def _learned_edges(table: Table, profile: Profile, bins: int, strategy: str) -> tuple[Value, ...]:
    if strategy == "quantile":
        return learned_quantiles(table, profile, bins)
    counts = profile.counts
    if counts is not None:
        low, high = canonical(counts.values[0]), canonical(counts.values[-1])
    else:
        low, high = table.quantiles(profile.reading, [0.0, 1.0])
    if {low, high} & {float("inf"), float("-inf")}:
        raise MisfeatError(
            "Column {column!r} holds infinite values and cannot be cut into equally wide bins; use "
            "{quantile}, or give cut points in {bins}.",
            column=profile.column,
            quantile=Setting("binning", "quantile"),
            bins=Setting("bins"),
        )
    return uniform_edges(low, high, bins)


def check_cut_points(profile: Profile, points: tuple[Value, ...], parameter: str) -> None:
    """Refuse cut points, given in a parameter, that do not fit the column's type."""
    numeric = isinstance(points[0], int | float)
    fits = profile.kind in (Kind.INTEGER, Kind.NUMBER) if numeric else profile.kind is Kind.TIME
    if not fits:
        raise MisfeatError(
            "Column {column!r} holds {kind} values and cannot be cut at {points}; give cut points "
            "of its own kind, or none.",
            column=profile.column,
            kind=profile.kind.value,
            points=", ".join(map(label, points)),
            setting=Setting(parameter, [label(point) for point in points], column=profile.column),
        )


def cut_at(profile: Profile, edges: tuple[Value, ...]) -> EdgeCoder:
    """A coder of the bins between edges."""
    return EdgeCoder(profile.reading, edges, interval_labels(edges))


def _neighbours(profile: Profile, bins: int) -> tuple[Coder, str]:
    """Categories that have an order, neighbours merged into bins that are about equally full."""
    counts = profile.counts
    assert counts is not None  # noqa: S101  (identifiers were left out before)
    places = np.arange(len(counts.values))
    edges = quantile_edges(places, counts.counts, bins)
    names = [str(value) for value in counts.values]
    reading = replace(profile.reading, texts=tuple(names), values=tuple(places.tolist()))
    starts, ends = [0, *(edge + 1 for edge in edges)], [*edges, len(names) - 1]
    labels = tuple(
        names[start] if start == end else f"{names[start]} to {names[end]}"
        for start, end in zip(starts, ends, strict=True)
    )
    return EdgeCoder(reading, edges, labels), f"{len(labels)} bins in the order of the categories"


def _most_frequent(profile: Profile, max_categories: int) -> tuple[Coder, str]:
    """Keep the most frequent values, ties in the order of the values; the rest become one."""
    assert profile.counts is not None  # noqa: S101  (identifiers were left out before)
    order = np.argsort(-profile.counts.counts, kind="stable")[: max_categories - 1]
    values = tuple(profile.counts.values[p] for p in np.sort(order))
    labels = tuple(map(label, values))
    other = "other" if "other" not in labels else "(other)"
    coder = CategoryCoder(profile.reading, values, (*labels, other))
    return coder, f"{len(values)} most frequent values and {other}"


def audit_of(profile: Profile, coder: Coder, role: str, treatment: str) -> ColumnAudit:
    """How a column that is coded was treated."""
    edges = coder.edges if isinstance(coder, EdgeCoder) and treatment != AS_IT_IS else ()
    looks = looks_like(profile) if role == "feature" else ""
    return ColumnAudit(
        profile.column,
        role,
        treatment,
        coder.labels,
        edges,
        profile.missing,
        looks,
        taken_for=taken_for(profile),
        example=example_of(profile),
    )


def left_out(profile: Profile, why: str) -> ColumnAudit:
    """That a column is no feature, and why."""
    return ColumnAudit(
        profile.column,
        "left out",
        why,
        missing=profile.missing,
        taken_for=taken_for(profile),
        example=example_of(profile),
    )
