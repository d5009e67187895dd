"""Whether a set explains more than chance, right for having searched through all of them.

How it is found is in docs/answers/chance.md. Mean and deviation come from permutations that serve
for nothing else; variances are averaged over sets whose scores have about the same mean by chance.
Every set has its own place to stop at.
"""

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from misfeat.information.permuted_scores import Permutations
from misfeat.runtime.array_types import Flags, Floats, Integers
from misfeat.runtime.threads import Work

PERMUTATIONS = 999  # permutations at most: the least p-value is one over one more
REACHED = 10  # so many greatest scores that reach a set's own settle that it is chance
PILOTS = 32  # permutations that say how scores vary, and are not compared with
NEIGHBOURS = 25  # the variance is averaged over so many sets on either side of a set
FIRST_ROUND = 32  # permutations before the first look whether to stop; each round is doubled
MOST_AT_ONCE = 256  # permutations up to which rounds are made at once
TIED = 1e-9  # studentised scores that differ by less are tied; rounding must not separate them
NOTHING = 1e-12  # a score (nats, or R²) that varies by less does not vary


@dataclass(frozen=True, eq=False)
class Greatest:
    """The greatest studentised score of the target as it was recorded, and of each permutation."""

    best: float
    maxima: Floats

    def p_value(self, permutations: int) -> float | None:
        """The p-value of as many permutations at most; None where more would have to be made."""
        maxima = self.maxima[:permutations]
        stopped = np.isneginf(self.best) or (maxima >= self.best - TIED).sum() >= REACHED
        if len(maxima) < permutations and not stopped:
            return None
        return float(p_values(maxima, np.array([self.best]), permutations)[0])


@dataclass(frozen=True, eq=False)
class MaxTest:
    """What permuting the target says about all sets that were searched."""

    statistics: tuple[Floats, ...]  # by size: studentised scores; -inf where one cannot vary
    subsets: tuple[Integers, ...]  # by size: their features
    maxima: Floats  # the greatest studentised score of every permutation, in order
    permutations: int = PERMUTATIONS  # at most

    @property
    def best(self) -> tuple[int, ...]:
        """The features of the set with the greatest studentised score."""
        size = int(np.argmax([values.max(initial=-np.inf) for values in self.statistics]))
        members = self.subsets[size][int(np.argmax(self.statistics[size]))]
        return tuple(members.tolist())

    @property
    def greatest(self) -> Greatest:
        """The greatest studentised scores, as recorded and of all permutations."""
        best = max(values.max(initial=-np.inf) for values in self.statistics)
        return Greatest(float(best), self.maxima)

    @property
    def p_value(self) -> float:
        """How likely chance alone gives a set that explains as much as the best one."""
        return float(p_values(self.maxima, np.array([self.greatest.best]), self.permutations)[0])

    @property
    def n_sets(self) -> int:
        """How many sets were searched, without those whose scores cannot vary."""
        return sum(int(np.isfinite(values).sum()) for values in self.statistics)

    def p_values_of(self, size: int) -> Floats:
        """The p-value of every set of one size, given by its place in `statistics`."""
        return p_values(self.maxima, self.statistics[size], self.permutations)


def p_values(maxima: Floats, statistics: Floats, permutations: int = PERMUTATIONS) -> Floats:
    """P-values of studentised scores from the greatest ones of permutations, each with its stop."""
    # Maxima are in order: all `permutations` of them, or fewer where enough reached every
    # statistic. Where `REACHED` of them reached a score, the last of them being the b-th, its
    # p-value is `REACHED` over b. Else it is one more than reached it over one more than were made.
    ordered = np.sort(statistics)
    order = np.argsort(statistics, kind="stable")
    # Every maximum reaches all statistics up to a place in their order.
    places = np.searchsorted(ordered - TIED, maxima[:permutations], side="right")
    farthest = np.argsort(-places, kind="stable")
    # Of the permutations that reach as far, the number of the `REACHED`-th; 0 where there is none.
    earliest: list[int] = []
    stops = np.zeros(len(places), dtype=np.int64)
    for index, permutation in enumerate(farthest.tolist()):
        insort(earliest, permutation + 1)
        del earliest[REACHED:]
        if len(earliest) == REACHED:
            stops[index] = earliest[-1]
    # Statistics between the places of two permutations are reached by all that reach farther.
    between = -np.diff(places[farthest], append=0)
    counts, stopped = (np.zeros(len(statistics), dtype=np.int64) for _ in range(2))
    n_reached = int(between.sum())
    counts[:n_reached] = np.repeat(np.arange(1, len(places) + 1), between)[::-1]
    stopped[:n_reached] = np.repeat(stops, between)[::-1]
    found = np.empty(len(statistics))
    found[order] = np.where(
        stopped > 0, REACHED / np.maximum(stopped, 1), (counts + 1.0) / (len(maxima) + 1.0)
    )
    found[np.isneginf(statistics)] = 1.0
    return found


