"""Cells of sets that a subgroup did not record, expected from the rows of those that did.

What the subgroup recorded, r, and the class y are as in its own rows. Given these, the other
features, u, are as in all subgroups that recorded the whole set: P(u) is refined to P(u | p), with
p the features that u depends on most, to P(u | p, y) and to P(u | p, y, r), each shrunk to the one
before. Where no subgroup recorded the whole set, each of u depends on p and y alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.cohorts.cohort_data import distinct_columns
from misfeat.information.mutual_info import entropy

if TYPE_CHECKING:
    from misfeat.runtime.array_types import Floats, Integers
    from misfeat.selection import Selection

SHRINKING = 2.0  # rows that weigh as much as what is expected without them
PROXIES = 2  # features that an unrecorded one may be read from


class _Rows(NamedTuple):
    codes: Integers  # (n_features, n_rows)
    target: Integers
    weights: Floats


class ExpectedCells:
    """Expects the cells of a selection's sets; what features depend on is found once."""

    def __init__(self, selection: Selection) -> None:
        self._cohorts, self._missing = selection.cohorts.with_cells(), selection.missing
        self._tables = selection.set_scores.measure.tables
        self._order: dict[tuple[int, int], list[int]] = {}

    def of(self, cohort: int, members: Sequence[int]) -> tuple[Integers, Floats]:
        """The codes of all cells of a set, a column each, and how many rows of every class."""
        lacks = self._missing[cohort, list(members)]
        own = [member for member, lacking in zip(members, lacks, strict=True) if not lacking]
        other = [member for member, lacking in zip(members, lacks, strict=True) if lacking]
        together = not self._missing[:, list(members)].any(axis=1).all()
        parts = [other] if together else [[member] for member in other]
        proxies = self._proxies(cohort, other[0], members)
        rows = self._rows([cohort], [*proxies, *own])
        values, shares = np.zeros((0, 1), dtype=np.int64), np.ones((len(rows.weights), 1))
        for part in parts:
            further, given = self._given(rows, proxies, own if together else [], part)
            left, right = np.divmod(np.arange(shares.shape[1] * given.shape[1]), given.shape[1])
            values = np.vstack([values[:, left], further[:, right]])
            shares = shares[:, left] * given[:, right]
        first, place = distinct_columns(rows.codes[len(proxies) :])
        cells = rows.codes[len(proxies) :, first]
        by_class = np.zeros((len(first), len(self._cohorts.classes), shares.shape[1]))
        np.add.at(by_class, (place, rows.target), shares * rows.weights[:, None])
        held = np.argwhere(by_class.sum(axis=1) > 0)
        codes = np.vstack([cells[:, held[:, 0]], values[:, held[:, 1]]])
        return codes[np.argsort([*own, *other])], by_class[held[:, 0], :, held[:, 1]]

    def _given(
        self, rows: _Rows, proxies: Sequence[int], own: Sequence[int], part: Sequence[int]
    ) -> tuple[Integers, Floats]:
        """Values of unrecorded features, and how likely each row of the subgroup has them."""
        known = [*proxies, *own]
        donors = np.flatnonzero(~self._missing[:, [*known, *part]].any(axis=1)).tolist()
        if not donors:  # nobody recorded them beside the proxies
            return self._given(rows._replace(codes=rows.codes[:0]), [], [], part)
        theirs = self._rows(donors, [*known, *part])
        first, pattern = distinct_columns(theirs.codes[len(known) :])
        values = theirs.codes[len(known) :, first]
        both = np.hstack([rows.codes[: len(known)], theirs.codes[: len(known)]])
        classes, n_own = np.append(rows.target, theirs.target), len(rows.weights)
        shares = np.full((len(classes), values.shape[1]), 1.0 / values.shape[1])
        near = both[: len(proxies)]
        for context in (both[:0], near, np.vstack([near, classes]), np.vstack([both, classes])):
            first, place = distinct_columns(context)
            counts = np.zeros((len(first), values.shape[1]))
            np.add.at(counts, (place[n_own:], pattern), theirs.weights)
            counts += SHRINKING * shares[first]
            shares = (counts / counts.sum(axis=1, keepdims=True))[place]
        return values, shares[:n_own]

    def _proxies(self, cohort: int, feature: int, members: Sequence[int]) -> list[int]:
        """What a subgroup recorded that an unrecorded feature depends on most, besides a set."""
        if self._tables is not None:  # of counts there are none of so many features
            return []
        if (cohort, feature) not in self._order:
            recorded = np.flatnonzero(~self._missing[cohort]).tolist()
            depends = {other: self._dependence(feature, other) for other in recorded}
            self._order[cohort, feature] = sorted(recorded, key=lambda other: -depends[other])
        able = [other for other in self._order[cohort, feature] if other not in members]
        return able[:PROXIES]

    def _dependence(self, feature: int, other: int) -> float:
        """The mutual information of two features where both were recorded, less its bias."""
        donors = np.flatnonzero(~self._missing[:, [feature, other]].any(axis=1)).tolist()
        rows = self._rows(donors, [feature, other])
        if not len(rows.weights):
            return 0.0
        n, m = rows.codes.max(axis=1) + 1
        table = np.bincount(rows.codes[0] * m + rows.codes[1], rows.weights, n * m).reshape(n, m)
        plug_in = entropy(table.sum(axis=0)) + entropy(table.sum(axis=1)) - entropy(table.ravel())
        return plug_in - float((n - 1) * (m - 1)) / (2.0 * float(table.sum()))

    def _rows(self, cohorts: Sequence[int], members: Sequence[int]) -> _Rows:
        """Rows of cohorts that lack none of these features; of counts, a row a cell and class."""
        held, parts = list(members), []
        for cohort in cohorts:
            if self._tables is None:
                own = self._cohorts.at(cohort)
                whole = (own.codes[held] >= 0).all(axis=0)
                parts.append((own.codes[held][:, whole], own.target[whole], own.counts[whole]))
            else:
                parts.append(self._cells(cohort, held))
        empty = np.zeros((len(held), 0)), np.zeros(0), np.zeros(0)
        joined: Any = [np.concatenate(part, axis=-1) for part in zip(empty, *parts, strict=True)]
        return _Rows(joined[0].astype(np.int64), joined[1].astype(np.int64), joined[2])

    def _cells(self, cohort: int, members: Sequence[int]) -> tuple[Any, Any, Any]:
        tables: Any = self._tables
        if not members:
            (target,) = np.nonzero(tables.by_class[cohort])
            return np.zeros((0, len(target))), target, tables.by_class[cohort][target]
        ascending = np.sort(members)
        counts = tables.of(cohort, ascending)
        cell, target = np.nonzero(counts > 0)
        codes = np.array(np.unravel_index(cell, tuple(tables.cards[ascending])))
        return codes[np.argsort(np.argsort(members))], target, counts[cell, target]
