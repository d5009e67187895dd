"""Columns that may give the target away, by their values or by where they have none.

A share of the target's entropy depends on how common the classes are: a copy of the target in
which 2 % of the rows are wrong explains 86 % of a target with two equal classes, and 69 % of one
with 2 % of cases. So both are looked at: the rows as they are, and every class given the same
weight, in which a copy with so many errors explains the same however rare a class is.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from misfeat.answers.caution import SUSPECTS, Caution
from misfeat.cohorts.cohort_data import Cohorts, is_gap
from misfeat.cohorts.column_profiles import IDENTIFIER
from misfeat.cohorts.feature_removal import SUSPECT, without_features
from misfeat.messages import Message, Setting
from misfeat.number_formatting import joined
from misfeat.runtime.array_types import Array, Flags, Floats, Indices

DETERMINES, DETERMINES_NUMBER = 0.67, 0.6
"""A column that explains this share of the target by itself nearly determines it. A copy with 5 %
of errors explains 71 %, a number with noise of a tenth of its deviation 66 to 77 % of its bins; the
strongest feature of ten real tables 65 % of classes."""
SURELY = 0.5  # and at least this share two standard deviations below the estimate
DEVIATIONS = 2.0
HALF_A_ROW = 0.5  # Jeffreys' prior, added to every value of every class
IN_ORDER = 0.95  # of the rows of every class lie where they would if classes were in order
LEAST_OF_CLASS = 20  # fewer rows of a class lie in one bin easily by chance
PATTERN_EXPLAINS = 0.25  # gaps that explain this share for sure are suspicious
GAPS_EXPLAIN, VALUES_EXPLAIN = 10.0, 0.1  # deviations beyond chance, and of these at most by values
CONFOUNDED = 0.5  # a pattern is that of the subgroups where they explain this part of it


def without_suspects(cohorts: Cohorts, kept: Collection[str]) -> tuple[Cohorts, tuple[str, ...]]:
    """The cohorts without features that may give the target away, with a note; and these."""
    # They are leaks, missing patterns and identifiers; some are kept in any case.
    audits = [audit for audit in cohorts.columns if audit.looks_like == IDENTIFIER]
    why = {audit.column: "looks like an identifier" for audit in audits}
    for one in (*missing_patterns(cohorts), *leaks(cohorts)):
        how = "by itself" if one.kind == "leak" else "by where it is missing"
        share = one.sentence.about["share"]
        why[one.columns[0]] = f"explains {share:.0f} % of the target {how}"
    named = [name for name in cohorts.features if name in why and name not in kept]
    note = Message(
        "{suspects} leaves out {names}.",
        suspects=Setting("exclude", SUSPECTS),
        names=joined([f"{name!r} ({why[name]})" for name in named] or ["nothing"], most=len(named)),
    )
    left = without_features(cohorts, named, SUSPECT)
    return replace(left, notes=(*cohorts.notes, note)), tuple(named)


def leaks(cohorts: Cohorts) -> Iterator[Caution]:
    """Features that nearly determine the target alone, where they are recorded."""
    cohorts = cohorts.with_cells()  # of a time, whether the event happened by a horizon
    binned = {audit.column for audit in cohorts.columns if audit.edges}
    least = DETERMINES_NUMBER if cohorts.is_number else DETERMINES
    for feature, name in enumerate(cohorts.features):
        recorded, n_values = ~is_gap(cohorts, feature), len(cohorts.categories[feature])
        tables = rows_by_class(cohorts, cohorts.codes[feature], recorded, n_values)
        explained, where = _explained_in(
            tables, lambda share: share.share >= least and share.sure >= SURELY
        )
        if explained is None and name in binned:
            # Bins may cut through the classes of a number that determines them. Half of the
            # entropy: all cases of a rare disease may be old, and age is not a leak.
            table = tables.sum(axis=0)
            of_rows = share_of_target(table, by_class=False)
            if of_rows.share >= SURELY and orders_classes(table):
                explained, where = of_rows, None
        if explained is not None:
            yield _leak_caution("leak", cohorts, feature, explained, where)


def missing_patterns(cohorts: Cohorts) -> Iterator[Caution]:
    """Features whose gaps explain the target: recorded, perhaps, only once it was known."""
    for feature in range(len(cohorts.features)):
        gap = is_gap(cohorts, feature)
        tables = rows_by_class(cohorts, gap, np.ones(len(gap), dtype=bool), 2)
        tables[cohorts.missing[:, feature]] = 0.0
        if not tables[:, 1].any():
            continue
        explained, where = _explained_in(tables, lambda share: share.sure >= PATTERN_EXPLAINS)
        if explained is None:
            continue
        if where is None:
            # Gaps spread over the classes within each subgroup: where that explains much of the
            # pattern, it comes of subgroups that differ in gaps and in classes, not of rows.
            rows = np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1)
            expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True) / rows
            if share_of_target(expected.sum(axis=0)).share >= CONFOUNDED * explained.share:
                continue
        yield _leak_caution("missing pattern", cohorts, feature, explained, where)


def _leak_caution(
    kind: str,
    cohorts: Cohorts,
    feature: int,
    explained: "TargetShare",
    where: Indices | None,
) -> Caution:
    name = cohorts.features[feature]
    indices = np.flatnonzero(~cohorts.missing[:, feature]) if where is None else where
    subgroups = [cohorts.names[index] for index in indices]
    several = where is None and len(subgroups) > 1
    together: dict[str, Any] = {"where": "all subgroups together"} if several else {}
    return Caution.of(
        kind,
        columns=(name,),
        subgroups=subgroups,
        share=100 * explained.share,
        target=cohorts.target,
        exclude=Setting("exclude", [name]),
        **together,
    )


def _explained_in(
    tables: Floats, is_much: Callable[["TargetShare"], bool]
) -> tuple["TargetShare | None", Indices | None]:
    """What is explained, and in which subgroups; None for all of them together."""
    together = share_of_target(tables.sum(axis=0))
    if is_much(together):
        return together, None
    shares = [share_of_target(table) for table in tables]
    where = np.flatnonzero([is_much(share) for share in shares])
    return max((shares[i] for i in where), key=lambda share: share.sure, default=None), where


def informative_gaps(cohorts: Cohorts, but: Collection[str]) -> Iterator[Caution]:
    """Features that explain by whether a row holds a value of them, and hardly by which one."""
    for feature, name in enumerate(cohorts.features):
        gap, n_values = is_gap(cohorts, feature), len(cohorts.categories[feature])
        tables = rows_by_class(cohorts, gap, np.ones(len(gap), dtype=bool), 2)
        tables[cohorts.missing[:, feature]] = 0.0
        values = rows_by_class(cohorts, cohorts.codes[feature], ~gap, n_values)
        by_gap, by_value = _beyond_chance(tables), _beyond_chance(values)
        if name not in but and by_gap >= GAPS_EXPLAIN and by_value <= VALUES_EXPLAIN * by_gap:
            out, target = Setting("exclude", [name]), cohorts.target
            yield Caution.of("informative gaps", columns=(name,), target=target, exclude=out)


def _beyond_chance(tables: Floats) -> float:
    """The G statistic of tables, one a subgroup, less what chance gives, in its deviations."""
    from scipy.special import rel_entr

    rows, classes = (tables.sum(axis=axis, keepdims=True) for axis in (2, 1))
    expected = rows * classes / np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1.0)
    free = [np.maximum((margin > 0).sum(axis=(1, 2)) - 1, 0) for margin in (rows, classes)]
    freedom = max(float((free[0] * free[1]).sum()), 1.0)
    statistic = 2.0 * float(rel_entr(tables, expected).sum())
    return float((statistic - freedom) / np.sqrt(2.0 * freedom))


def rows_by_class(cohorts: Cohorts, codes: Array, kept: Flags, n_values: int) -> Floats:
    """Rows of those that are kept, by subgroup, code and class."""
    shape = len(cohorts), n_values, len(cohorts.classes)
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))[kept]
    cells = np.ravel_multi_index((cohort_of, codes[kept], cohorts.target_codes[kept]), shape)
    counts = np.bincount(cells, cohorts.weights[kept], int(np.prod(shape)))
    return counts.astype(np.float64).reshape(shape)


class TargetShare(NamedTuple):
    """The share of the target's entropy that a column explains: estimated, and for sure."""

    share: float
    sure: float


