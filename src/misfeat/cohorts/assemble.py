"""From coded rows of the whole table to cohorts: who is in which, and what each never recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coding import CodedRows, collapse
from misfeat.cohorts.model import NOT_RECORDED
from misfeat.cohorts.values import MISSING_LABEL
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.groups import Grouping
    from misfeat.cohorts.rules import CohortRules, Notes

    CohortNumbers = NDArray[np.int64]

EVERYTHING = "all rows"
"""The name of the only cohort where no groups are given."""
SMALL = "other"
"""The name of the cohort that small subgroups are merged into."""
DROPPED = -1


def rows_with_target(rows: CodedRows, n_classes: int, target: str, notes: Notes) -> CodedRows:
    """Drop the rows whose target, the last code, is missing."""
    present = rows.codes[-1] < n_classes
    if present.all():
        return rows
    dropped = int(rows.weights[~present].sum())
    notes.add(f"{dropped:,} rows without a value of the target {target!r} are dropped.")
    return CodedRows(rows.codes[:, present], rows.weights[present])


def number_cohorts(
    rows: CodedRows, groupings: Sequence[Grouping], rules: CohortRules, notes: Notes
) -> tuple[CohortNumbers, list[str]]:
    """Find the minterms that occur: the cohort of every row, and the cohorts' names."""
    minterm = np.zeros(len(rows.weights), dtype=np.int64)
    absent = np.zeros(len(rows.weights), dtype=bool)
    for grouping, codes in zip(groupings, rows.codes, strict=False):
        term = grouping.term_of[codes]
        absent |= term == len(grouping.terms) - 1
        minterm = minterm * len(grouping.terms) + term
    if absent.any():
        count = f"{int(rows.weights[absent].sum()):,} rows with a missing group value"
        if rules.missing_groups == "drop":
            notes.add(f"{count} are dropped.")
            minterm[absent] = DROPPED
        else:
            notes.add(f"{count} form subgroups of their own.")
    found, number = np.unique(minterm, return_inverse=True)
    if found[0] == DROPPED:
        found, number = found[1:], number - 1
    names = [_minterm_name(int(key), groupings) for key in found]
    if not names:
        raise MisfeatError(
            "Every row has a missing group value; keep them with missing_groups='own'."
        )
    return _settle_small(number, names, rows.weights, rules, notes)


def _minterm_name(key: int, groupings: Sequence[Grouping]) -> str:
    terms: list[str] = []
    for grouping in reversed(groupings):
        key, term = divmod(key, len(grouping.terms))
        terms.append(grouping.terms[term])
    return " & ".join(reversed(terms)) or EVERYTHING


def _settle_small(
    number: CohortNumbers,
    names: list[str],
    weights: NDArray[np.int64],
    rules: CohortRules,
    notes: Notes,
) -> tuple[CohortNumbers, list[str]]:
    """Merge or drop the subgroups with fewer than `min_rows` rows, and say which."""
    kept = number >= 0
    sizes = np.bincount(number[kept], weights=weights[kept], minlength=len(names)).astype(np.int64)
    small = np.flatnonzero(sizes < rules.min_rows)
    if not len(small):
        return number, names
    listed = ", ".join(f"{names[i]} ({sizes[i]:,})" for i in small)
    large = np.flatnonzero(sizes >= rules.min_rows)
    merging = rules.small_groups == "merge"
    if not merging and not len(large):
        raise MisfeatError(
            f"Every subgroup has fewer than min_rows={rules.min_rows} rows: {listed}. Lower it."
        )
    fate = f"are merged into {SMALL!r}" if merging else "are left out"
    notes.add(f"Subgroups with fewer than min_rows={rules.min_rows} rows {fate}: {listed}.")
    if merging and sizes[small].sum() < rules.min_rows:
        notes.warn(
            f"The merged subgroup {SMALL!r} has {sizes[small].sum():,} rows, still fewer than "
            f"min_rows={rules.min_rows}; lower min_rows or use small_groups='drop'."
        )
    renumbered = np.full(len(names) + 1, len(large) if merging else DROPPED, dtype=np.int64)
    renumbered[large] = np.arange(len(large))
    renumbered[DROPPED] = DROPPED
    return renumbered[number], [names[i] for i in large] + ([SMALL] if merging else [])


def systematically_missing(
    codes: NDArray[np.integer],
    weights: NDArray[np.int64],
    number: CohortNumbers,
    n_cohorts: int,
    cardinalities: Sequence[int],
    threshold: float,
) -> NDArray[np.bool_]:
    """Which features are missing in at least `threshold` of a cohort's rows."""
    kept = number >= 0
    cohort, weight = number[kept], weights[kept]
    sizes = np.bincount(cohort, weights=weight, minlength=n_cohorts)
    share = np.empty((n_cohorts, len(codes)))
    for feature, cardinality in enumerate(cardinalities):
        absent = codes[feature, kept] == cardinality
        counts = np.bincount(cohort[absent], weights=weight[absent], minlength=n_cohorts)
        share[:, feature] = counts / sizes
    return share >= threshold


@dataclass(frozen=True)
class LaidOutRows:
    """Coded rows in the order of their cohorts; cohort i owns ``offsets[i]:offsets[i + 1]``."""

    codes: NDArray[np.integer]
    weights: NDArray[np.int64]
    offsets: NDArray[np.int64]


def cohort_rows(
    rows: CodedRows,
    number: CohortNumbers,
    missing: NDArray[np.bool_],
    cardinalities: Sequence[int],
) -> LaidOutRows:
    """Lay the rows out cohort by cohort, features that a cohort never recorded blanked out.

    Parameters
    ----------
    rows : CodedRows
        One line a feature, and the target last.
    number : ndarray
        The cohort of every row.
    missing : ndarray of shape (n_cohorts, n_features)
        What each cohort never recorded.
    cardinalities : sequence of int
        How many codes each feature has, the one for missing not counted, and the target.
    """
    bases = [cardinality + 1 for cardinality in cardinalities]
    parts: list[CodedRows] = []
    for cohort, absent in enumerate(missing):
        members = np.flatnonzero(number == cohort)
        lines = [line[members] for line in rows.codes]
        for feature in np.flatnonzero(absent).tolist():
            lines[feature][:] = cardinalities[feature]
        part = collapse(lines, rows.weights[members], bases)
        part.codes[:-1][absent] = NOT_RECORDED
        parts.append(part)
    return LaidOutRows(
        codes=np.concatenate([part.codes for part in parts], axis=1),
        weights=np.concatenate([part.weights for part in parts]),
        offsets=np.cumsum([0, *(len(part.weights) for part in parts)], dtype=np.int64),
    )


def settle_sporadic(
    codes: NDArray[np.integer], labels: Collection[tuple[str, ...]], sporadic: str
) -> tuple[tuple[str, ...], ...]:
    """Make sporadic missing values a category of their own, or blank them out, in place."""
    settled = []
    for line, names in zip(codes, labels, strict=True):
        absent = line == len(names)
        if sporadic == "available":
            line[absent] = NOT_RECORDED
            settled.append(names)
        else:
            label = MISSING_LABEL if MISSING_LABEL not in names else f"({MISSING_LABEL})"
            settled.append((*names, label) if absent.any() else names)
    return tuple(settled)
