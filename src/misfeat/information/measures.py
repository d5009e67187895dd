"""Measures: what a feature set explains of the target, behind one interface."""

from functools import partial
from math import comb
from typing import Any, Self

import numpy as np

from misfeat.cohorts.cohort_data import Cohorts
from misfeat.cohorts.product_sums import ProductSums
from misfeat.information import mutual_info
from misfeat.information.count_tables import CountTables, scores_of_tables
from misfeat.information.null_expectation import n_log_n
from misfeat.lattice.levels import level, rank
from misfeat.runtime.array_types import Floats, Indices, Integers
from misfeat.runtime.threads import Counting


class Measure:
    """Scores of feature sets in the cohorts of one table, from rows, count tables or sums."""

    name, unit = "mutual_info", "nats"
    words = "joint mutual information"  # what a score is, as in "the ... with the target"
    ceiling: Floats  # (n_cohorts,): what no score can exceed
    whole: Floats  # (n_cohorts,): the entropy of the target in each cohort, or 1 for R²
    rows: Cohorts | None = None  # what scores come from is one of these three
    tables: CountTables | None = None
    sums: ProductSums | None = None
    parts: tuple[Any, ...] = ()  # of the grids of a numeric target, whose mean it is

    def __init__(
        self, source: Cohorts | CountTables | ProductSums, *, above_chance: bool = False
    ) -> None:
        self._source = source
        self.features = source.features
        self.missing = source.missing  # (n_cohorts, n_features): what each cohort never recorded
        self.above_chance = above_chance  # whether null expectations were taken off
        self.closed = not above_chance  # whether a larger set never scores lower (upward closure)
        self.largest_table = 0  # features of the largest sets whose cells are counted
        # Made at once: what is asked in one thread must not change what another one saves.
        self._plain: Any = type(self)(source) if above_chance else None

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), above_chance=self.above_chance), (self._source,)

    @property
    def plug_in(self) -> Self:
        """The same measure of the rows as they are, nothing taken off for chance."""
        plain: Self = self if self._plain is None else self._plain
        return plain

    def of_levels(
        self, cohort: int, low: int, high: int, n_jobs: int | None, progress: Counting | None = None
    ) -> list[Floats]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        scores = []
        for size in range(low, high + 1):
            scores.append(self._of_level(cohort, size, n_jobs))
            if progress is not None:
                progress(size - low + 1, high - low + 1)
        return scores

    def _of_level(self, cohort: int, size: int, n_jobs: int | None) -> Floats:
        """Scores of every set of one size, by rank."""
        return self.of_levels(cohort, size, size, n_jobs)[0]

    def of_subsets(self, cohort: int, subsets: Indices, n_jobs: int | None) -> Floats:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        return self._of_level(cohort, subsets.shape[1], n_jobs)[rank(subsets)]


class MutualInformation(Measure):
    """Joint mutual information with a target of classes, in nats, counted from coded rows."""

    rows: Cohorts

    def __init__(self, cohorts: Cohorts, *, above_chance: bool = False) -> None:
        super().__init__(cohorts, above_chance=above_chance)
        self.rows, self.largest_table = cohorts, len(cohorts.features)
        self._cohorts = list(cohorts)
        same_rows = not any((c.codes[c.recorded] < 0).any() for c in self._cohorts)
        self.closed = same_rows and not above_chance
        self.whole = np.array([mutual_info.target_entropy(c) for c in self._cohorts])
        # Where rows differ between sets, H(Y) of all rows bounds nothing; log of the classes does.
        most = np.array([np.log(c.n_classes) for c in self._cohorts])
        self.ceiling = self.whole if same_rows else most

    def of_levels(
        self, cohort: int, low: int, high: int, n_jobs: int | None, progress: Counting | None = None
    ) -> list[Floats]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        options: Any = {"above_chance": self.above_chance, "n_jobs": n_jobs, "progress": progress}
        found = mutual_info.level_mutual_info(self._cohorts[cohort], low, high, **options)
        return [self._bounded(scores, cohort) for scores in found]

    def of_subsets(self, cohort: int, subsets: Indices, n_jobs: int | None) -> Floats:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        found = mutual_info.joint_mutual_info(
            self._cohorts[cohort], subsets, above_chance=self.above_chance, n_jobs=n_jobs
        )
        return self._bounded(found, cohort)

    def _bounded(self, scores: Floats, cohort: int) -> Floats:
        """At most the entropy of the target, which rounding may leave a trace above."""
        return scores if self.above_chance else np.minimum(scores, self.ceiling[cohort])


