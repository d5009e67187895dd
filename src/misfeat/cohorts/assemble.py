"""From coded rows of the whole table to cohorts: who is in which, and what each never recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.coders import CodedRows, collapse
from misfeat.cohorts.model import NOT_RECORDED
from misfeat.cohorts.runs import DROPPED, Runs, rows_without
from misfeat.cohorts.small import Recorded, settle_small
from misfeat.cohorts.subgroup_names import BETWEEN_TERMS
from misfeat.cohorts.values import MISSING_LABEL
from misfeat.cohorts.weighing import Weighing, effective_sizes, heaviest_of
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.groups import Grouping
    from misfeat.cohorts.rules import CohortRules, Notes

EVERYTHING = "all rows"
"""The name of the only cohort where no groups are given."""


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
    return rows.where(present)


def find_cohorts(
    rows: CodedRows,
    groupings: Sequence[Grouping],
    features: Mapping[str, int],
    rules: CohortRules,
    notes: Notes,
    floor: int = 1,
    weighing: Weighing | None = None,
) -> tuple[Runs, list[str]]:
    """Find the minterms that occur, from rows sorted by their first codes, those of the groupings.

    `features` has the number of codes of each, the one for missing not counted; `floor` says from
    how many rows on a subgroup is not small, where the rules do not. Where rows are weighed, a
    subgroup is as large as its effective size.
    """
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
    runs = Runs(
        bounds,
        cohort,
        codes=rows.codes[: len(groupings), starts],
        rows=np.add.reduceat(rows.weights, starts),
        without=rows_without(
            rows.codes[len(groupings) : -1], rows.weights, starts, features.values()
        ),
    )
    sizes = runs.sizes(len(names))
    if weighing is not None:
        sizes = effective_of(rows, runs, len(names), weighing).astype(np.int64)
    recorded = Recorded(
        features=tuple(features),
        sizes=sizes,
        rows=runs.sizes(len(names)),
        without=runs.in_cohorts(runs.without, len(names)).T,
        threshold=rules.coding.missing_threshold,
    )
    runs, names = settle_small(runs, names, recorded, rules.coding, floor, notes)
    return runs, _unique(names)


def effective_of(
    rows: CodedRows, runs: Runs, n_cohorts: int, weighing: Weighing
) -> NDArray[np.float64]:
    """The effective sizes of cohorts whose rows have sampling weights."""
    sizes = runs.sizes(n_cohorts)
    if not rows.more:
        return sizes.astype(np.float64)
    mass, square = (
        runs.in_cohorts(np.add.reduceat(one, runs.bounds[:-1]), n_cohorts) for one in rows.more
    )
    return effective_sizes(sizes, mass, square, weighing)


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
    return BETWEEN_TERMS.join(terms) or EVERYTHING


def _unique(names: list[str]) -> list[str]:
    """Tell equal names apart, as values such as "A & q=B" can bring about."""
    unique: dict[str, None] = {}
    for name in names:
        number, candidate = 1, name
        while candidate in unique:
            number += 1
            candidate = f"{name} ({number})"
        unique[candidate] = None
    return list(unique)


def systematically_missing(runs: Runs, n_cohorts: int, threshold: float) -> NDArray[np.bool_]:
    """Which features are missing in at least `threshold` of a cohort's rows."""
    share = runs.in_cohorts(runs.without, n_cohorts) / runs.sizes(n_cohorts)
    missing: NDArray[np.bool_] = threshold <= share.T
    return missing


@dataclass(frozen=True)
class LaidOutRows:
    """Coded rows in the order of their cohorts; cohort i owns ``offsets[i]:offsets[i + 1]``."""

    codes: NDArray[np.integer]
    weights: NDArray[np.int64]
    offsets: NDArray[np.int64]
    masses: NDArray[np.int64] | None = None
    heaviest: NDArray[np.float64] | None = None


def cohort_rows(
    lines: Sequence[NDArray[np.integer]],
    rows: CodedRows,
    runs: Runs,
    missing: NDArray[np.bool_],
    cardinalities: Sequence[int],
    weighing: Weighing | None = None,
) -> LaidOutRows:
    """Lay the rows out cohort by cohort, features that a cohort never recorded blanked out.

    `lines` are the codes of all rows, one line per feature and the target last; `cardinalities` say
    how many codes each has, the one for missing not counted. `missing` is of
    shape (n_cohorts, n_features).
    """
    bases = [cardinality + 1 for cardinality in cardinalities]
    parts: list[CodedRows] = []
    for cohort, absent in enumerate(missing):
        stretches = runs.of(cohort)
        own = [np.concatenate([line[stretch] for stretch in stretches]) for line in lines]
        for feature in np.flatnonzero(absent).tolist():
            own[feature][:] = cardinalities[feature]
        counted, *more = (
            np.concatenate([one[stretch] for stretch in stretches])
            for one in (rows.weights, *rows.more)
        )
        part = collapse(own, counted, bases, more)
        part.codes[:-1][absent] = NOT_RECORDED
        parts.append(part)
    return LaidOutRows(
        codes=np.concatenate([part.codes for part in parts], axis=1),
        weights=np.concatenate([part.weights for part in parts]),
        offsets=np.cumsum([0, *(len(part.weights) for part in parts)], dtype=np.int64),
        **({} if weighing is None or rows.masses is None else _weighed(parts, weighing)),
    )


def _weighed(parts: Sequence[CodedRows], weighing: Weighing) -> dict[str, NDArray[Any]]:
    """What rows weigh, and how unequal weights are within them.

    Masses are in the largest unit that leaves them whole: small numbers are counted faster.
    """
    weights = np.concatenate([part.weights for part in parts])
    masses = np.concatenate([part.masses for part in parts if part.masses is not None])
    squares = np.concatenate([part.squares for part in parts if part.squares is not None])
    unit = max(int(np.gcd.reduce(masses)), 1)
    in_masses = squares * (weighing.scale**2 / weighing.square_scale)
    return {"masses": masses // unit, "heaviest": heaviest_of(weights, masses, in_masses) / unit}


def settle_sporadic(
    codes: NDArray[np.integer], labels: Collection[tuple[str, ...]], sporadic: str
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[int, ...], ...]]:
    """Make sporadic missing values a category of their own, or blank them out, in place.

    Returns what the codes of each feature mean now, and which of them stand for missing values.
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
