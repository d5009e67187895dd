"""The search: all features, all pairs where these can be counted, then sets that grow from these.

A set is ranked by what it tells, and by what it tells beyond its parts: two features that tell only
together stand behind thousands of pairs that hold one strong feature, but nothing of what they tell
is told by either of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.grids import information_of
from misfeat.information.mutual_info import extended_mutual_info
from misfeat.lattice.levels import level
from misfeat.screening.model import Looked
from misfeat.screening.ranking import TOGETHER, TOTAL, Ranking, Rankings, Scored, in_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.machine.progress import Progress

    Floats = NDArray[np.float64]
    Sets = NDArray[np.int32]

SEARCHING = "Looking for features that tell"
MOST_COUNTED = 4e10
"""Sets times rows of all pairs: about half a minute on two cores."""
MOST_HELD = 5e6
"""Pairs that are held in memory at once: not quite a GiB."""
MOST_GROWN = 1e10
"""Sets times rows of one further size."""
MOST_GROWN_HELD = 2e6
"""Sets of one further size that are held in memory at once."""
RANKED = 100
"""Ranking a set in a cohort takes as long as counting so many rows."""
FEWEST_GROWN = 10
"""Sets that grow, however many features and rows there are."""


@dataclass(frozen=True, eq=False)
class Search:
    """What is searched."""

    cohorts: Cohorts
    """The rows that are looked at, of all features."""
    size: int
    above_chance: bool
    include: tuple[int, ...] = ()
    """Features that every set is to hold."""
    n_jobs: int | None = None

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.cohorts.features)

    @property
    def a_set(self) -> float:
        """What a set costs, in rows that are counted: for a numeric target, once a grid."""
        rows = len(self.cohorts.weights) * max(1, len(self.cohorts.grids))
        return float(rows + RANKED * len(self.cohorts))

    @property
    def all_pairs(self) -> bool:
        """Whether all pairs are looked at."""
        pairs = comb(self.n_features, 2)
        return pairs <= MOST_HELD and pairs * self.a_set <= MOST_COUNTED

    @property
    def n_growing(self) -> int:
        """How many sets of a size are tried with every further feature."""
        most = min(MOST_GROWN / self.a_set, MOST_GROWN_HELD) / self.n_features
        return int(max(FEWEST_GROWN, most))

    @property
    def counted(self) -> list[float]:
        """Sets times rows that will be counted, by size from 1 on."""
        found = [self.n_features * self.a_set]
        for size in range(2, self.size + 1):
            # Parts of growing sets are scored with every feature, too.
            sets = 1.5 * self.n_growing * self.n_features
            if size == 2 and self.all_pairs:
                sets = comb(self.n_features, 2)
            found.append(sets * self.a_set)
        return found


def searched(
    search: Search, progress: Progress | None = None
) -> tuple[list[Ranking], tuple[Looked, ...]]:
    """The rankings of sets by size, and how many sets were looked at."""
    scorer = _Scorer(search, _Told(search, progress))
    rankings, looked = [], []
    last: list[Ranking] = []
    for size in range(1, search.size + 1):
        if size == 1:
            found = scorer.singles()
        elif size == 2 and search.all_pairs:
            found = scorer.pairs()
        else:
            found = scorer.grown(_growing(search, last, size - 1))
        last = found.of_all()
        rankings += last
        n_looked, of = found.n_looked, comb(search.n_features, size)
        whole = size == 1 or (size == 2 and search.all_pairs) or n_looked == of
        looked.append(Looked(size, n_looked, of, whole))
    return rankings, tuple(looked)


def _growing(search: Search, rankings: Sequence[Ranking], size: int) -> Sets:
    """The sets that every further feature is added to: the best of all rankings, in turns."""
    chosen: dict[tuple[int, ...], None] = {}
    if len(search.include) == size:
        chosen[tuple(sorted(search.include))] = None
    for members in in_turns(one.sets for one in rankings):
        if len(chosen) >= search.n_growing:
            break
        chosen[tuple(sorted(members))] = None
    return np.array(list(chosen), dtype=np.int32).reshape(-1, size)


class _Told:
    """Tells how far the search is, from how far the scores of one cohort are."""

    STEPS = 1000

    def __init__(self, search: Search, progress: Progress | None) -> None:
        counted, shares = search.counted, [len(c.weights) for c in search.cohorts]
        parts = np.outer(counted, shares).ravel()
        self._ends = np.concatenate([[0.0], np.cumsum(parts) / parts.sum()])
        self._progress, self._part, self._last = progress, 0, 0

    def part(self) -> Callable[[int, int], None] | None:
        """Begin with the next cohort; what to tell of it."""
        if self._progress is None:
            return None
        tell = partial(self._tell, self._part)
        self._part += 1
        tell(0, 1)
        return tell

    def _tell(self, part: int, done: int, total: int) -> None:
        assert self._progress is not None  # noqa: S101
        low, high = self._ends[part : part + 2]
        place = int(self.STEPS * (low + (high - low) * done / max(total, 1)))
        self._last = max(place, self._last)  # of a numeric target every grid begins anew
        self._progress(SEARCHING, self._last, self.STEPS)


class _Scorer:
    """Scores sets in the rows that are looked at."""

    def __init__(self, search: Search, told: _Told) -> None:
        self._search, self._told = search, told
        self._measure = information_of(search.cohorts, above_chance=search.above_chance)
        self._values = np.array([len(labels) for labels in search.cohorts.categories], dtype=float)
        grids = search.cohorts.by_grid()
        self._grids = [list(grid) for grid in grids]
        self._n_classes = max(len(grid.classes) for grid in grids)
        n_cohorts = len(search.cohorts)
        self._alone: Floats = np.array([self._level(c, 1) for c in range(n_cohorts)])

    def singles(self) -> Rankings:
        """All features by themselves."""
        sets = level(self._search.n_features, 1)
        found = self._rankings(sets)
        for cohort, n_rows in self._cohorts():
            self._told.part()
            freedom = self._freedom(self._values, n_rows)
            found.add(cohort, n_rows, [Scored(TOTAL, self._alone[cohort], freedom)])
        return found

    def pairs(self) -> Rankings:
        """All pairs."""
        sets = level(self._search.n_features, 2)
        found = self._rankings(sets)
        first, second = sets.T
        cells = self._values[first] * self._values[second]
        for cohort, n_rows in self._cohorts():
            scores = self._level(cohort, 2, self._told.part())
            alone = self._alone[cohort]
            together = scores - (alone[first] + alone[second])
            parts = cells - self._values[first] - self._values[second] + 2.0
            found.add(
                cohort,
                n_rows,
                [
                    Scored(TOTAL, scores, self._freedom(cells, n_rows)),
                    Scored(TOGETHER, together, self._freedom(parts, n_rows)),
                ],
            )
        return found

    def grown(self, sets: Sets) -> Rankings:
        """Some sets with every further feature."""
        n_features = self._search.n_features
        every = np.broadcast_to(np.arange(n_features, dtype=np.int32), (len(sets), n_features))
        whole = np.repeat(sets, n_features, axis=0)
        found = self._rankings(np.hstack([whole, every.reshape(-1, 1)]))
        cells = self._values[sets].prod(axis=1)[:, None]
        joint = (cells * self._values).ravel()
        parts = ((cells - 1.0) * (self._values - 1.0)).ravel() + 1.0
        for cohort, n_rows in self._cohorts():
            scores = self._extended(cohort, sets, self._told.part())
            together = scores - self._by_parts(cohort, sets)
            found.add(
                cohort,
                n_rows,
                [
                    Scored(TOTAL, scores.ravel(), self._freedom(joint, n_rows)),
                    Scored(TOGETHER, together.ravel(), self._freedom(parts, n_rows)),
                ],
            )
        return found

    def _by_parts(self, cohort: int, sets: Sets) -> Floats:
        """The most that a part of a grown set and the feature left out of it tell, each alone."""
        alone = self._alone[cohort]
        whole = self._measure.of_subsets(cohort, sets, self._search.n_jobs)
        most: Floats = whole[:, None] + alone
        if sets.shape[1] == 1:
            return most
        for place in range(sets.shape[1]):
            rest, which = np.unique(np.delete(sets, place, axis=1), axis=0, return_inverse=True)
            with_feature = self._extended(cohort, rest)[which.reshape(-1)]
            most = np.fmax(most, with_feature + alone[sets[:, place], None])
        return most

    def _cohorts(self) -> Iterator[tuple[int, float]]:
        for number, cohort in enumerate(self._search.cohorts):
            yield number, max(cohort.effective_size, 1.0)

    def _rankings(self, sets: Sets) -> Rankings:
        return Rankings(sets, above_chance=self._search.above_chance)

    def _freedom(self, cells: Floats, n_rows: float) -> Floats:
        """Degrees of freedom; a table has no more cells with rows than there are rows."""
        found: Floats = (np.minimum(cells, n_rows) - 1.0) * (self._n_classes - 1.0)
        return found

    def _level(
        self, cohort: int, size: int, told: Callable[[int, int], None] | None = None
    ) -> Floats:
        (found,) = self._measure.of_levels(cohort, size, size, self._search.n_jobs, told)
        return found

    def _extended(
        self, cohort: int, sets: Sets, told: Callable[[int, int], None] | None = None
    ) -> Floats:
        above, n_jobs = self._search.above_chance, self._search.n_jobs
        scores = [
            extended_mutual_info(
                grid[cohort], sets, above_chance=above, n_jobs=n_jobs, progress=told
            )
            for grid in self._grids
        ]
        found: Floats = np.mean(scores, axis=0)
        return found
