"""Scores of feature sets when the target is permuted over the rows of a cohort, or of its strata.

Permutations are numbered. The same number is the same permutation, whatever else is asked for and
however many threads work. Number 0 is the target as it was recorded.

How weights and clusters go along is in docs/how_to/weights.md (tests). Of rows that agree in all
features and the class, only how many there are is known, the sum of their weights and that of the
squares: quantiles of a lognormal distribution have the same sums.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from math import comb
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from misfeat.cohorts.cohort_data import Cohort, distinct_columns
from misfeat.cohorts.product_sums import ProductSums
from misfeat.cohorts.resampled_rows import rows_drawn
from misfeat.cohorts.weights import mean_weights, squares_of, weights_of
from misfeat.information import score_sums
from misfeat.information.kernels import permuted_scores
from misfeat.information.kernels.dense_blocks import BlockPlan
from misfeat.information.linear_scores import Orders, WithTrends
from misfeat.information.measures import squared_correlation
from misfeat.information.mutual_info import CompactRows, compact_rows, mutual_info_of
from misfeat.information.null_expectation import log_table, n_log_n
from misfeat.information.score_sums import sums_of_subsets
from misfeat.lattice.levels import level
from misfeat.runtime.array_types import Floats, Indices, Integers
from misfeat.runtime.threads import Work

Seeds = NDArray[np.uint64]

LARGEST_MASS = 2**31  # what all rows weigh together, at most about, where weights are permuted
MOST_PERMUTATIONS = 2**17  # permutations have seeds up to this number
LANES_TOGETHER = 64  # counts of a cell, over all permutations that are counted together
LARGEST_LANES = 2**22
"""Counts of the sums of all sets, over all permutations that are counted together."""
LARGEST_LINE, LARGEST_LINES = 512, 2**24
"""Bytes of a row, and of all rows, that count their classes in permutations that are sorted."""
OFTEN = 1000  # about so many permutations are scored, where they are scored one at a time
DRAWN_FROM, DRAWN_A_ROW = 2**20, 100
"""From so many rows on, and so many for each distinct one, tables are drawn and rows not moved."""
MOST_ROWS = 10**11  # of more, what chance explains is lost in rounding: they are tested as so many
MOST_LINEAR = 2**15  # rows up to which sets have linear scores, too: of more, cells show all
SPREAD_ROUNDS = 30  # until weights of rows have the squares they should have, in nearly all tables
ALIKE = 1e-9  # logarithms of how unequal weights are; less does not count
LEAST_EFFECT = 0.1  # so far a design effect is believed that few clusters estimate below 1
COUNTED_A_ROW = 0.4  # counts of a table a row: of more, rows that are sorted take less time


class Permutations(Protocol):
    """Scores of the same sets, by permutation: what they explain beyond those that are held."""

    subsets: tuple[Integers, ...]  # an entry per size; features ascend along a row

    def scores(self, first: int, last: int, work: Work) -> Floats:
        """Scores of permutations ``first`` to ``last - 1``, of shape (n_permutations, n_sets).

        Where there are scores of several kinds, those of all sets of a kind precede the next.
        """


def one_by_one(rows: CompactRows, cohort: Cohort) -> tuple[CompactRows, NDArray[np.intp]]:
    """The rows of the table one by one with what each weighs, and the distinct row of each."""
    times, masses, heaviest = weights_of(cohort)
    place = np.repeat(np.arange(rows.n_rows), times)
    each = lognormal_weights(times, masses, squares_of(times, masses, heaviest))
    weights = np.maximum(np.rint(each * (LARGEST_MASS / each.sum())), 1.0).astype(np.int64)
    alone = replace(
        rows,
        codes=np.ascontiguousarray(rows.codes[:, place]),
        target=rows.target[place],
        weights=weights,
        total=int(weights.sum()),
        unit=1.0,
        shift=0.0,
    )
    return alone, place


def lognormal_weights(times: Integers, masses: NDArray[np.number], squares: Floats) -> Floats:
    """What each of the rows weighs that distinct ones stand for, by the sums of their weights."""
    from scipy.special import ndtri  # slow to import

    firsts = np.cumsum(times) - times
    place = np.repeat(np.arange(len(times)), times)
    normal = ndtri((np.arange(len(place)) - firsts[place] + 0.5) / times[place])
    normal -= normal[(firsts + times - 1)][place]  # the greatest is 0, so that no power overflows
    unequal = np.log(np.maximum(times * squares / masses**2.0, 1.0))
    deviation, each = np.sqrt(unequal), np.ones(len(place))
    for _ in range(SPREAD_ROUNDS):
        each = np.exp(deviation[place] * normal)
        sums, own_squares = np.add.reduceat(each, firsts), np.add.reduceat(each**2, firsts)
        reached = np.log(np.maximum(times * own_squares / sums**2, 1.0))
        each *= (masses / sums)[place]
        deviation *= np.sqrt(np.where(unequal > ALIKE, unequal / np.maximum(reached, ALIKE), 0.0))
    return np.asarray(each)


class DesignCorrected:
    """Permutations of rows of a design: the recorded score is over its effect (Rao and Scott)."""

    def __init__(self, permutations: Permutations, effects: Floats) -> None:
        self._permutations, self._effects = permutations, effects
        self.subsets = permutations.subsets

    def scores(self, first: int, last: int, work: Work) -> Floats:
        """Scores of permutations ``first`` to ``last - 1``, of shape (n_permutations, n_sets)."""
        found = self._permutations.scores(first, last, work)
        if first == 0 < last:
            found[0] /= self._effects
        return found


def joint_effects(
    joint: Floats, freedom: Floats, subsets: tuple[Integers, ...], held: tuple[int, ...]
) -> tuple[Floats, Floats]:
    """The design effects of all sets, from what clusters add: of cells, and of linear scores."""
    # The mean over degrees of freedom. Rows of a cluster that correlate by r_a and r_b in two
    # features correlate by r_a r_b in the products that cells of both have besides.
    own, most = list(held), joint[0, -1]
    correlated = freedom * (joint[0, :-1] / most if most else 0.0)
    of_cells, linear = [], []
    for members in subsets:
        free, alike = (
            (1.0 + each[members]).prod(axis=1) - (1.0 + each[own]).prod()
            for each in (freedom, correlated)
        )
        of_cells.append(most * alike / np.maximum(free, 1.0))
        added = joint[1, members].sum(axis=1) - joint[1, own].sum()
        linear.append(added / (members.shape[1] - len(own)))
    found = (np.maximum(1.0 + np.concatenate(kind), LEAST_EFFECT) for kind in (of_cells, linear))
    return next(found), next(found)


@dataclass(frozen=True, eq=False)
class PermutedSets:
    """What is permuted: rows of one cohort, the sets that are scored, and where classes may go."""

    rows: CompactRows  # plug-in
    largest: int  # the most features that are chosen freely
    held: tuple[int, ...]  # features (of the cohort) that every set holds besides
    cells: Integers  # the cell of these features that every distinct row is in
    strata: Integers  # of every distinct row, within which classes stay; part of a cell
    seeds: Seeds  # of every permutation, by its number
    rest: Floats | None = None  # of every row's weight, without the part that its class has; None
    # where weights count rows, each of which gets a class

    @cached_property
    def by_stratum(self) -> tuple[NDArray[np.intp], Integers, Integers]:
        """Distinct rows by stratum, how many classes each gets, and where strata begin."""
        times = self.rows.weights if self.rest is None else np.ones_like(self.rows.weights)
        order = np.argsort(self.strata, kind="stable")
        sizes = np.bincount(self.strata, weights=times).astype(np.int64)
        return order, times[order], np.concatenate([[0], np.cumsum(sizes)])

    @property
    def n_cells(self) -> int:
        """Cells of the features that are held."""
        return int(self.cells.max(initial=0)) + 1

    @cached_property
    def free(self) -> Integers:
        """The features, as the rows number them, that sets are made of besides those held."""
        own = self.rows.positions[list(self.held)]
        return np.setdiff1d(np.arange(self.rows.n_features), own)

    @cached_property
    def subsets(self) -> tuple[Integers, ...]:
        """All sets by the number of free features, in the cohort's numbering."""
        return _sets_of(self.rows.features[self.free], self.held, self.largest)

    def recorded_scores(self, work: Work, rows: CompactRows | None = None) -> Floats:
        """What every set explains beyond the features that are held, of these rows or of others."""
        rows = rows or self.rows
        below = self.held_scores(work, rows)
        by_size = [
            mutual_info_of(rows, sums_of_subsets(rows, subsets, work, OFTEN, self.held)) - below
            for subsets in self.subsets
        ]
        return np.concatenate(by_size)

    def held_scores(self, work: Work, rows: CompactRows | None = None) -> Floats | float:
        """What the features that are held explain."""
        rows, held = rows or self.rows, np.array([sorted(self.held)], dtype=np.int64)
        return mutual_info_of(rows, sums_of_subsets(rows, held, work, OFTEN)) if self.held else 0.0


