"""The best of very many sets: which tell more than the best of as many would by chance alone.

By chance twice the rows times a score in nats is about a chi-squared variable, with (cells - 1)
times (classes - 1) degrees of freedom. Of a score above chance as much is taken off as the best of
all sets that are looked at would hardly reach if nothing told anything. What is left ranks sets of
few and of many cells alike, and in a small subgroup little is left. The features of the best
sets of every ranking are kept, in turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Sets = NDArray[np.int32]

POOLED = -1
"""Stands for all cohorts together, where a number of a cohort would stand."""
TOTAL, TOGETHER = "total", "together"
LONGEST_RANKING = 4000
"""Sets of a ranking that are kept; those behind them would never have a turn."""
LEVEL = 0.05
"""How likely chance alone lifts any of the sets of a ranking so high that it counts as telling."""
BEST = 20
"""Sets of every ranking whose features are kept before all others."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The best sets of one size, by one score."""

    size: int
    kind: str
    """{"total", "together"}: what a set tells, or what it tells beyond its parts."""
    cohort: int
    """Where; `POOLED` for all cohorts together."""
    sets: Sets
    """Of shape (n_sets, size): feature numbers, the best set first."""
    beyond: Floats
    """Of shape (n_sets,): by how much each scores above what the best of all sets would hardly
    reach by chance."""

    @property
    def clear(self) -> Sets:
        """The sets that no chance explains."""
        return self.sets[self.beyond > 0]


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of the same sets in one cohort, for one kind of ranking."""

    kind: str
    scores: Floats
    """In nats, a set each; NaN where the cohort did not record it."""
    freedom: Floats
    """Degrees of freedom of each."""


class Rankings:
    """Ranks the sets of one size cohort by cohort, and in all cohorts together.

    Unless scores are above chance, sets are ranked by the rows as they are.
    """

    def __init__(self, sets: Sets, *, above_chance: bool) -> None:
        self._sets, self._above_chance = sets, above_chance
        self._found: list[Ranking] = []
        self._sums: dict[str, tuple[Floats, Floats]] = {}
        self._rows = np.zeros(len(sets))

    def add(self, cohort: int, n_rows: float, scored: Iterable[Scored]) -> None:
        """Rank the sets of one cohort; `n_rows` is what its rows are worth."""
        recorded = np.zeros(len(self._sets), dtype=bool)
        for one in scored:
            recorded = ~np.isnan(one.scores)
            allowed = self._allowed(one.freedom) / (2.0 * n_rows)
            self._found.append(self._ranked(one.kind, cohort, one.scores - allowed))
            nothing = np.zeros(len(self._sets))
            sums, freedom = self._sums.setdefault(one.kind, (nothing, nothing.copy()))
            sums[recorded] += n_rows * one.scores[recorded]
            freedom[recorded] += one.freedom[recorded]
        self._rows[recorded] += n_rows

    def of_all(self) -> list[Ranking]:
        """The rankings of all cohorts together first, then of those that were added."""
        pooled = []
        for kind, (sums, freedom) in self._sums.items():
            with np.errstate(invalid="ignore", divide="ignore"):
                beyond = (sums - self._allowed(freedom) / 2.0) / self._rows
            pooled.append(self._ranked(kind, POOLED, beyond))
        return [*pooled, *self._found]

    @property
    def n_looked(self) -> int:
        """How many different sets some cohort recorded, so that they were looked at."""
        members = np.sort(self._sets[self._rows > 0], axis=1).astype(np.int16)
        whole = np.ascontiguousarray(members).view(f"V{2 * members.shape[1]}")
        return len(np.unique(whole))

    def _allowed(self, freedom: Floats) -> Floats:
        """What the best of all sets seldom exceeds its mean by, if nothing tells anything."""
        if not self._above_chance:
            return np.zeros(len(freedom))
        values, places = np.unique(freedom, return_inverse=True)
        least = np.maximum(values, 1.0)
        chance = LEVEL / max(len(freedom), 1)
        return np.asarray((chi2.isf(chance, least) - least)[places])

    def _ranked(self, kind: str, cohort: int, beyond: Floats) -> Ranking:
        beyond = np.where(np.isfinite(beyond), beyond, -np.inf)
        most = min(LONGEST_RANKING, int((beyond > -np.inf).sum()))
        size = self._sets.shape[1]
        if size == 1:
            most = int((beyond > -np.inf).sum())
        best = np.argpartition(-beyond, most - 1)[:most] if most > 0 else np.zeros(0, dtype=int)
        best = best[np.lexsort((best, -beyond[best]))]
        return Ranking(size, kind, cohort, self._sets[best], beyond[best])


def in_turns(rankings: Iterable[Sets]) -> Iterator[tuple[int, ...]]:
    """The best set of every ranking, then the second best of each, and so on."""
    left = [iter(sets.tolist()) for sets in rankings]
    while left:
        going = []
        for sets in left:
            members = next(sets, None)
            if members is not None:
                going.append(sets)
                yield tuple(members)
        left = going


def features_to_keep(
    rankings: Sequence[Ranking], most: int, include: Iterable[int] = ()
) -> list[int]:
    """The numbers of the features that are kept, ascending, and at most so many but for `include`.

    The features of the sets that tell most come first, up to half of the places. Then come those
    that no chance explains: features that tell alone, and sets that tell beyond their parts. What
    places are left go to the next best of the same in all cohorts together, whose rankings come
    before others.
    """
    kept = dict.fromkeys(include)
    alone = [one for one in rankings if one.size == 1]
    telling = [one.sets[:BEST] for one in rankings if one.kind == TOTAL]
    _add(kept, in_turns(telling), max(len(kept), most // 2))
    together = [one for one in rankings if one.kind == TOGETHER]
    _add(kept, in_turns(one.clear for one in (*alone, *together)), most)
    pooled = [one.sets for one in (*alone, *together) if one.cohort == POOLED]
    _add(kept, in_turns(pooled), most)
    return sorted(kept)


def telling_features(rankings: Sequence[Ranking]) -> set[int]:
    """The features that tell, alone or in a set that tells beyond its parts, more than chance."""
    clear = [one.clear for one in rankings if one.size == 1 or one.kind == TOGETHER]
    return {feature for sets in clear for feature in sets.ravel().tolist()}


def _add(kept: dict[int, None], sets: Iterable[tuple[int, ...]], most: int) -> None:
    """Add the features of sets, of each all or none, as long as there are places."""
    for members in sets:
        if len(kept) >= most:
            return
        new = [feature for feature in members if feature not in kept]
        if len(kept) + len(new) <= most:
            kept.update(dict.fromkeys(new))
