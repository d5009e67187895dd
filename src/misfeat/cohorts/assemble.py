"""From coded rows of the whole table to cohorts: who is in which, and what each never recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coders import CodedRows, collapse
from misfeat.cohorts.model import NOT_RECORDED
from misfeat.cohorts.values import MISSING_LABEL
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.coding import Coding
    from misfeat.cohorts.groups import Grouping
    from misfeat.cohorts.rules import CohortRules, Notes

EVERYTHING = "all rows"
"""The name of the only cohort where no groups are given."""
SMALL = "other"
"""The name of the cohort that small subgroups are merged into."""
DROPPED = -1
MOST_NAMED = 10
"""So many subgroups are named in a message."""


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
    return CodedRows(rows.codes[:, present], rows.weights[present])


@dataclass(frozen=True)
class Runs:
    """Stretches of sorted rows that belong to one cohort each.

    Attributes
    ----------
    bounds : ndarray of int64
        Run r holds the rows ``bounds[r]:bounds[r + 1]``.
    cohort : ndarray of int64
        The cohort of each run, `DROPPED` for rows that belong to none.
    codes : ndarray of shape (n_groupings, n_runs)
        The codes of the groupings, which are the same throughout a run.
    """

    bounds: NDArray[np.int64]
    cohort: NDArray[np.int64]
    codes: NDArray[np.integer]

    def of(self, cohort: int) -> list[slice]:
        """The stretches of rows that belong to a cohort."""
        return [
            slice(self.bounds[r], self.bounds[r + 1]) for r in np.flatnonzero(self.cohort == cohort)
        ]

    def sizes(self, weights: NDArray[np.int64], n_cohorts: int) -> NDArray[np.int64]:
        """How many rows of the table each cohort holds."""
        totals = np.add.reduceat(weights, self.bounds[:-1])
        sizes = np.zeros(n_cohorts, dtype=np.int64)
        kept = self.cohort != DROPPED
        np.add.at(sizes, self.cohort[kept], totals[kept])
        return sizes

    def cohort_of(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """The cohort of each column of grouping codes, `DROPPED` where no run has them."""
        known = dict(zip(map(tuple, self.codes.T.tolist()), self.cohort.tolist(), strict=True))
        found = [known.get(tuple(column), DROPPED) for column in codes.T.tolist()]
        return np.array(found, dtype=np.int64)


def find_cohorts(
    rows: CodedRows, groupings: Sequence[Grouping], rules: CohortRules, notes: Notes
) -> tuple[Runs, list[str]]:
    """Find the minterms that occur, from rows sorted by the codes of the groupings."""
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
    runs = Runs(bounds, cohort, rows.codes[: len(groupings), starts])
    runs, names = _settle_small(runs, names, runs.sizes(rows.weights, len(names)), rules, notes)
    return runs, _unique(names)


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
    return " & ".join(terms) or EVERYTHING


def _unique(names: list[str]) -> list[str]:
    """Tell equal names apart, as values such as "A & q=B" can bring about."""
    unique: list[str] = []
    for name in names:
        number, candidate = 1, name
        while candidate in unique:
            number += 1
            candidate = f"{name} ({number})"
        unique.append(candidate)
    return unique


def _settle_small(
    runs: Runs, names: list[str], sizes: NDArray[np.int64], rules: CohortRules, notes: Notes
) -> tuple[Runs, list[str]]:
    """Merge or drop the subgroups with too few rows, and say which."""
    coding = rules.coding
    least = _least_rows(coding)
    small = np.flatnonzero(sizes < least.value)
    if not len(small):
        return runs, names
    shown = _small_ones(names, sizes, small, coding.min_cell)
    large = np.flatnonzero(sizes >= least.value)
    together = int(sizes[small].sum())
    merging = coding.small_groups == "merge" and together >= coding.min_cell
    if not merging and not len(large):
        raise MisfeatError(
            "Every subgroup has fewer than {least} rows: {shown}.",
            remedy="Lower it.",
            least=least,
            shown=shown,
        )
    fate = f"are merged into {SMALL!r}" if merging else "are left out"
    notes.add(
        "Subgroups with fewer than {least} rows {fate}: {shown}.",
        least=least,
        fate=fate,
        shown=shown,
    )
    if merging and together < least.value:
        notes.warn(
            "The merged subgroup {name!r} has {rows:,} rows, still fewer than {least}; lower it, "
            "or use {dropping}.",
            name=SMALL,
            rows=together,
            least=least,
            dropping=Setting("small_groups", "drop"),
        )
    renumbered = np.full(len(names) + 1, len(large) if merging else DROPPED, dtype=np.int64)
    renumbered[large] = np.arange(len(large))
    renumbered[DROPPED] = DROPPED
    left = [names[i] for i in large] + ([SMALL] if merging else [])
    return replace(runs, cohort=renumbered[runs.cohort]), left


def _least_rows(coding: Coding) -> Setting:
    """The parameter that says from how many rows on a subgroup is not small."""
    name = "min_cell" if coding.min_cell > coding.min_rows else "min_rows"
    return Setting(name, getattr(coding, name))


def _small_ones(
    names: list[str], sizes: NDArray[np.int64], small: NDArray[np.int64], min_cell: int
) -> str:
    """The small subgroups with their rows; only how many there are where that is too much."""
    if min_cell > 1:
        return f"{len(small):,} in all"
    shown = ", ".join(f"{names[i]} ({sizes[i]:,})" for i in small[:MOST_NAMED])
    more = len(small) - MOST_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def systematically_missing(
    codes: NDArray[np.integer],
    weights: NDArray[np.int64],
    runs: Runs,
    n_cohorts: int,
    cardinalities: Sequence[int],
    threshold: float,
) -> NDArray[np.bool_]:
    """Which features are missing in at least `threshold` of a cohort's rows."""
    counts = np.zeros((n_cohorts, len(codes)), dtype=np.int64)
    for cohort in range(n_cohorts):
        for rows in runs.of(cohort):
            for feature, cardinality in enumerate(cardinalities):
                absent = codes[feature, rows] == cardinality
                counts[cohort, feature] += weights[rows][absent].sum()
    share: NDArray[np.float64] = counts / runs.sizes(weights, n_cohorts)[:, None]
    return share >= threshold


