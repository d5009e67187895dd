"""The features of a wide table that are worth a closer look: by themselves, or in pairs.

How they are chosen is in docs/how_to/wide.md. By chance, twice the rows times a score in nats is
about a chi-squared variable with (cells - 1)(classes - 1) degrees of freedom, and what a pair
explains beyond its features, I(a, b) - I(a) - I(b), one with (values - 1)(values - 1)(classes - 1).
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from math import comb
from typing import NamedTuple

import numpy as np

from misfeat.cohorts.cohort_data import Cohorts
from misfeat.cohorts.feature_removal import NOT_ON_SHORTLIST, not_a_feature, without_features
from misfeat.cohorts.resampled_rows import reweighted, rows_drawn
from misfeat.exceptions import MisfeatError
from misfeat.information.measures import information_of
from misfeat.lattice.levels import level
from misfeat.messages import Setting
from misfeat.runtime.array_types import Floats, Indices, Integers
from misfeat.runtime.progress import Progress, unreported

WHAT = "Looking for the features that explain something"
MOST_FEATURES = 2**15 - 1  # kernels number the members of sets with 16 bits
SHARE = 0.5  # the share of the rows that is looked at, at most
FEWEST_ROWS = 10_000  # so many coded rows are looked at, if there are, before pairs are left out
MOST_COUNTED = 4e10  # pairs times rows that are counted: about half a minute on two cores
MOST_PAIRS = 5_000_000  # pairs that are held in memory at once: not quite a GiB
LEVEL = 0.05  # how likely chance alone lifts any set of a ranking so high that it stands out
LONGEST_RANKING = 4000  # pairs of a ranking that are kept; others would never have a turn


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Which features of a wide table were left out, and by what."""

    left_out: tuple[str, ...]  # the features that were not kept, blocks by their names
    pairs: int  # pairs that were looked at, beside all features
    rows: int  # rows of the table in which they were looked at
    outstanding: int | None  # features that stand out, yet were not kept; None: chance included
    # (n_rows,): rows of the table per coded row that were not looked at, for tests; or empty
    held_back: Integers


class _Ranking(NamedTuple):
    """Sets, best first, and by how much each exceeds what chance gives the best of all."""

    sets: Indices
    excess: Floats


def sets_in_all(n_features: int, size: int, n_cohorts: int) -> int:
    """Sets of up to a size times subgroups."""
    return n_cohorts * sum(comb(n_features, m) for m in range(1, size + 1))


def features_that_fit(n_features: int, size: int, n_cohorts: int, max_sets: int) -> int:
    """The most features whose sets of up to a size are no more than `max_sets`; at least `size`."""
    counts = range(n_features + 1)
    fit = bisect_right(counts, max_sets, key=lambda n: sets_in_all(n, size, n_cohorts)) - 1
    return max(fit, min(size, n_features))


def shortlist(
    cohorts: Cohorts,
    most: int,
    *,
    above_chance: bool = True,
    include: Sequence[str] = (),
    blocks: Mapping[str, Sequence[str]] | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    progress: Progress = unreported,
) -> tuple[Cohorts, Shortlist]:
    """Keep the features of a wide table that explain something, alone or in pairs."""
    n_features = len(cohorts.features)
    if n_features > MOST_FEATURES:
        raise MisfeatError(
            f"There are {n_features:,} features, and at most {MOST_FEATURES:,} can be searched; "
            f"leave features out ({Setting('exclude')})."
        )
    for name in include:
        if name not in cohorts.features:
            raise not_a_feature(name, "a feature to include", cohorts, cohorts.features, blocks)
    held = [cohorts.features.index(name) for name in include]
    # How many rows of the table each coded row stands for that are looked at.
    pairs = comb(n_features, 2) * max(1, len(cohorts.grids))
    share = min(SHARE, max(MOST_COUNTED / max(pairs, 1), FEWEST_ROWS) / len(cohorts.weights))
    rng = np.random.default_rng(0 if seed is None else seed)
    drawn = np.concatenate(
        [rows_drawn(one.weights, max(1, int(share * one.size)), rng) for one in cohorts]
    )
    looked = reweighted(cohorts, drawn)
    pooled, by_cohort, n_pairs = _rankings(looked, above_chance, n_jobs, progress)
    outstanding = [ranking.sets[ranking.excess > 0] for ranking in (*pooled, *by_cohort)]
    kept = dict.fromkeys(held)
    for members in chain(_in_turns(outstanding), _in_turns([ranking.sets for ranking in pooled])):
        new = [f for f in members if f not in kept]
        if len(kept) + len(new) <= max(most, len(held)):
            kept.update(dict.fromkeys(new))
    standing_out = {f for sets in outstanding for f in sets.ravel().tolist()}
    left = tuple(name for f, name in enumerate(cohorts.features) if f not in kept)
    columns = [column for name in left for column in (blocks or {}).get(name, ())]
    # Of a subgroup of one row this one is held back, too: it tests nothing.
    unseen = cohorts.weights - drawn
    empty = np.add.reduceat(unseen, cohorts.offsets[:-1]) == 0
    found = Shortlist(
        left_out=left,
        pairs=n_pairs,
        rows=int(drawn.sum()),
        outstanding=len(standing_out - set(kept)) if above_chance else None,
        held_back=np.where(np.repeat(empty, np.diff(cohorts.offsets)), cohorts.weights, unseen),
    )
    return without_features(cohorts, (*left, *columns), NOT_ON_SHORTLIST), found