def share_of_target(counts: ArrayLike, *, by_class: bool = True) -> TargetShare:
    """The share of the entropy that a column explains, by the weighting by which more is sure."""
    table = np.asarray(counts, dtype=np.float64)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return TargetShare(0.0, 0.0)
    rows = table.sum(axis=0)
    as_they_are = _weighted_share(table, rows / rows.sum())
    if not by_class:
        return as_they_are
    equal = _weighted_share(table, np.full(len(rows), 1 / len(rows)))
    return max(as_they_are, equal, key=lambda share: (share.sure, share.share))


def _weighted_share(table: Floats, weights: Floats) -> TargetShare:
    """The share and its lower end, the classes taken to be as common as the weights say."""
    # With p(x | y) from the counts and m(x) their mean over classes, the information is the mean of
    # log p(x | y) / m(x), and the variance of that logarithm over the rows of each class gives the
    # standard error (the delta method).
    smoothed = table + HALF_A_ROW
    rows = smoothed.sum(axis=0)
    given = smoothed / rows
    logs = np.log(given / (given @ weights)[:, None])
    by_class = (given * logs).sum(axis=0)
    spread = np.maximum((given * logs**2).sum(axis=0) - by_class**2, 0.0)
    error = float(np.sqrt((weights**2 * spread / rows).sum()))
    whole = float(-(weights * np.log(weights)).sum())
    mean = float(weights @ by_class)
    return TargetShare(max(mean, 0.0) / whole, max(mean - DEVIATIONS * error, 0.0) / whole)


def orders_classes(counts: ArrayLike) -> bool:
    """Whether bins are filled class by class; counts have one line per bin, in their order."""
    # A number that lies lower in every row of one class than in any row of the next determines the
    # target, and yet its bins do not where they cut through a class. Then the table of bins and
    # classes is the one that its margins alone give, filled in order (the north-west corner rule).
    table = np.asarray(counts, dtype=np.float64)
    table = table[:, table.sum(axis=0) > 0]
    by_class = table.sum(axis=0)
    if len(by_class) < 2 or by_class.min() < LEAST_OF_CLASS:
        return False
    table = table[:, np.argsort(np.arange(len(table)) @ table / by_class)]
    bins = np.concatenate([[0.0], np.cumsum(table.sum(axis=1))])
    classes = np.concatenate([[0.0], np.cumsum(table.sum(axis=0))])
    upper = np.minimum(bins[1:, None], classes[None, 1:])
    lower = np.maximum(bins[:-1, None], classes[None, :-1])
    in_order = np.maximum(upper - lower, 0.0)
    agreeing = np.minimum(table, in_order).sum(axis=0)
    return bool((agreeing >= IN_ORDER * table.sum(axis=0)).all())