def max_test(
    permuted: Permutations,
    work: Work,
    *,
    permutations: int = PERMUTATIONS,
    searched: Callable[[Integers], Flags] | None = None,
) -> MaxTest:
    """Test all sets of some permutations at once; `searched` says which sets of a size count."""
    within, others = replace(work, progress=None), 1 + PILOTS  # the permutations compared with
    made = permutations if permutations <= MOST_AT_ONCE else FIRST_ROUND
    roots = _root(permuted.scores(0, others + made, within))
    mean, deviation = _null_of_roots(roots[1:others])
    sizes = [len(subsets) for subsets in permuted.subsets]
    kinds = max(len(mean) // max(sum(sizes), 1), 1)
    kept = deviation > 0
    if searched is not None:
        kept &= np.tile(np.concatenate([searched(subsets) for subsets in permuted.subsets]), kinds)

    def studentised(roots: Floats) -> Floats:
        """Roots of scores less their mean by chance, over their deviation by chance."""
        with np.errstate(divide="ignore", invalid="ignore"):
            by_kind = np.where(kept, (roots - mean) / deviation, -np.inf)
        return np.asarray(by_kind.reshape(len(roots), kinds, -1).max(axis=1))

    own = studentised(roots[:1])[0]
    best, last = own.max(initial=-np.inf), FIRST_ROUND
    maxima = studentised(roots[others:]).max(axis=1)[: 0 if np.isneginf(best) else None]
    while last // 2 < len(maxima):
        reached = maxima >= best - TIED
        if reached[:last].sum() >= REACHED:
            maxima = maxima[:last]
            break
        first, last = len(maxima), 2 * last
        if first < min(last, permutations):  # where none is near, several rounds are made at once
            end = min(last if reached.any() else max(last, MOST_AT_ONCE), permutations)
            roots = _root(permuted.scores(others + first, others + end, within))
            maxima = np.concatenate([maxima, studentised(roots).max(axis=1)])
        if work.progress is not None:
            work.progress(len(maxima), permutations)
    by_size = np.split(own, np.cumsum(sizes)[:-1])
    return MaxTest(tuple(by_size), permuted.subsets, maxima, permutations)


def _root(scores: Floats) -> Floats:
    """The root of scores that rounding may leave a trace below 0; NaN is of sets without rows."""
    return np.asarray(np.sqrt(np.maximum(np.nan_to_num(scores), 0.0)))


def _null_of_roots(roots: Floats) -> tuple[Floats, Floats]:
    """Means of some permutations, and deviations averaged over sets of like means."""
    mean, variance = roots.mean(axis=0), roots.var(axis=0, ddof=1)
    varies = np.flatnonzero(variance > NOTHING)
    varies = varies[np.argsort(mean[varies], kind="stable")]
    sums = np.concatenate([[0.0], np.cumsum(variance[varies])])
    index = np.arange(len(varies))
    low, high = np.maximum(index - NEIGHBOURS, 0), np.minimum(index + NEIGHBOURS + 1, len(varies))
    deviation = np.zeros_like(mean)
    deviation[varies] = np.sqrt((sums[high] - sums[low]) / (high - low))
    return mean, deviation


def false_discovery_control(p_values: Sequence[float] | Floats) -> Floats:
    """P-values adjusted for their number (Benjamini and Hochberg)."""
    found = np.array(p_values, dtype=np.float64)
    order = np.argsort(found)[::-1]
    adjusted = found[order] * (len(found) / np.arange(len(found), 0, -1))
    found[order] = np.minimum(np.minimum.accumulate(adjusted), 1.0)
    return found
