"""Rows that judge models, in folds, and the best sets without the rows of each fold.

A set that is best among many in some rows does better in these than in others, also where its model
is fitted without them. So the choice is made anew for every fold, by the scores that all other rows
of all subgroups give.
"""

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from misfeat.answers.number_of_features import best_recorded, with_included
from misfeat.answers.selection_base import FitResult
from misfeat.cohorts.cohort_data import Cohorts
from misfeat.cohorts.resampled_rows import reweighted
from misfeat.cohorts.survival import EVENT, STATES
from misfeat.estimation.set_scores import SetScores
from misfeat.runtime.array_types import Flags, Floats, Indices
from misfeat.runtime.progress import long_work

WHAT = "Choosing features without the rows that judge them"
FOLDS = 5
MOST_ROWS = 5_000  # of a subgroup, drawn at random where it has more
MANY_ROWS = 1_000  # of which those of one fold decide little
MOST_SETS, MOST_PAIRS = 120_000, 2e6  # sets times subgroups, pairs times coded rows: seconds


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows of a subgroup that models are fitted to, and the fold in which each judges them."""

    index: Indices  # of their coded rows
    codes: Indices  # (n_features, n_rows)
    target: Indices
    weights: Floats
    fold: Indices  # -1: in none
    effective: float  # rows of equal weight

    @classmethod
    def of(cls, selection: FitResult, cohort: int) -> "JudgedRows":
        """All rows, or some drawn at random; folds with as many of every class in each."""
        cohorts = selection.cohorts
        rows = cohorts.at(cohort)
        rng = np.random.default_rng([selection.options.seed or 0, cohort])
        total = int(rows.weights.sum())
        few = total <= MOST_ROWS
        drawn = np.arange(total) if few else np.sort(rng.choice(total, MOST_ROWS, replace=False))
        index = np.searchsorted(np.cumsum(rows.weights), drawn, side="right")
        own = slice(cohorts.offsets[cohort], cohorts.offsets[cohort + 1])
        target = (cohorts.ranks[own] if len(cohorts.grids) else rows.target)[index]
        weights = np.ones(len(index))
        if rows.masses is not None:
            weights = (rows.masses / rows.weights)[index]
        kind = np.zeros(len(target), dtype=np.int64)
        if cohorts.horizons:
            kind = happened(target.astype(np.int64), cohorts).astype(np.int64)
        elif not cohorts.is_number:
            kind, counts = np.unique(target, return_inverse=True, return_counts=True)[1:]
            kind = np.where(counts[kind] >= FOLDS, kind, -1)
        effective = rows.effective_size * min(1.0, MOST_ROWS / total)
        codes = rows.codes[:, index]
        return cls(index, codes, target, weights / weights.mean(), _folds(kind), effective)


def _folds(kind: Indices) -> Indices:
    """The fold of every row, with as many of every kind in each; -1 for those of none."""
    rng, fold = np.random.default_rng(0), np.full(len(kind), -1, dtype=np.int64)
    begun = 0
    for one in np.unique(kind[kind >= 0]):  # the next kind goes on where the last one ended
        own = np.flatnonzero(kind == one)
        fold[own] = rng.permutation((begun + np.arange(len(own))) % FOLDS)
        begun += len(own)
    return fold


def happened(ranks: Indices, cohorts: Cohorts) -> Flags:
    """Whether the event happened by the last horizon."""
    return np.asarray((ranks % STATES == EVENT) & (ranks // STATES <= cohorts.last_bin(-1)))


class FoldChoice:
    """The best recorded sets of some sizes, of every subgroup and fold."""

    def __init__(self, selection: FitResult, sizes: set[int]) -> None:
        self._selection, self._sizes = selection, sorted(sizes)
        self._few = [cohort.weights.sum() < MANY_ROWS for cohort in selection.cohorts]

    def sets(self, cohort: int, size: int) -> list[Indices] | None:
        """The best set of a subgroup without each fold; None where that would take too long."""
        return [one[cohort] for one in self._by_size[size]] if self._by_size else None

    def is_open(self, cohort: int) -> bool:
        """Whether rows of a subgroup that judge models have much of a say in its best sets."""
        return not self._by_size and self._few[cohort]

    @cached_property
    def _by_size(self) -> dict[int, list[list[Indices]]]:
        """By size, for every fold the set of each subgroup."""
        selection, cohorts = self._selection, self._selection.cohorts
        n_features, size = len(selection.feature_names), max(self._sizes)
        sets = comb(n_features, size) * len(cohorts)
        if sets > MOST_SETS or len(cohorts.weights) * comb(n_features, 2) > MOST_PAIRS:
            return {}
        left_out = np.zeros((FOLDS, len(cohorts.weights)), dtype=np.int64)
        for number in np.flatnonzero(self._few).tolist():
            rows = JudgedRows.of(selection, number)
            judged, start = rows.fold >= 0, cohorts.offsets[number]
            np.add.at(left_out, (rows.fold[judged], start + rows.index[judged]), 1)
        chosen: dict[int, list[list[Indices]]] = {size: [] for size in self._sizes}
        with long_work(selection.verbose > 0) as progress:
            for number, fold in enumerate(left_out if any(self._few) else []):
                progress(WHAT, number, FOLDS)
                scores = selection.set_scores.rescored(reweighted(cohorts, cohorts.weights - fold))
                for size, sets_of_fold in chosen.items():
                    sets_of_fold.append(self._best_sets(scores, size))
        return chosen if any(self._few) else {}

    def _best_sets(self, scores: SetScores, size: int) -> list[Indices]:
        """The best recorded set of every subgroup; any set where it recorded none."""
        best, found = [], scores.scored(self._selection.completed(size).subsets)
        for cohort, lacks in enumerate(self._selection.missing):
            able = with_included(self._selection, found, cohort)
            none = lacks[able.subsets].any(axis=1).all()
            best.append(able.subsets[0 if none else best_recorded(self._selection, able, cohort)])
        return best
