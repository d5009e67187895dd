"""Columns that may give the target away, and gaps that follow a rule.

A share of the target's entropy depends on how common the classes are: a copy of the target in
which 2 % of the rows are wrong explains 86 % of a target with two equal classes, and 69 % of one
with 2 % of cases. So both are looked at: the rows as they are, and every class given the same
weight, in which a copy with so many errors explains the same however rare a class is.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from misfeat.answers.caution import MOST_NAMED, SUSPECTS, Caution
from misfeat.cohorts.cohort_data import NOT_RECORDED, Cohorts, ColumnAudit
from misfeat.cohorts.column_profiles import IDENTIFIER
from misfeat.cohorts.features import SUSPECT, without_features
from misfeat.exceptions import Message, Setting, listed
from misfeat.runtime.array_types import Flags, Floats
from misfeat.words import joined

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
GAPS_TELL, VALUES_TELL = 10.0, 0.1  # deviations beyond chance, and of these at most by values
CONFOUNDED = 0.5  # a pattern is that of the subgroups where they explain this part of it
NEARLY = 0.95  # nearly always is in this share of the rows, nearly never in less than the rest
LEAST_BY_RULE = 20  # so many rows must lack a feature by a rule, and so many have it
MOST_ROWS = 100_000  # of more distinct rows, so many are looked at for rules


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
            # entropy of the rows as they are: all cases of a rare disease may be old, and age is
            # not a leak.
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
    where: NDArray[np.intp] | None,
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
) -> tuple["TargetShare | None", NDArray[np.intp] | None]:
    """What is explained, and in which subgroups; None for all of them together."""
    together = share_of_target(tables.sum(axis=0))
    if is_much(together):
        return together, None
    shares = [share_of_target(table) for table in tables]
    where = np.flatnonzero([is_much(share) for share in shares])
    return max((shares[i] for i in where), key=lambda share: share.sure, default=None), where


def telling_gaps(cohorts: Cohorts, but: Collection[str]) -> Iterator[Caution]:
    """Features that tell by whether a row holds a value of them, and hardly by which one."""
    for feature, name in enumerate(cohorts.features):
        gap, n_values = is_gap(cohorts, feature), len(cohorts.categories[feature])
        tables = rows_by_class(cohorts, gap, np.ones(len(gap), dtype=bool), 2)
        tables[cohorts.missing[:, feature]] = 0.0
        values = rows_by_class(cohorts, cohorts.codes[feature], ~gap, n_values)
        by_gap, by_value = _beyond_chance(tables), _beyond_chance(values)
        if name not in but and by_gap >= GAPS_TELL and by_value <= VALUES_TELL * by_gap:
            out = Setting("exclude", [name])
            yield Caution.of("telling gaps", columns=(name,), target=cohorts.target, exclude=out)


def _beyond_chance(tables: Floats) -> float:
    """The G statistic of tables, one a subgroup, less what chance gives, in its deviations."""
    from scipy.special import rel_entr

    rows, classes = (tables.sum(axis=axis, keepdims=True) for axis in (2, 1))
    expected = rows * classes / np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1.0)
    free = [np.maximum((margin > 0).sum(axis=(1, 2)) - 1, 0) for margin in (rows, classes)]
    freedom = max(float((free[0] * free[1]).sum()), 1.0)
    statistic = 2.0 * float(rel_entr(tables, expected).sum())
    return float((statistic - freedom) / np.sqrt(2.0 * freedom))


def is_gap(cohorts: Cohorts, feature: int) -> Flags:
    """Which rows hold no value of a feature."""
    codes, gaps = cohorts.codes[feature], cohorts.gap_codes[feature]
    absent: Flags = codes == NOT_RECORDED
    return absent | np.isin(codes, gaps) if gaps else absent


def rows_by_class(cohorts: Cohorts, codes: NDArray[Any], kept: Flags, n_values: int) -> Floats:
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
    """Whether bins are filled class by class; counts have a line a bin, in their order."""
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


class Rule(NamedTuple):
    """Others are missing where feature `by` has the codes `always`.

    It is `mixed` if one bin lies on both sides of the cut.
    """

    by: int
    always: tuple[int, ...]
    mixed: bool


def missing_by_rule(cohorts: Cohorts) -> Iterator[Caution]:
    """Features that are missing where another one has certain values, and seldom elsewhere."""
    # They may be asked only of smokers, or measured only from some age on. Within a subgroup such a
    # feature counts as recorded, with gaps; its parts are better taken as subgroups.
    audits = {audit.column: audit for audit in cohorts.columns if audit.role == "feature"}
    every = slice(None, None, -(-cohorts.codes.shape[1] // MOST_ROWS) or 1)
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))[every]
    all_weights = cohorts.weights[every].astype(np.float64)
    codes, n_features = cohorts.codes[:, every], len(cohorts.features)
    gaps = np.array([is_gap(cohorts, feature)[every] for feature in range(n_features)])
    features_by_rule: dict[Rule, list[int]] = {}
    for feature in range(n_features):
        own = ~cohorts.missing[cohort_of, feature]
        weights, lacks = all_weights[own], gaps[feature, own]
        share = float(weights[lacks].sum()) / max(float(weights.sum()), 1.0)
        if not 1 - NEARLY <= share <= NEARLY:
            continue
        best, least = None, np.inf  # the rule that leaves the least doubt
        for by, name in enumerate(cohorts.features):
            if by == feature or name not in audits:
                continue
            known = ~gaps[by, own]
            if weights[known].sum() < NEARLY * weights.sum():
                continue
            own_codes, n_codes = codes[by, own][known], len(cohorts.categories[by])
            rows = np.bincount(own_codes, weights[known], n_codes).astype(np.float64)
            gone = np.bincount(own_codes, (weights * lacks)[known], n_codes).astype(np.float64)
            rule = _rule(by, rows, gone, ordered=bool(audits[name].edges))
            doubt = float(np.minimum(gone, rows - gone).sum())
            if rule is not None and doubt < least:
                best, least = rule, doubt
        if best is not None:
            features_by_rule.setdefault(best, []).append(feature)
    for rule, features in features_by_rule.items():
        yield _rule_caution(cohorts, rule, features, audits[cohorts.features[rule.by]])


def _rule(by: int, rows: Floats, gone: Floats, ordered: bool) -> Rule | None:
    """The rule that a feature's codes follow; None where they follow none."""
    share = gone / np.maximum(rows, 1.0)
    always, never = (rows > 0) & (share >= NEARLY), (rows > 0) & (share <= 1 - NEARLY)
    unclear = (rows > 0) & ~always & ~never
    if min(rows[always].sum(), rows[never].sum()) < LEAST_BY_RULE:
        return None
    (between,) = np.nonzero(unclear)
    mixed = ordered and len(between) == 1  # one bin lies between those of either kind
    if mixed:
        sides = slice(None, between[0]), slice(between[0] + 1, None)
        mixed = not any(always[side].any() and never[side].any() for side in sides)
    if not mixed and rows[unclear].sum() > (1 - NEARLY) * rows.sum():
        return None
    return Rule(by, tuple(np.flatnonzero(always).tolist()), mixed)


