"""Subgroups that nest: every hospital lies in one region, and those of a region go together.

Whether columns nest is found in the rows, not asked. A column lies within another where each of its
values goes with one value of the other, and two values of the other at least have several each.
What a subgroup lies in is told by its terms without that of the inner column.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.model import NO_PARENT
from misfeat.cohorts.runs import DROPPED, Runs
from misfeat.cohorts.subgroup_names import BETWEEN_TERMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.groups import Grouping

    Integers = NDArray[np.int64]

FEW = 0.01
"""Rows up to this share of all may be mistakes."""
LEAST = 2
"""So many regions, with so many hospitals each, make a hierarchy."""


@dataclass(frozen=True)
class Hierarchy:
    """Which subgroups lie in what."""

    within: tuple[tuple[int, tuple[int, ...]], ...]
    """Groupings, and the narrowest ones that each of them lies within."""
    parents: Integers
    """Of shape (n_subgroups,): what every subgroup lies in, by number; `NO_PARENT` where a value is
    missing that says so."""
    names: tuple[str, ...]
    """What these are called: the terms of their subgroups without those of the inner groupings."""


def find_hierarchy(minterms: Integers, groupings: Sequence[Grouping]) -> Hierarchy | None:
    """The hierarchy of subgroups; None where no grouping lies within another.

    `minterms`, of shape (n_groupings, n_subgroups), are the terms of all subgroups; the last term
    of a grouping stands for a missing value.
    """
    known = _known(minterms, groupings)
    outer = {
        (a, b)
        for a, b in permutations(range(len(groupings)), 2)
        if _lies_within(*minterms[[a, b]][:, known[a] & known[b]])
    }
    inner = sorted({a for a, _ in outer} - {b for _, b in outer})
    if not inner:
        return None
    within = tuple((a, _narrowest(a, outer)) for a in inner)
    rest = np.setdiff1d(np.arange(len(groupings)), inner)
    different, parents = np.unique(minterms[rest], axis=1, return_inverse=True)
    told = known[[b for _, narrowest in within for b in narrowest]].all(axis=0)
    names = tuple(
        BETWEEN_TERMS.join(groupings[g].terms[t] for g, t in zip(rest, terms, strict=True))
        for terms in different.T
    )
    return Hierarchy(within, np.where(told, parents.ravel(), NO_PARENT), names)


@dataclass(frozen=True)
class Stray:
    """Some rows but for which a grouping would lie within another."""

    inner: int
    outer: int
    rows: int
    """How many rows there are in the way."""
    subgroup: int
    """The largest subgroup of them."""


def find_strays(minterms: Integers, rows: Integers, groupings: Sequence[Grouping]) -> list[Stray]:
    """Where a few rows keep a grouping from lying within another, by the rows of every subgroup."""
    known = _known(minterms, groupings)
    found = []
    for a, b in permutations(range(len(groupings)), 2):
        both = np.flatnonzero(known[a] & known[b])
        inner, outer = minterms[[a, b]][:, both]
        held = np.zeros((len(groupings[a].terms), len(groupings[b].terms)), dtype=np.int64)
        np.add.at(held, (inner, outer), rows[both])
        astray = held.argmax(axis=1)[inner] != outer
        many = int(rows[both][astray].sum())
        if 0 < many <= FEW * rows.sum() and _lies_within(inner[~astray], outer[~astray]):
            largest = both[astray][np.argmax(rows[both][astray])]
            found.append(Stray(a, b, many, int(largest)))
    return found


def parents_of(
    runs: Runs, subgroup_of: Integers, hierarchy: Hierarchy, n_cohorts: int
) -> Integers | None:
    """What every cohort lies in, numbered from 0 on in the order of cohorts.

    `subgroup_of` is the subgroup that each run was of before small ones were merged. Cohorts that
    were merged from subgroups of several regions lie in none of them. None where too little is left
    of the hierarchy to borrow from.
    """
    kept = runs.cohort != DROPPED
    of_run = hierarchy.parents[subgroup_of[kept]]
    least = np.full(n_cohorts, np.iinfo(np.int64).max)
    most = np.full(n_cohorts, NO_PARENT)
    np.minimum.at(least, runs.cohort[kept], of_run)
    np.maximum.at(most, runs.cohort[kept], of_run)
    parents = np.where(least == most, most, NO_PARENT)
    found, first, number, counts = np.unique(
        parents, return_index=True, return_inverse=True, return_counts=True
    )
    if (counts[found != NO_PARENT] >= LEAST).sum() < LEAST:
        return None
    in_order = np.argsort(np.argsort(np.where(found == NO_PARENT, -1, first)))
    in_order -= int(found[0] == NO_PARENT)
    return in_order[number.ravel()].astype(np.int64)


def _lies_within(inner: Integers, outer: Integers) -> bool:
    """Whether every inner term goes with one outer one, and several outer ones have several."""
    pairs = np.unique(np.stack([inner, outer]), axis=1)
    several = np.bincount(pairs[1]) >= LEAST if pairs.size else np.zeros(0, dtype=bool)
    return len(np.unique(pairs[0])) == pairs.shape[1] and int(several.sum()) >= LEAST


def _narrowest(inner: int, outer: set[tuple[int, int]]) -> tuple[int, ...]:
    """The groupings that one lies within, less those that another of them lies within."""
    around = sorted(b for a, b in outer if a == inner)
    return tuple(b for b in around if not any((c, b) in outer for c in around))


def _known(minterms: Integers, groupings: Sequence[Grouping]) -> NDArray[np.bool_]:
    known: NDArray[np.bool_] = minterms < np.array([[len(one.terms) - 1] for one in groupings])
    return known