def permutations_of(
    cohort: Cohort,
    largest: int,
    *,
    held: tuple[int, ...] = (),
    strata: Indices | None = None,
    seed: np.random.SeedSequence,
    most: int = MOST_PERMUTATIONS,
    orders: Orders | None = None,
) -> Permutations:
    """Permutations of the target over a cohort's rows, and the scores of all sets for each."""
    # Sets hold up to `largest` features besides those `held`. What others add to these is tested,
    # so that classes stay within their cells, and among rows of the same number in `strata`, which
    # has one for every distinct row. The first permutations are the same whatever `most` there are.
    # With `orders`, sets have linear scores as well.
    if cohort.effective is None and cohort.size > MOST_ROWS:  # careful: fewer rows, larger chance
        fewer = np.rint(cohort.weights * (MOST_ROWS / cohort.size)).astype(np.int64)
        cohort = replace(cohort, weights=np.maximum(fewer, 1))
    rows, rest = compact_rows(cohort), None
    if cohort.effective is not None:
        rows, place = one_by_one(rows, cohort)
        rest = rows.weights / mean_weights(rows.target, rows.weights, rows.n_classes)[rows.target]
        cohort = replace(cohort, codes=cohort.codes[:, place])
        strata = None if strata is None else strata[place]
        if orders is not None:
            features, values = orders.features[:, place], orders.values[place]
            orders = orders._replace(features=features, values=values)
    lines = np.zeros(rows.n_rows, dtype=np.int64), *(cohort.codes[f] for f in held)
    cells = distinct_columns(np.stack(lines))[1]
    within = cells if strata is None else distinct_columns(np.stack([cells, strata]))[1]
    seeds = np.random.Philox(seed).random_raw(most) | np.uint64(1)
    seeds[0] = 0
    sets = PermutedSets(rows, largest, held, cells, within, seeds, rest)
    kind: Callable[[PermutedSets], Permutations] = SearchedPermutations
    if rows_to_permute(cohort) < cohort.size:
        kind = DrawnPermutations
    elif rest is None:
        kind = CountedPermutations if _can_be_counted(sets) else SortedPermutations
    found = kind(sets)
    if orders is not None:
        found = WithTrends(found, sets, orders)
    if cohort.joint_effects is None:
        return found
    freedom = cohort.cardinalities.astype(np.float64) - 1.0
    effects = joint_effects(cohort.joint_effects, freedom, found.subsets, held)
    return DesignCorrected(found, np.concatenate(effects[:1] if orders is None else effects))


