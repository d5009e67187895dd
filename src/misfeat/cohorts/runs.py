"""Runs: which stretches of sorted rows belong to which cohort, and what their parts recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

DROPPED = -1
PART_OF_A_COHORT = 10
"""Fewer rows may record a feature, or lack it, by chance."""
BY_CHANCE = 0.001
"""How likely rows may be like this by chance, and are not taken for rows of another kind."""


@dataclass(frozen=True)
class Runs:
    """Stretches of sorted rows that belong to one cohort each."""

    bounds: NDArray[np.int64]
    """Run r holds the rows ``bounds[r]:bounds[r + 1]``."""
    cohort: NDArray[np.int64]
    """The cohort of each run, `DROPPED` for rows that belong to none."""
    codes: NDArray[np.integer]
    """Of shape (n_groupings, n_runs): the codes of the groupings, which are the same throughout a
    run."""
    rows: NDArray[np.int64]
    """Of shape (n_runs,): how many rows of the table each run holds."""
    without: NDArray[np.int64]
    """Of shape (n_features, n_runs): how many of them lack each feature."""

    def of(self, cohort: int) -> list[slice]:
        """The stretches of rows that belong to a cohort."""
        return [
            slice(self.bounds[r], self.bounds[r + 1]) for r in np.flatnonzero(self.cohort == cohort)
        ]

    def in_cohorts(self, by_run: NDArray[np.int64], n_cohorts: int) -> NDArray[np.int64]:
        """Add up what was counted in every run, along the last axis, over those of a cohort."""
        totals = np.zeros((n_cohorts, *by_run.shape[:-1]), dtype=np.int64)
        kept = self.cohort != DROPPED
        np.add.at(totals, self.cohort[kept], by_run.T[kept])
        return totals.T

    def sizes(self, n_cohorts: int) -> NDArray[np.int64]:
        """How many rows of the table each cohort holds."""
        return self.in_cohorts(self.rows, n_cohorts)

    def cohort_of(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """The cohort of each column of grouping codes, `DROPPED` where no run has them."""
        known = dict(zip(map(tuple, self.codes.T.tolist()), self.cohort.tolist(), strict=True))
        found = [known.get(tuple(column), DROPPED) for column in codes.T.tolist()]
        return np.array(found, dtype=np.int64)


def rows_without(
    codes: NDArray[np.integer],
    weights: NDArray[np.int64],
    starts: NDArray[np.int64],
    cardinalities: Iterable[int],
) -> NDArray[np.int64]:
    """How many rows of the table lack each feature, in each run: of shape (n_features, n_runs).

    `cardinalities` are the numbers of codes, the one for missing not counted.
    """
    without = np.zeros((len(codes), len(starts)), dtype=np.int64)
    for feature, (line, cardinality) in enumerate(zip(codes, cardinalities, strict=True)):
        absent = line == cardinality
        if absent.any():
            without[feature] = np.add.reduceat(np.where(absent, weights, 0), starts)
    return without


def joined_recordings(
    runs: Runs, names: Sequence[str], features: Sequence[str], threshold: float
) -> tuple[tuple[str, str], ...]:
    """Cohorts made of several parts, with a feature that some recorded and others did not.

    Of a part with few rows that is said only where they would hardly be like this by chance, had
    they been drawn from the other parts. A feature counts as never recorded from the threshold of
    missing values on.
    """
    if (runs.cohort != DROPPED).sum() == len(names):
        return ()
    parts = _Parts.of(runs, len(names))
    never = parts.without / parts.rows >= threshold
    others_never = parts.others_without / np.maximum(parts.others, 1) >= threshold
    many = parts.rows >= PART_OF_A_COHORT
    apart = (never & ~others_never & parts.hardly_by_chance(recorded=False)) | (
        ~never & others_never & parts.hardly_by_chance(recorded=True)
    )
    apart &= parts.others > 0
    found = []
    for at, feature in enumerate(features):
        for number, name in enumerate(names):
            own = parts.cohort == number
            both_kinds = np.unique(never[at, own & many])
            if len(both_kinds) == 2 or apart[at, own].any():
                found.append((name, feature))
    return tuple(found)


@dataclass(frozen=True)
class _Parts:
    """Parts of cohorts, and the other parts of the same cohort together."""

    without: NDArray[np.int64]
    others_without: NDArray[np.int64]
    """Of shape (n_features, n_parts): rows that lack a feature."""
    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    cohort: NDArray[np.int64]

    @classmethod
    def of(cls, runs: Runs, n_cohorts: int) -> _Parts:
        kept = runs.cohort != DROPPED
        rows, without, cohort = runs.rows[kept], runs.without[:, kept], runs.cohort[kept]
        others = runs.sizes(n_cohorts)[cohort] - rows
        others_without = runs.in_cohorts(runs.without, n_cohorts)[:, cohort] - without
        return cls(without, others_without, rows, others, cohort)

    def hardly_by_chance(self, recorded: bool) -> NDArray[np.bool_]:
        """Where rows drawn from the cohort would hardly record a feature so often, or lack it.

        That k of n rows are of a kind that K of N are has at most the probability
        C(n, k) C(K, k) / C(N, k).
        """
        own = self.rows - self.without if recorded else self.without
        others = self.others - self.others_without if recorded else self.others_without
        bound = (
            _log_choose(self.rows, own)
            + _log_choose(own + others, own)
            - _log_choose(self.rows + self.others, own)
        )
        hardly: NDArray[np.bool_] = bound < np.log(BY_CHANCE)
        return hardly


def _log_choose(n: NDArray[np.int64], k: NDArray[np.int64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return found
