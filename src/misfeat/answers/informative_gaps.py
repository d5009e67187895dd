"""Features whose gaps say something: about the target, or by which rule they are recorded.

Where a gap explains the target, the feature was recorded, perhaps, only once it was known. A
feature may be missing by a rule, asked only of smokers or measured only from some age on. Within a
subgroup it counts as recorded, with gaps. Where a value of another feature tells where it is
missing, its subgroups recorded other features, and are better told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from misfeat.answers.caution import MOST_NAMED, NOTE, Caution
from misfeat.answers.leaks import explained_in, is_gap, leak_caution, rows_by_class, share_of_target
from misfeat.exceptions import Setting, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.cohorts.model import ColumnAudit

BY_RULE, MISSING_PATTERN = "missing by rule", "missing pattern"
PATTERN_TELLS = 0.25
"""Whether a value is missing tells the target strongly from this share on, for sure."""
CONFOUNDED = 0.5
"""A pattern is that of the subgroups where their sizes alone explain this part of it."""
NEARLY = 0.95
"""In this share of the rows is nearly always, in less than the rest nearly never."""
LEAST_ROWS = 20
"""So many rows must lack the feature by the rule, and so many have it."""
MOST_ROWS = 100_000
"""Of more distinct rows, so many are looked at."""


def missing_patterns(cohorts: Cohorts) -> Iterator[Caution]:
    """Features whose gaps tell the target: recorded, perhaps, only once it was known."""
    for feature in range(len(cohorts.features)):
        gap = is_gap(cohorts, feature)
        tables = rows_by_class(cohorts, gap, np.ones(len(gap), dtype=bool), 2)
        tables[cohorts.missing[:, feature]] = 0.0
        if not tables[:, 1].any():
            continue
        explained, where = explained_in(tables, lambda one: one.sure >= PATTERN_TELLS)
        if explained is None:
            continue
        if where is None:
            # Gaps spread over the classes within each subgroup: where that explains much of the
            # pattern, it comes of subgroups that differ in gaps and in classes, not of rows.
            rows = np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1)
            expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True) / rows
            if share_of_target(expected.sum(axis=0)).share >= CONFOUNDED * explained.share:
                continue
        yield leak_caution(
            MISSING_PATTERN,
            "Whether feature {column!r} is missing tells {share:.0f} % of the target {target!r} in "
            "{where}: it may have been recorded only once the target was known.",
            "Unless it is recorded before, leave it out: {exclude}.",
            cohorts,
            feature,
            explained,
            where,
        )


@dataclass(frozen=True)
class Rule:
    """Others are missing with the codes `always`; `mixed` if a bin lies on both sides."""

    by: int
    always: tuple[int, ...]
    mixed: bool


def missing_by_rule(cohorts: Cohorts) -> Iterator[Caution]:
    """Features that are missing where another one has certain values, and seldom elsewhere."""
    audits = {audit.column: audit for audit in cohorts.columns if audit.role == "feature"}
    every = slice(None, None, -(-cohorts.codes.shape[1] // MOST_ROWS) or 1)
    cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))[every]
    all_weights = cohorts.weights[every].astype(np.float64)
    codes, n_features = cohorts.codes[:, every], len(cohorts.features)
    gaps = np.array([is_gap(cohorts, feature)[every] for feature in range(n_features)])

    def rule_of(feature: int) -> Rule | None:
        """The rule that leaves the least doubt where a feature is missing; None without one."""
        own = ~cohorts.missing[cohort_of, feature]
        weights, lacks = all_weights[own], gaps[feature, own]
        share = float(weights[lacks].sum()) / max(float(weights.sum()), 1.0)
        if not 1 - NEARLY <= share <= NEARLY:
            return None
        best, least = None, np.inf
        for by, name in enumerate(cohorts.features):
            if by == feature or name not in audits:
                continue
            known = ~gaps[by, own]
            if weights[known].sum() < NEARLY * weights.sum():
                continue
            n_codes = len(cohorts.categories[by])
            rows, gone = (
                np.bincount(
                    codes[by, own][known], weights=counted[known], minlength=n_codes
                ).astype(np.float64)
                for counted in (weights, weights * lacks)
            )
            rule = _rule(by, rows, gone, ordered=bool(audits[name].edges))
            doubt = float(np.minimum(gone, rows - gone).sum())
            if rule is not None and doubt < least:
                best, least = rule, doubt
        return best

    found: dict[Rule, list[int]] = {}
    for feature in range(n_features):
        rule = rule_of(feature)
        if rule is not None:
            found.setdefault(rule, []).append(feature)
    for rule, features in found.items():
        yield _caution(cohorts, rule, features, audits[cohorts.features[rule.by]])


def _rule(
    by: int, rows: NDArray[np.float64], gone: NDArray[np.float64], ordered: bool
) -> Rule | None:
    """The rule that a feature's codes follow; None where they follow none."""
    share = gone / np.maximum(rows, 1.0)
    always, never = (rows > 0) & (share >= NEARLY), (rows > 0) & (share <= 1 - NEARLY)
    unclear = (rows > 0) & ~always & ~never
    if min(rows[always].sum(), rows[never].sum()) < LEAST_ROWS:
        return None
    (between,) = np.nonzero(unclear)
    mixed = ordered and len(between) == 1  # one bin lies between those of either kind
    if mixed:
        sides = slice(None, between[0]), slice(between[0] + 1, None)
        mixed = not any(always[side].any() and never[side].any() for side in sides)
    if not mixed and rows[unclear].sum() > (1 - NEARLY) * rows.sum():
        return None
    return Rule(by, tuple(np.flatnonzero(always).tolist()), mixed)


def _caution(cohorts: Cohorts, rule: Rule, features: list[int], audit: ColumnAudit) -> Caution:
    names = tuple(cohorts.features[feature] for feature in features)
    labels = cohorts.categories[rule.by]
    values = [labels[code] for code in rule.always]
    one = len(names) == 1
    # What would tell the subgroups apart: values, the cut between bins, or one to look for.
    groups = Setting("groups", audit.column)
    if audit.edges:
        sides = [code in rule.always for code in range(len(audit.edges) + 1)]
        cuts = zip(audit.edges, pairwise(sides), strict=True)
        changes = [edge for edge, (below, above) in cuts if below != above]
        groups = Setting("groups", changes, column=audit.column)
        if rule.mixed or not changes:
            groups = Setting("groups", "auto")
    return Caution.of(
        BY_RULE,
        "{Features} {names} {are} missing nearly always where {column!r} is {values}, and "
        "nearly never {elsewhere}: {it} seems to be recorded by that rule.",
        "If so, tell these subgroups apart, too: {groups}.",
        columns=(*names, audit.column),
        severity=NOTE,
        Features="Feature" if one else "Features",
        names=listed(names, MOST_NAMED),
        are="is" if one else "are",
        column=audit.column,
        values=listed(values, MOST_NAMED),
        elsewhere="beyond the bin next to that" if rule.mixed else "elsewhere",
        it="it" if one else "each of them",
        groups=groups,
    )