@dataclass(frozen=True)
class LaidOutRows:
    """Coded rows in the order of their cohorts; cohort i owns ``offsets[i]:offsets[i + 1]``."""

    codes: NDArray[np.integer]
    weights: NDArray[np.int64]
    offsets: NDArray[np.int64]


def cohort_rows(
    lines: Sequence[NDArray[np.integer]],
    weights: NDArray[np.int64],
    runs: Runs,
    missing: NDArray[np.bool_],
    cardinalities: Sequence[int],
) -> LaidOutRows:
    """Lay the rows out cohort by cohort, features that a cohort never recorded blanked out.

    Parameters
    ----------
    lines : sequence of ndarray
        The codes of all rows: one line per feature, and the target last.
    weights : ndarray
        The weights of all rows.
    runs : Runs
        Which rows belong to which cohort.
    missing : ndarray of shape (n_cohorts, n_features)
        What each cohort never recorded.
    cardinalities : sequence of int
        How many codes each feature has, the one for missing not counted, and the target.
    """
    bases = [cardinality + 1 for cardinality in cardinalities]
    parts: list[CodedRows] = []
    for cohort, absent in enumerate(missing):
        stretches = runs.of(cohort)
        own = [np.concatenate([line[rows] for rows in stretches]) for line in lines]
        for feature in np.flatnonzero(absent).tolist():
            own[feature][:] = cardinalities[feature]
        part = collapse(own, np.concatenate([weights[rows] for rows in stretches]), bases)
        part.codes[:-1][absent] = NOT_RECORDED
        parts.append(part)
    return LaidOutRows(
        codes=np.concatenate([part.codes for part in parts], axis=1),
        weights=np.concatenate([part.weights for part in parts]),
        offsets=np.cumsum([0, *(len(part.weights) for part in parts)], dtype=np.int64),
    )


def settle_sporadic(
    codes: NDArray[np.integer], labels: Collection[tuple[str, ...]], sporadic: str
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[int, ...], ...]]:
    """Make sporadic missing values a category of their own, or blank them out, in place.

    Returns
    -------
    categories : tuple of tuple of str
        What the codes of each feature mean now.
    gap_codes : tuple of tuple of int
        Which of them stand for missing values.
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