def _rule_caution(cohorts: Cohorts, rule: Rule, features: list[int], audit: ColumnAudit) -> Caution:
    names = [cohorts.features[feature] for feature in features]
    values = [cohorts.categories[rule.by][code] for code in rule.always]
    # What would separate the subgroups: values, the cut between bins, or one to look for.
    groups = Setting("groups", audit.column)
    if audit.edges:
        sides = [code in rule.always for code in range(len(audit.edges) + 1)]
        cuts = zip(audit.edges, pairwise(sides), strict=True)
        changes = [edge for edge, (below, above) in cuts if below != above]
        groups = Setting("groups", changes, column=audit.column)
        if rule.mixed or not changes:
            groups = Setting("groups", "auto")
    one = len(names) == 1
    return Caution.of(
        "missing by rule",
        f"{'Feature' if one else 'Features'} {{names}} {'is' if one else 'are'} missing nearly "
        "always where {by!r} is {values}, and nearly never "
        f"{'beyond the bin next to that' if rule.mixed else 'elsewhere'}: "
        f"{'it' if one else 'each of them'} seems to be recorded by that rule.",
        columns=(*names, audit.column),
        names=listed(names, MOST_NAMED),
        by=audit.column,
        values=listed(values, MOST_NAMED),
        groups=groups,
    )