class GridInformation(Measure):
    """Information about a numeric target: the mean over several grids of its values.

    One grid of bins loses what happens within a bin, and finer bins lose more to chance than they
    gain. The mean over a few grids with the same number of bins, moved against each other, varies
    less with where cuts happen to lie. See docs/explanation/numbers.md. Of a time to an event, the
    mean over horizons of the information about whether it has happened.
    """

    rows: Cohorts

    def __init__(self, cohorts: Cohorts, *, above_chance: bool = False) -> None:
        super().__init__(cohorts, above_chance=above_chance)
        self.rows, self.largest_table = cohorts, len(cohorts.features)
        grids = cohorts.by_grid()
        self.parts = tuple(MutualInformation(grid, above_chance=above_chance) for grid in grids)
        self.closed = all(part.closed for part in self.parts)
        self.whole = np.mean([part.whole for part in self.parts], axis=0)
        self.ceiling = np.mean([part.ceiling for part in self.parts], axis=0)

    def of_levels(
        self, cohort: int, low: int, high: int, n_jobs: int | None, progress: Counting | None = None
    ) -> list[Floats]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        found = [part.of_levels(cohort, low, high, n_jobs, progress) for part in self.parts]
        return [np.mean(scores, axis=0) for scores in zip(*found, strict=True)]

    def of_subsets(self, cohort: int, subsets: Indices, n_jobs: int | None) -> Floats:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        found = [part.of_subsets(cohort, subsets, n_jobs) for part in self.parts]
        return np.asarray(np.mean(found, axis=0))


def information_of(
    cohorts: Cohorts, *, above_chance: bool = False
) -> MutualInformation | GridInformation:
    """What scores sets by their information: with classes, or with a number."""
    kind = GridInformation if len(cohorts.grids) else MutualInformation
    return kind(cohorts, above_chance=above_chance)


class TableInformation(Measure):
    """Joint mutual information with the target, in nats, from count tables alone."""

    tables: CountTables

    def __init__(self, tables: CountTables, *, above_chance: bool = False) -> None:
        super().__init__(tables, above_chance=above_chance)
        self.tables, self.largest_table = tables, tables.largest
        self.ceiling = self.whole = np.array(
            [mutual_info.entropy(counts) for counts in tables.by_class]
        )

    def _of_level(self, cohort: int, size: int, n_jobs: int | None) -> Floats:
        del n_jobs  # one sum over all tables
        if size == 0:
            return np.zeros(1)
        subsets = level(len(self.features), size)
        lacking = self.missing[cohort][subsets].any(axis=1)
        if size > self.largest_table:
            return np.full(len(subsets), np.nan)
        counts, by_class = self.tables.of_size(size)[cohort], self.tables.by_class[cohort]
        starts = self.tables.starts(size)
        if self.above_chance:
            found = scores_of_tables(counts, by_class, starts)
            scores = found.above_chance
            if self.tables.bias is not None:
                first, second = self.tables.bias[cohort, size - 1]
                scores = scores - first * found.chance - second * found.chance**2
        else:
            n_rows = by_class.sum()
            cells = n_log_n(counts).sum(axis=1) - n_log_n(counts.sum(axis=1))
            sums = np.add.reduceat(cells, starts[:-1])
            scores = np.log(n_rows) + (sums - n_log_n(by_class).sum()) / n_rows
            scores = np.clip(scores, 0.0, self.ceiling[cohort])
        return np.where(lacking, np.nan, scores)


