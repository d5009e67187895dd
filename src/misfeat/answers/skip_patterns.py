"""Skip patterns: features that are recorded only by a rule, such as of smokers alone."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from misfeat.answers.caution import MOST_NAMED, Caution
from misfeat.cohorts.cohort_data import Cohorts, ColumnAudit, is_gap
from misfeat.messages import Setting, listed
from misfeat.runtime.array_types import Floats

NEARLY = 0.95  # nearly always is in this share of the rows, nearly never in less than the rest
LEAST_BY_RULE = 20  # so many rows must lack a feature by a rule, and so many have it
MOST_ROWS = 100_000  # of more distinct rows, so many are looked at for rules


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
