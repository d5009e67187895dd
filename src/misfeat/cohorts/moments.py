"""Moments: sums of products of numeric columns in every cohort, for measures of correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts import assemble
from misfeat.cohorts.build import check_columns, profile_columns
from misfeat.cohorts.coding import CodedRows, Kind
from misfeat.cohorts.columns import Profile, as_it_is
from misfeat.cohorts.groups import prepare
from misfeat.cohorts.opening import open_table
from misfeat.cohorts.products import GroupSums, Variable
from misfeat.cohorts.rules import CohortRules, Notes
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.table import Table

_NUMERIC = (Kind.INTEGER, Kind.NUMBER, Kind.FLAG)


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of products of centred numeric columns in every cohort.

    A missing value counts as the mean of its cohort, so the sums are those of a real table and a
    larger set never explains less.

    Attributes
    ----------
    names : tuple of str
        The subgroups.
    features : tuple of str
        The numeric features, in the table's column order.
    target : str
        The target's column.
    rows : ndarray of int64 of shape (n_cohorts,)
        Rows of each cohort.
    products : ndarray of shape (n_cohorts, n_features + 1, n_features + 1)
        Sums of products, the target last.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features are systematically missing in which cohort.
    """

    names: tuple[str, ...]
    features: tuple[str, ...]
    target: str
    rows: NDArray[np.int64]
    products: NDArray[np.float64]
    missing: NDArray[np.bool_]


def build_moments(X: object, y: object, *, groups: object = None, **choices: Any) -> Moments:
    """Sum products of the numeric columns of a table, cohort by cohort, inside its engine.

    Parameters
    ----------
    X, y, groups : object
        As for `build_cohorts`.
    **choices
        `missing_values`, `missing_threshold`, `min_rows`, `small_groups` and `missing_groups`, as
        for `build_cohorts`.

    Examples
    --------
    >>> moments = build_moments({"x": [0.0, 1.0, 2.0], "y": [0.0, 2.0, 4.0]}, "y")
    >>> moments.products[0].tolist()
    [[2.0, 4.0], [4.0, 8.0]]
    """
    choices = {"missing_values": None, "bins": 5, "binning": "quantile", **choices}
    rules = CohortRules.parse(groups=groups, **choices)
    table, target = open_table(X, y, rules.codes)
    return moments_of(table, target, rules)


def moments_of(table: Table, target: str, rules: CohortRules) -> Moments:
    """Sum the products of an open table; see `build_moments`."""
    check_columns(table, target, rules)
    profiles = profile_columns(table, rules, None)
    groupings = [prepare(rule, profiles) for rule in rules.groups]
    grouped = {column for rule in rules.groups for column in rule.columns}
    features = [
        column
        for column, profile in profiles.items()
        if column not in grouped and column != target and _is_usable(profile, rules)
    ]
    if not features:
        raise MisfeatError(
            "measure='r2' needs numeric features, and the table has none; use 'mutual_info'."
        )
    variables = [_variable(table, profiles[f]) for f in features]
    variables.append(_target(table, profiles[target]))
    sums = table.sum_products([g.coder for g in groupings], variables)
    table.close()
    notes = Notes(silent=True)  # the cohorts, which are the same, have said it already
    runs, names = assemble.find_cohorts(CodedRows(sums.codes, sums.rows), groupings, rules, notes)
    rows, both, first, product = _by_cohort(sums, runs.cohort, len(names))
    share = (rows[:, None] - np.einsum("gii->gi", both)[:, :-1]) / rows[:, None]
    missing: NDArray[np.bool_] = share >= rules.missing_threshold
    kept = [not everywhere for everywhere in np.all(missing, axis=0)]
    chosen = [*np.flatnonzero(kept), len(features)]
    products = _centred(both, first, product)[:, chosen][:, :, chosen]
    return Moments(
        names=tuple(names),
        features=tuple(f for f, keep in zip(features, kept, strict=True) if keep),
        target=target,
        rows=rows.astype(np.int64),
        products=products,
        missing=missing[:, kept],
    )


def _is_usable(profile: Profile, rules: CohortRules) -> bool:
    chosen = profile.column in rules.bins.by_column
    return (
        profile.kind in _NUMERIC and profile.distinct > 1 and (chosen or not profile.is_identifier)
    )


def _variable(table: Table, profile: Profile) -> Variable:
    if profile.kind is Kind.FLAG:
        return Variable(profile.reading, 0.0, as_it_is(profile), profile.missing > 0)
    return Variable(profile.reading, _centre(table, profile), None, profile.missing > 0)


def _target(table: Table, profile: Profile) -> Variable:
    if profile.kind in (Kind.INTEGER, Kind.NUMBER):
        return _variable(table, profile)
    if profile.distinct > 2:
        raise MisfeatError(
            f"measure='r2' needs a numeric or binary target; {profile.column!r} holds "
            f"{profile.kind.value} values, {profile.distinct} of them."
        )
    return Variable(profile.reading, 0.0, as_it_is(profile), profile.missing > 0)


def _centre(table: Table, profile: Profile) -> float:
    """A number in the middle of the column, so that squares about it stay small."""
    if profile.counts is None:
        return float(table.quantiles(profile.reading, [0.5])[0])
    values = profile.counts.values.astype(np.float64)
    if not np.isfinite(values).all():
        raise MisfeatError(
            f"Column {profile.column!r} holds infinite values, which have no correlation; set them "
            "to missing, or drop the column."
        )
    return float(np.average(values, weights=profile.counts.counts)) if len(values) else 0.0


def _by_cohort(
    sums: GroupSums, cohort: NDArray[np.int64], n_cohorts: int
) -> tuple[NDArray[np.float64], ...]:
    """Add up the combinations that make one cohort."""
    kept = cohort != assemble.DROPPED
    totals = []
    for part in (sums.rows, sums.both, sums.first, sums.product):
        total = np.zeros((n_cohorts, *part.shape[1:]))
        np.add.at(total, cohort[kept], part[kept])
        totals.append(total)
    return tuple(totals)


def _centred(
    both: NDArray[np.float64], first: NDArray[np.float64], product: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums of products about the cohort's means, missing values at the mean.

    With m the means and sums over the rows that have both values:
    sum (x - m_x)(z - m_z) = sum xz - m_x sum z - m_z sum x + n m_x m_z.
    """
    recorded = np.einsum("gii->gi", both)
    mean = np.divide(
        np.einsum("gii->gi", first), recorded, out=np.zeros_like(recorded), where=recorded > 0
    )
    shifted: NDArray[np.float64] = (
        product
        - mean[:, :, None] * first.transpose(0, 2, 1)
        - mean[:, None, :] * first
        + both * mean[:, :, None] * mean[:, None, :]
    )
    return shifted