class SquaredCorrelation(Measure):
    """The squared multiple correlation with a numeric or binary target; adjusted above chance."""

    name, unit, words = "r2", "R²", "squared multiple correlation"
    sums: ProductSums

    def __init__(self, sums: ProductSums, *, above_chance: bool = False) -> None:
        super().__init__(sums, above_chance=above_chance)
        self.sums = sums
        self.ceiling = self.whole = np.ones(len(sums.names))

    def _of_level(self, cohort: int, size: int, n_jobs: int | None) -> Floats:
        recorded = np.flatnonzero(~self.missing[cohort])
        found = np.full(comb(len(self.features), size), np.nan)
        subsets = recorded[level(len(recorded), size)]
        found[rank(subsets)] = self.of_subsets(cohort, subsets, n_jobs)
        return found

    def of_subsets(self, cohort: int, subsets: Indices, n_jobs: int | None) -> Floats:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        del n_jobs  # the linear algebra underneath has threads of its own
        found = np.full(len(subsets), np.nan)
        computable = ~self.missing[cohort][subsets].any(axis=1)
        products, subsets = self.sums.products[cohort], subsets[computable]
        if self.above_chance:
            found[computable] = adjusted_correlation(products, subsets, int(self.sums.rows[cohort]))
        else:
            found[computable] = squared_correlation(products, subsets)
        return found


BATCH = 200_000  # subsets that are solved together
TOLERANCE = 1e-10  # A feature that adds a smaller share of its own variance is a copy of others


def squared_correlation(products: Floats, subsets: Indices) -> Floats:
    """R² of many sets, from sums of products of centred columns, the target last."""
    return _explained(products, subsets)[0]


def adjusted_correlation(products: Floats, subsets: Indices, n_rows: int) -> Floats:
    """Squared multiple correlation above chance: adjusted R², for many sets."""
    # 1 - (1 - R²) (n - 1) / (n - p - 1), as p features that say nothing explain p / (n - 1) of n
    # rows on the mean. Copies of other members do not count. With no rows left, all is chance: 0.
    explained, n_different = _explained(products, subsets)
    left = n_rows - 1.0 - n_different
    unexplained = (1.0 - explained) * (n_rows - 1.0) / np.maximum(left, 1.0)
    return np.where(left > 0, 1.0 - unexplained, 0.0)


def _explained(products: Floats, subsets: Indices) -> tuple[Floats, Integers]:
    """R² of every set, and how many of its features are not copies of others."""
    # Members are taken in one at a time, each cleared of those before it (a Cholesky factorization
    # of all sets at once): R² grows by the squared correlation of what is left of the feature with
    # the target. A feature of which nothing is left adds nothing, so copies do no harm.
    spread = np.sqrt(np.maximum(np.diag(products), 0.0))
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    correlation = products * scale[:, None] * scale[None, :]
    explained = np.zeros(len(subsets))
    n_different = np.zeros(len(subsets), dtype=np.int64)
    for start in range(0, len(subsets), BATCH):
        some = slice(start, start + BATCH)
        n_subsets, size = subsets[some].shape
        columns = np.column_stack([subsets[some], np.full(n_subsets, len(correlation) - 1)])
        # factor[:, i, j]: what member j shares with the part of member i that those before i lack.
        factor = np.zeros((n_subsets, size, size + 1))
        for i in range(size):
            left = correlation[columns[:, i, None], columns[:, i:]]
            left -= np.einsum("nk,nkj->nj", factor[:, :i, i], factor[:, :i, i:])
            different = left[:, 0] > TOLERANCE
            n_different[some] += different
            own = np.where(different, left[:, 0], np.inf)
            factor[:, i, i:] = left / np.sqrt(own)[:, None]
            explained[some] += factor[:, i, -1] ** 2
    return np.clip(explained, 0.0, 1.0), n_different