def _rankings(
    cohorts: Cohorts, above_chance: bool, n_jobs: int | None, progress: Progress
) -> tuple[list[_Ranking], list[_Ranking], int]:
    """Rankings of features and pairs in all subgroups together and in each; how many pairs."""
    n_cohorts, n_features = len(cohorts), len(cohorts.features)
    progress(WHAT, 0, n_cohorts + 1)
    measure = information_of(cohorts, above_chance=above_chance)
    alone = np.stack([measure.of_levels(k, 1, 1, n_jobs)[0] for k in range(n_cohorts)])
    rows = np.maximum(cohorts.effective_sizes(), 1.0)
    n_classes = max(len(grid.classes) for grid in cohorts.by_grid())
    values = np.array([max(len(labels), 1) for labels in cohorts.categories], dtype=np.float64)
    free = (values - 1.0) * (n_classes - 1.0)
    pooled, by_cohort = _ranked(np.arange(n_features)[:, None], alone, free, rows, above_chance)
    progress(WHAT, 1, n_cohorts + 1)
    # Of all features, or the best by themselves, as many as have pairs that can be counted.
    most = min(MOST_PAIRS, MOST_COUNTED / max(len(cohorts.weights) * max(1, len(cohorts.grids)), 1))
    n_tried = min(n_features, int((1 + np.sqrt(1 + 8 * int(most))) / 2))
    tried = np.arange(n_features)
    if n_tried < n_features:
        tried = np.sort(pooled.sets[:n_tried, 0].astype(np.int64))
    chosen = cohorts.features if len(tried) == n_features else [cohorts.features[f] for f in tried]
    others = tuple(set(cohorts.features) - set(chosen))
    measure = information_of(without_features(cohorts, others), above_chance=above_chance)
    pairs = tried[level(len(tried), 2)]
    first, second = pairs.T
    together = np.empty((n_cohorts, len(pairs)))
    for k in range(n_cohorts):
        together[k] = measure.of_levels(k, 2, 2, n_jobs)[0]
        together[k] -= alone[k, first] + alone[k, second]
        progress(WHAT, k + 2, n_cohorts + 1)
    free = (values[first] - 1.0) * (values[second] - 1.0) * (n_classes - 1.0)
    of_pairs, pairs_by_cohort = _ranked(pairs, together, free, rows, above_chance)
    return [pooled, of_pairs], [*by_cohort, *pairs_by_cohort], len(pairs)


def _ranked(
    sets: Indices, scores: Floats, free: Floats, rows: Floats, above_chance: bool
) -> tuple[_Ranking, list[_Ranking]]:
    """Sets ranked by scores in all subgroups together and in each; NaN: not recorded."""
    recorded = ~np.isnan(scores)
    n_rows = rows @ recorded
    allowed = _best_by_chance(recorded.sum(axis=0) * free) if above_chance else 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (rows @ np.where(recorded, scores, 0.0) - allowed / 2.0) / n_rows
    alone = _best_by_chance(free) if above_chance else np.zeros(len(free))
    by_cohort = [
        _best_first(sets, own - alone / (2.0 * n)) for own, n in zip(scores, rows, strict=True)
    ]
    return _best_first(sets, mean), by_cohort


def _best_by_chance(free: Floats) -> Floats:
    """What the best of all sets seldom exceeds its mean by, if nothing explains anything."""
    from scipy.special import chdtri

    values, places = np.unique(np.maximum(free, 1.0), return_inverse=True)
    return np.asarray((chdtri(values, LEVEL / max(len(free), 1)) - values)[places])


def _best_first(sets: Indices, excess: Floats) -> _Ranking:
    excess = np.where(np.isfinite(excess), excess, -np.inf)
    most = int((excess > -np.inf).sum())
    if sets.shape[1] > 1:
        most = min(most, LONGEST_RANKING)
    best = np.argpartition(-excess, most - 1)[:most] if most else np.zeros(0, dtype=np.intp)
    best = best[np.lexsort((best, -excess[best]))]
    return _Ranking(sets[best], excess[best])


def _in_turns(rankings: Sequence[Indices]) -> Iterator[tuple[int, ...]]:
    """The best set of every ranking, then the second best of each, and so on."""
    for line in zip_longest(*(map(tuple, sets.tolist()) for sets in rankings)):
        yield from (members for members in line if members is not None)