def rows_to_permute(cohort: Cohort) -> int:
    """The rows that take time: all, or those that differ where tables of them are drawn."""
    distinct = DRAWN_A_ROW * len(cohort.target)
    drawn = cohort.effective is None and cohort.size >= max(DRAWN_FROM, distinct)
    return distinct if drawn else cohort.size


def _can_be_counted(sets: PermutedSets) -> bool:
    """Whether tables are small enough to be counted, several permutations at a time."""
    rows, free = sets.rows, sets.free
    if rows.lacks_values or not len(free):
        return False
    largest = min(sets.largest, len(free))
    if comb(len(free), largest) > score_sums.LARGEST_PLAN:
        return False
    cells = rows.cardinalities[free]
    most = float(np.prod(np.sort(cells)[::-1][:largest], dtype=float)) * sets.n_cells
    if most * LANES_TOGETHER > score_sums.LARGEST_TABLE:
        return False
    mean = score_sums.mean_cells_of(cells, largest)[largest] * sets.n_cells
    return mean * rows.n_classes <= COUNTED_A_ROW * rows.total


class CountedPermutations:
    """Permutations of rows without gaps whose tables are counted, many at a time."""

    def __init__(self, sets: PermutedSets) -> None:
        rows, free = sets.rows, sets.free
        self._sets, self.subsets, self._seeds = sets, sets.subsets, sets.seeds
        self._lane_type = np.uint16 if rows.total < 2**16 else np.uint32
        self._n_sets = sum(map(len, self.subsets))
        most = min(LANES_TOGETHER // rows.n_classes, LARGEST_LANES // max(self._n_sets, 1))
        self._together = max(1, most)  # permutations that are counted together
        codes, cardinalities = rows.codes[free], rows.cardinalities[free]
        self._n_held = sets.n_cells
        if self._n_held > 1:
            kind = np.uint16 if self._n_held <= 2**16 else np.uint32
            codes = np.vstack([codes, sets.cells.astype(kind)])
            cardinalities = np.append(cardinalities, self._n_held)
        # Distinct rows of the features alone, and the rows of the table one by one, by stratum.
        first, patterns = distinct_columns(codes)
        order, times, starts = sets.by_stratum
        self._rows = permuted_scores.PermutedRows(
            codes=np.ascontiguousarray(codes[:, first], dtype=np.uint16),
            cardinalities=cardinalities,
            patterns=np.repeat(patterns[order], times),
            classes=np.repeat(rows.target[order].astype(np.uint16), times),
            starts=starts,
            n_classes=rows.n_classes,
        )
        self._total = rows.total
        self._plan = self._planned(
            replace(rows, features=free, cardinalities=rows.cardinalities[free])
        )
        self._f = log_table(rows.total)
        # The rows of cells do not change, nor does what they take off the sums.
        self._taken_off = self._scored(self._seeds[:1])[0] - sets.recorded_scores(Work(1))

    def scores(self, first: int, last: int, work: Work) -> Floats:
        """Scores of permutations ``first`` to ``last - 1``, of shape (n_permutations, n_sets)."""
        found = np.empty((last - first, self._n_sets))

        def score(begin: int, end: int) -> None:
            permuted = self._scored(self._seeds[first + begin : first + end])
            found[begin:end] = permuted - self._taken_off

        bounds = [*range(0, last - first, self._together), last - first]
        work.run([partial(score, begin, end) for begin, end in pairwise(bounds)])
        return found

    def _scored(self, seeds: Seeds) -> Floats:
        lanes_a_word = 8 // np.dtype(self._lane_type).itemsize
        n_words = -(-len(seeds) * self._rows.n_classes // lanes_a_word)
        lanes = np.zeros((self._rows.codes.shape[1], n_words * lanes_a_word), self._lane_type)
        permuted_scores.count_classes(self._rows, seeds, lanes)
        plan, cardinalities = self._plan, self._rows.cardinalities
        free = cardinalities[:-1] if self._n_held > 1 else cardinalities
        width = n_words * self._n_held
        size = plan.blocks.shape[1] - (self._n_held > 1)
        buffer = np.empty(score_sums.buffer_words(free, size, width) + 8, dtype=np.uint64)
        sums = np.zeros((self._n_sets, len(seeds)))
        words = lanes.view(np.uint64)
        permuted_scores.score_permutations(
            self._rows, plan, words, buffer, buffer.view(self._lane_type), self._f, sums
        )
        return sums.T / self._total

    def _planned(self, rows: CompactRows) -> BlockPlan:
        n_free, high = rows.n_features, len(self.subsets)
        lanes = self._together * rows.n_classes * self._n_held
        lane_bytes = np.dtype(self._lane_type).itemsize
        words = self._together * rows.n_classes * lane_bytes / 8
        block = score_sums.block_size_for(rows, high, lanes, lane_bytes, additions=words)
        plan = score_sums.block_plan(n_free, 1, high, block)
        if self._n_held == 1:
            return plan
        held = np.full((len(plan.blocks), 1), n_free)
        return plan._replace(
            blocks=np.hstack([plan.blocks, held]),
            kept=plan.kept | np.int32(1 << plan.blocks.shape[1]),
        )


class SortedPermutations:
    """Permutations of rows that are sorted into the cells of every set, once for many at a time."""

    def __init__(self, sets: PermutedSets) -> None:
        rows = sets.rows
        self._sets, self.subsets, self._f = sets, sets.subsets, log_table(rows.total)
        order, times, starts = sets.by_stratum
        units = np.repeat(order, times)
        self._of_classes = np.nan if rows.lacks_values else float(n_log_n(rows.by_class).sum())
        self._rows = permuted_scores.PermutedRows(
            codes=np.ascontiguousarray(rows.codes[:, units], dtype=np.int32),
            cardinalities=rows.cardinalities,
            patterns=np.arange(len(units)),
            classes=rows.target[units].astype(np.uint16),
            starts=starts,
            n_classes=rows.n_classes,
        )
        held, high = rows.positions[list(sets.held)], len(self.subsets)
        members = np.full((sum(map(len, self.subsets)), len(held) + high), -1)
        members[:, : len(held)], end = held, 0
        for size in range(1, high + 1):
            free = sets.free[level(len(sets.free), size)]
            members[end : end + len(free), len(held) : len(held) + size] = free
            end += len(free)
        self._order = np.lexsort(members.T[::-1])
        self._members = members[self._order]
        most = min(LARGEST_LINE, LARGEST_LINES // rows.total) // rows.n_classes
        self._together = max(8, min(most, LARGEST_LANES // max(len(members), 1)))
        self._below = sets.held_scores(Work(1))

    def scores(self, first: int, last: int, work: Work) -> Floats:
        """Scores of permutations ``first`` to ``last - 1``, of shape (n_permutations, n_sets)."""
        bounds = [*range(max(first, 1), last, self._together), last]
        found = [self._sets.recorded_scores(work)[None]] if first == 0 else []
        for begin, end in pairwise(bounds):
            found.append(self._scored(self._sets.seeds[begin:end], work) - self._below)
        return np.concatenate(found)

    def _scored(self, seeds: Seeds, work: Work) -> Floats:
        rows, found = self._rows, np.empty((len(seeds), len(self._order)))
        width = -(-len(seeds) * rows.n_classes // 128) * 16  # words of eight counts, 16 at a time
        words = np.zeros((len(rows.classes), width), dtype=np.uint64)
        permuted_scores.count_classes(rows, seeds, words.view(np.uint8))

        def score(first: int, last: int) -> None:
            counts = np.zeros(width, dtype=np.uint64)
            seen = np.zeros((permuted_scores.FEW, width), dtype=np.uint64)
            memory = permuted_scores.Counts(
                counts, counts.view(np.uint8), seen, seen.view(np.uint8)
            )
            members, scores = self._members[first:last], np.zeros((last - first, len(seeds)))
            permuted_scores.score_sorted(
                rows, self._of_classes, members, words, memory, self._f, scores
            )
            found[:, self._order[first:last]] = scores.T

        work.run([partial(score, *part) for part in work.stretches(len(self._order), 8)])
        return found


class SearchedPermutations:
    """Permutations scored one at a time: of rows that have other weights with every class."""

    def __init__(self, sets: PermutedSets) -> None:
        self._sets, self.subsets = sets, sets.subsets
        order, times, self._starts = sets.by_stratum
        rows, units = sets.rows, np.repeat(order, times)
        weighed = sets.rest is not None
        self._rows = replace(
            rows,
            codes=np.ascontiguousarray(rows.codes[:, units]),
            target=rows.target[units],
            weights=rows.weights[units] if weighed else np.ones_like(units),
        )
        self._rest = None if sets.rest is None else sets.rest[units]
        self._means = mean_weights(rows.target, rows.weights, rows.n_classes)

    def scores(self, first: int, last: int, work: Work) -> Floats:
        """Scores of permutations ``first`` to ``last - 1``."""
        within = replace(work, n_jobs=1, progress=None)
        found: list[Floats | None] = [None] * (last - first)

        def score(number: int) -> None:
            rows = self._rows
            if number:
                seed = self._sets.seeds[number]
                rows = self._with_target(permuted_scores.shuffled(rows.target, self._starts, seed))
            found[number - first] = self._sets.recorded_scores(within, rows)

        replace(work, progress=None).run([partial(score, number) for number in range(first, last)])
        return np.array(found).reshape(last - first, -1)

    def _with_target(self, target: NDArray[np.unsignedinteger]) -> CompactRows:
        """The rows with other classes, and the weights that rows of these classes have."""
        if self._rest is None:
            return replace(self._rows, target=target)
        each = np.rint(self._rest * self._means[target])
        weights = np.maximum(each, 1.0).astype(np.int64)
        return replace(self._rows, target=target, weights=weights, total=int(weights.sum()))


class DrawnPermutations:
    """Permutations of rows that stand for many each: how many get which class is drawn at once."""

    def __init__(self, sets: PermutedSets) -> None:
        self._sets, self.subsets = sets, sets.subsets
        rows, n_classes = sets.rows, sets.rows.n_classes
        first, patterns = distinct_columns(np.vstack([rows.codes.astype(np.int64), sets.strata]))
        self._sizes = np.zeros(len(first), dtype=np.int64)
        np.add.at(self._sizes, patterns, rows.weights)
        self._strata = sets.strata[first]
        self._classes = np.zeros((int(sets.strata.max()) + 1, n_classes), dtype=np.int64)
        np.add.at(self._classes, (sets.strata, rows.target), rows.weights)
        self._rows = replace(
            rows,
            codes=np.repeat(rows.codes[:, first], n_classes, axis=1),
            target=np.tile(np.arange(n_classes, dtype=rows.target.dtype), len(first)),
        )

    def scores(self, first: int, last: int, work: Work) -> Floats:
        """Scores of permutations ``first`` to ``last - 1``."""
        within = replace(work, n_jobs=1, progress=None)
        drawn = (self._drawn(number) for number in range(first, last))
        return np.array([self._sets.recorded_scores(within, rows) for rows in drawn])

    def _drawn(self, number: int) -> CompactRows:
        """The rows with classes drawn for them: a table with the margins of the recorded one."""
        if number == 0:
            return self._sets.rows
        rng = np.random.Generator(np.random.Philox(int(self._sets.seeds[number])))
        left, table = self._classes.copy(), []
        for stratum, size in zip(self._strata.tolist(), self._sizes.tolist(), strict=True):
            table.append(rows_drawn(left[stratum], size, rng))
            left[stratum] -= table[-1]
        return replace(self._rows, weights=np.concatenate(table))


class CorrelationPermutations:
    """Squared correlations with a permuted numeric target, from sums of products alone.

    A score is the share of what features that are `held` leave unexplained.
    """

    def __init__(
        self, sums: ProductSums, cohort: int, largest: int, *, held: tuple[int, ...] = ()
    ) -> None:
        self._products, self._permuted = sums.products[cohort], sums.permuted[cohort]
        self._held = np.array([sorted(held)], dtype=np.int64)
        free = np.setdiff1d(np.flatnonzero(~sums.missing[cohort]), held)
        self.subsets = _sets_of(free, held, largest)

    def scores(self, first: int, last: int, work: Work) -> Floats:
        """R² of permutations ``first`` to ``last - 1`` beyond the features that are held."""
        found = np.empty((last - first, sum(map(len, self.subsets))))

        def score(number: int) -> None:
            products = self._products.copy()
            products[:, -1] = products[-1] = self._permuted[number]
            below = squared_correlation(products, self._held)[0]
            by_size = [squared_correlation(products, subsets) for subsets in self.subsets]
            found[number - first] = (np.concatenate(by_size) - below) / max(1.0 - below, 1e-9)

        work.run([partial(score, number) for number in range(first, last)])
        return found


def _sets_of(free: Integers, held: tuple[int, ...], largest: int) -> tuple[Integers, ...]:
    """All sets of free features, by their number, with the features that all of them hold."""
    members = [free[level(len(free), size)] for size in range(1, min(largest, len(free)) + 1)]
    own = [np.broadcast_to(np.array(held, dtype=np.int64), (len(m), len(held))) for m in members]
    return tuple(np.sort(np.hstack(both), axis=1) for both in zip(members, own, strict=True))
