"""Scores of feature sets when the target is dealt out anew over the rows of a cohort.

Whether a set tells more than chance is seen by dealing: the classes of the target are put into
another order, within the whole cohort or within strata, and all sets are scored again. Deals are
numbered. The same number is the same deal, whatever else is asked for and however many threads
work. Number 0 is the target as it was recorded.

Where rows have weights, they keep theirs. Of rows that agree in all features and the class, only
how many there are is known, the sum of their weights and that of the squares. One heavy row and
others that are all alike have the same sums: these are dealt a class each. So a cell of a set
weighs the same whatever is dealt, and its noise is that of its own weights.

Clusters and strata cannot be dealt out. What was recorded is over their design effect instead, the
first-order correction of Rao and Scott.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Protocol

import numpy as np

from misfeat.cohorts.weights import squares_of
from misfeat.information.chance import n_log_n
from misfeat.information.kernels import dealing
from misfeat.information.logs import log_table
from misfeat.information.mutual_info import mutual_info_of
from misfeat.information.plan import (
    LARGEST_PLAN,
    LARGEST_TABLE,
    block_size_for,
    buffer_words,
    cube_plan,
    mean_cells_of,
)
from misfeat.information.prepared import PreparedRows, prepare_rows
from misfeat.information.scoring import sums_of_subsets
from misfeat.lattice.levels import level
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort
    from misfeat.information.kernels.cube import CubePlan
    from misfeat.runtime.threads import Task

    Scores = NDArray[np.float64]
    Seeds = NDArray[np.uint64]


class Deals(Protocol):
    """Scores of the same feature sets, deal by deal: what they tell beyond those that are held.

    Attributes
    ----------
    subsets : tuple of ndarray of shape (n_sets, size)
        Feature numbers of the cohort, ascending along a row; an entry a size.
    """

    subsets: tuple[NDArray[np.int64], ...]

    def scores(self, first: int, last: int, work: Work) -> Scores:
        """Scores of deals ``first`` to ``last - 1``, of shape (n_deals, n_sets)."""
        ...


LARGEST_MASS = 2**31
"""What all rows weigh together, at most about, where weights are dealt out."""
NO_DESIGN = 1.0 + 1e-6
"""Effective sizes that differ by no more than this factor are the same, but for rounding."""


def one_by_one(rows: PreparedRows, cohort: Cohort) -> tuple[PreparedRows, NDArray[np.intp]]:
    """The rows of the table one by one with what each weighs, and the distinct row of each."""
    times, masses, heaviest = _weights_of(cohort)
    place = np.repeat(np.arange(rows.n_rows), times)
    each = ((masses - heaviest) / np.maximum(times - 1, 1))[place]
    each[np.cumsum(times) - times] = heaviest
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


def design_effect(cohort: Cohort) -> float:
    """How much a design takes off the effective size that weights alone leave."""
    if cohort.effective is None:
        return 1.0
    times, masses, heaviest = _weights_of(cohort)
    kish = float(masses.sum()) ** 2 / float(squares_of(times, masses, heaviest).sum())
    return kish / cohort.effective if kish > NO_DESIGN * cohort.effective else 1.0


def _weights_of(cohort: Cohort) -> tuple[NDArray[np.int64], NDArray[np.int64], Scores]:
    """How many rows distinct ones stand for, what these weigh, and the heaviest of them."""
    if cohort.masses is None or cohort.heaviest is None:
        return cohort.weights, cohort.weights, np.ones(len(cohort.weights))
    return cohort.weights, cohort.masses, cohort.heaviest


class OfDesign:
    """Deals of rows that were not drawn one by one: what was recorded is over the design effect.

    `effect` is how much more the recorded scores vary than weights alone make them (Rao and Scott).
    """

    def __init__(self, deals: Deals, effect: float) -> None:
        self._deals, self._effect = deals, effect
        self.subsets = deals.subsets

    def scores(self, first: int, last: int, work: Work) -> Scores:
        """Scores of deals ``first`` to ``last - 1``, of shape (n_deals, n_sets)."""
        found = self._deals.scores(first, last, work)
        if first == 0 < last:
            found[0] /= self._effect
        return found


MOST_DEALS = 2**17
"""Deals have seeds up to this number."""
LANES_SIDE_BY_SIDE = 64
"""Counts of a cell, over all deals that are counted together."""
LARGEST_LANES = 2**22
"""Counts of the sums of all sets, over all deals that are counted together."""
SEARCHED_A_CELL = 4.0
"""Counting a cell costs as much as searching so many fewer rows."""


@dataclass(frozen=True, eq=False)
class Dealing:
    """What is dealt: rows of one cohort, the sets that are scored, and where classes may go.

    Attributes
    ----------
    rows : PreparedRows
        The cohort's rows, plug-in.
    largest : int
        The most features that are chosen freely.
    held : tuple of int
        Features (of the cohort) that every set holds besides; classes stay within their cells.
    cells : ndarray of int64 of shape (n_rows,)
        The cell of these features that every distinct row is in.
    strata : ndarray of int64 of shape (n_rows,)
        The stratum of every distinct row, within which classes stay; part of a cell.
    seeds : ndarray of uint64
        The seed of every deal, by its number.
    one_each : bool
        Whether every row is dealt one class and keeps its weight; else weights count rows, each of
        which is dealt a class.
    """

    rows: PreparedRows
    largest: int
    held: tuple[int, ...]
    cells: NDArray[np.int64]
    strata: NDArray[np.int64]
    seeds: Seeds
    one_each: bool = False

    @property
    def times(self) -> NDArray[np.int64]:
        """How many classes every distinct row is dealt."""
        return np.ones_like(self.rows.weights) if self.one_each else self.rows.weights

    @property
    def n_cells(self) -> int:
        """Cells of the features that are held."""
        return int(self.cells.max(initial=0)) + 1

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """The features, as the rows number them, that sets are made of besides those held."""
        own = self.rows.positions[list(self.held)]
        return np.setdiff1d(np.arange(self.rows.n_features), own)

    @cached_property
    def subsets(self) -> tuple[NDArray[np.int64], ...]:
        """All sets by the number of free features, in the cohort's numbering."""
        return tuple(
            self._whole(self.free[level(len(self.free), size)])
            for size in range(1, min(self.largest, len(self.free)) + 1)
        )

    def recorded_scores(self, work: Work, rows: PreparedRows | None = None) -> Scores:
        """What every set tells beyond the features that are held, of these rows or of others."""
        rows = self.rows if rows is None else rows
        held = np.array([sorted(self.held)], dtype=np.int64)
        below = mutual_info_of(rows, sums_of_subsets(rows, held, 1, work)) if self.held else 0.0
        by_size = [
            mutual_info_of(rows, sums_of_subsets(rows, subsets, 1, work)) - below
            for subsets in self.subsets
        ]
        return np.concatenate(by_size)

    def _whole(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        held = np.broadcast_to(np.array(self.held, dtype=np.int64), (len(members), len(self.held)))
        return np.sort(np.hstack([self.rows.features[members], held]), axis=1)


def deals_of(
    cohort: Cohort,
    largest: int,
    *,
    held: tuple[int, ...] = (),
    strata: NDArray[np.integer] | None = None,
    seed: np.random.SeedSequence,
    most: int = MOST_DEALS,
) -> Deals:
    """Ways to deal the target out over a cohort's rows, and the scores of all sets for each.

    Sets hold up to `largest` features besides those `held`. What others add to these is asked for,
    so that classes stay within their cells, and among rows of the same number in `strata`, which
    has one for every distinct row. Deals are numbered up to `most`; the first ones are the same
    whatever it is.
    """
    rows, one_each = prepare_rows(cohort), cohort.effective is not None
    effect = design_effect(cohort)
    if one_each:
        rows, place = one_by_one(rows, cohort)
        cohort = replace(cohort, codes=cohort.codes[:, place])
        strata = None if strata is None else strata[place]
    cells = _joined(np.zeros(rows.n_rows, dtype=np.int64), *(cohort.codes[f] for f in held))
    within = cells if strata is None else _joined(cells, strata)
    seeds = np.random.Philox(seed).random_raw(most) | np.uint64(1)
    seeds[0] = 0
    asked = Dealing(rows, largest, held, cells, within, seeds, one_each)
    deals = SideBySide(asked) if _side_by_side(asked) else OneByOne(asked)
    return OfDesign(deals, effect) if effect > 1.0 else deals


def _joined(*lines: NDArray[np.integer]) -> NDArray[np.int64]:
    """A number for every combination of codes that occurs."""
    found = np.unique(np.stack(lines), axis=1, return_inverse=True)[1]
    return found.reshape(-1).astype(np.int64)


def _side_by_side(asked: Dealing) -> bool:
    """Whether tables are small enough to be counted, several deals at a time."""
    rows, free = asked.rows, asked.free
    if rows.lacks_values or not len(free):
        return False
    largest = min(asked.largest, len(free))
    if comb(len(free), largest) > LARGEST_PLAN:
        return False
    cells = rows.cardinalities[free]
    most = float(np.prod(np.sort(cells)[::-1][:largest], dtype=float)) * asked.n_cells
    if most * LANES_SIDE_BY_SIDE > LARGEST_TABLE:
        return False
    mean = mean_cells_of(cells, largest)[largest] * asked.n_cells
    n_dealt = rows.n_rows if asked.one_each else rows.total
    return mean * rows.n_classes <= max(SEARCHED_A_CELL * n_dealt, 1024.0)


class SideBySide:
    """Deals of rows without gaps whose tables are small enough to be counted, many at a time."""

    def __init__(self, asked: Dealing) -> None:
        rows, free = asked.rows, asked.free
        self.asked, self.subsets = asked, asked.subsets
        self._seeds = asked.seeds
        self._lane_type = np.uint16 if rows.total < 2**16 else np.uint32
        n_sets = sum(map(len, self.subsets))
        self._together = max(
            1, min(LANES_SIDE_BY_SIDE // rows.n_classes, LARGEST_LANES // max(n_sets, 1))
        )
        codes, cardinalities = rows.codes[free], rows.cardinalities[free]
        self._n_held = asked.n_cells
        if self._n_held > 1:
            kind = np.uint16 if self._n_held <= 2**16 else np.uint32
            codes = np.vstack([codes, asked.cells.astype(kind)])
            cardinalities = np.append(cardinalities, self._n_held)
        self._rows = _dealt_rows(asked, codes, cardinalities)
        self._total = rows.total
        self._plan = self._planned(replace(rows, features=free, cardinalities=cardinalities))
        self._f = log_table(rows.total)
        # The rows of cells do not change, nor does what they take off the sums.
        self._taken_off = self._scored(self._seeds[:1])[0] - asked.recorded_scores(Work(1))

    def scores(self, first: int, last: int, work: Work) -> Scores:
        """Scores of deals ``first`` to ``last - 1``, of shape (n_deals, n_sets)."""
        n_sets = sum(map(len, self.subsets))
        found = np.empty((last - first, n_sets))

        def task(begin: int, end: int) -> Task:
            def score() -> None:
                dealt = self._scored(self._seeds[first + begin : first + end])
                found[begin:end] = dealt - self._taken_off

            return score

        bounds = [*range(0, last - first, self._together), last - first]
        work.run([task(begin, end) for begin, end in pairwise(bounds)])
        return found

    def _scored(self, seeds: Seeds) -> Scores:
        lanes_a_word = 8 // np.dtype(self._lane_type).itemsize
        n_words = -(-len(seeds) * self._rows.n_classes // lanes_a_word)
        lanes = np.zeros((self._rows.codes.shape[1], n_words * lanes_a_word), self._lane_type)
        dealing.deal(self._rows, seeds, lanes)
        plan, cardinalities = self._plan, self._rows.cardinalities
        free = cardinalities[:-1] if self._n_held > 1 else cardinalities
        width = n_words * self._n_held
        size = plan.blocks.shape[1] - (self._n_held > 1)
        buffer = np.empty(buffer_words(free, size, width) + 8, dtype=np.uint64)
        sums = np.zeros((sum(map(len, self.subsets)), len(seeds)))
        words = lanes.view(np.uint64)
        dealing.score_deals(
            self._rows, plan, words, buffer, buffer.view(self._lane_type), self._f, sums
        )
        if self.asked.one_each:
            sums -= self._of_held(lanes, len(seeds))
        return sums.T / self._total

    def _of_held(self, lanes: NDArray[np.unsignedinteger], n_deals: int) -> Scores:
        """The sum of f over cells of held features and classes, of every deal.

        Where rows keep their weights, what a class weighs changes from deal to deal.
        """
        held = self._rows.codes[-1].astype(np.int64) if self._n_held > 1 else 0
        weighed = np.zeros((self._n_held, lanes.shape[1]))
        np.add.at(weighed, np.broadcast_to(held, len(lanes)), lanes)
        by_lane = n_log_n(weighed).sum(axis=0)[: n_deals * self._rows.n_classes]
        summed: Scores = by_lane.reshape(n_deals, -1).sum(axis=1)
        return summed

    def _planned(self, rows: PreparedRows) -> CubePlan:
        n_free, high = len(rows.features), len(self.subsets)
        lanes = self._together * rows.n_classes * self._n_held
        free = replace(rows, cardinalities=rows.cardinalities[:n_free])
        lane_bytes = np.dtype(self._lane_type).itemsize
        words = self._together * rows.n_classes * lane_bytes / 8
        block = block_size_for(free, high, lanes, lane_bytes, additions=words)
        plan = cube_plan(n_free, 1, high, block)
        if len(rows.cardinalities) == n_free:
            return plan
        held = np.full((len(plan.blocks), 1), n_free)
        return plan._replace(
            blocks=np.hstack([plan.blocks, held]),
            kept=plan.kept | np.int32(1 << plan.blocks.shape[1]),
        )


def _dealt_rows(
    asked: Dealing, codes: NDArray[np.integer], cardinalities: NDArray[np.int64]
) -> dealing.DealtRows:
    """Distinct rows of the features alone, and the rows of the table one by one, by stratum."""
    _, first, patterns = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    rows, strata = asked.rows, asked.strata
    order = np.argsort(strata, kind="stable")
    times = asked.times[order]
    by_stratum = np.bincount(strata, weights=asked.times).astype(np.int64)
    return dealing.DealtRows(
        codes=np.ascontiguousarray(codes[:, first], dtype=np.uint16),
        cardinalities=cardinalities,
        patterns=np.repeat(patterns.reshape(-1)[order], times),
        classes=np.repeat(rows.target[order].astype(np.uint16), times),
        starts=np.concatenate([[0], np.cumsum(by_stratum)]),
        n_classes=rows.n_classes,
        weights=rows.weights[order if asked.one_each else order[:0]].astype(np.uint32),
    )


class OneByOne:
    """Deals that are scored one at a time: rows with gaps, large sets, features of many values."""

    def __init__(self, asked: Dealing) -> None:
        self.asked, self.subsets = asked, asked.subsets
        order = np.argsort(asked.strata, kind="stable")
        rows, units = asked.rows, np.repeat(order, asked.times[order])
        self._rows = replace(
            rows,
            codes=np.ascontiguousarray(rows.codes[:, units]),
            target=rows.target[units],
            weights=rows.weights[units] if asked.one_each else np.ones_like(units),
        )
        by_stratum = np.bincount(asked.strata, weights=asked.times).astype(np.int64)
        self._starts = np.concatenate([[0], np.cumsum(by_stratum)])

    def scores(self, first: int, last: int, work: Work) -> Scores:
        """Scores of deals ``first`` to ``last - 1``."""
        within = replace(work, n_jobs=1, progress=None)
        found: list[Scores | None] = [None] * (last - first)

        def score(number: int) -> None:
            rows = self._rows
            if number:
                seed = self.asked.seeds[number]
                rows = replace(rows, target=dealing.shuffled(rows.target, self._starts, seed))
            found[number - first] = self.asked.recorded_scores(within, rows)

        replace(work, progress=None).run([partial(score, number) for number in range(first, last)])
        return np.array(found).reshape(last - first, -1)
