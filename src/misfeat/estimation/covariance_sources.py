"""Where scores come from, behind one interface: coded rows, count tables, or sums of products.

Every feature becomes one-hot columns (or is a number), every class of the target a column, each
centred in its subgroup: differences between subgroups say nothing about features. A source gives
the covariances of these columns, the counts of sets where it has any, and the scale of scores. See
docs/explanation/population.md, step 1.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from misfeat.cohorts import Cohorts
from misfeat.cohorts.product_sums import ProductSums
from misfeat.completion.completer_data import Known
from misfeat.estimation.covariance_scores import CorrelationScale, InformationScale, Scale
from misfeat.estimation.interaction_kernels import count_cells, occupied_cells
from misfeat.estimation.moments import Moments, Term, recorded_all
from misfeat.information.count_tables import CountTables
from misfeat.lattice.levels import level
from misfeat.runtime.array_types import Flags, Floats, Indices, Integers

Blocks = Sequence[Integers]  # The columns of each feature, then those of each term
MOST_COLUMNS = 39  # columns of one feature; the rarest of its categories share one
ROWS_AT_ONCE = 2**15  # rows whose columns are held in memory at once
NEARLY_EXACT = 0.8  # rounded counts that are worth such a share of their rows may show interactions
MOST_CELLS, MOST_LOOKED_AT = 2**22, 50_000  # of one table, and rows, that occupied cells are of
TINY = 1e-300
EXACT_BELOW = 2**24  # whole numbers that single precision holds


def source_of(known: Known) -> "Source":
    """The source of what is known; an error where scores alone are at hand."""
    if isinstance(known.source, ProductSums):
        return ProductSumSource(known.source)
    if isinstance(known.source, CountTables):
        return CountTableSource(known.source)
    return CodedRowSource(known.rows_for("auto"))


class Source(ABC):
    """What a model of the population is made of; a line of `missing` and `n_rows` a subgroup."""

    missing: Flags  # (n_cohorts, n_features)
    n_rows: Floats  # rows of equal weight, counted exactly, that inform as much
    cards: Integers  # categories of each feature: its columns and one more
    largest_set: int  # whose cells can be counted; where it is 1, what follows is not read
    usual: Integers  # the most frequent category of each feature, which has no column
    by_class: Floats  # (n_cohorts, n_classes): rows of every class
    shows_interactions: Flags  # subgroups whose counts are exact, or rounded so little
    work: int  # what it takes to count one set

    @abstractmethod
    def fill(self, own: Floats, blocks: Blocks, terms: Sequence[Term], new: Integers) -> None:
        """Write covariances of every subgroup: of the blocks, and of the target at the end."""
        # Those of columns that are not `new` with each other are there.

    def counts(self, sets: Integers, cohorts: Integers) -> Floats:
        """Rows of sets of one size in some subgroups: by set, subgroup, cell and class, in line."""
        raise NotImplementedError

    def occupied(self, sets: Indices) -> Floats:
        """How many cells of sets of one size have rows at most, (n_cohorts, n_sets)."""
        return np.asarray(np.minimum(self.cards[sets].prod(axis=1), self.n_rows[:, None]))

    def occupied_up_to(self, largest: int) -> list[Floats]:
        """The same of all sets of each size from 1 to the largest."""
        return [self.occupied(level(len(self.cards), m)) for m in range(1, largest + 1)]

    def shares(self) -> Floats:
        """The share of every class in every subgroup; counts that were rounded may lie below 0."""
        counts = np.maximum(self.by_class, 0.0)
        return np.asarray(counts / np.maximum(counts.sum(axis=1), TINY)[:, None])

    def scales(self) -> tuple[Sequence[Scale], Floats]:
        """The scale of every subgroup, and how many columns of the target vary in each."""
        shares = self.shares()
        dimensions = np.maximum((shares > 0).sum(axis=1) - 1.0, 0.0)
        return [InformationScale(share) for share in shares], dimensions

    def calibration(self, by_size: Sequence[Floats]) -> list[Floats]:
        """Of counted scores above chance, by size from 1, those that the scale is checked by."""
        singles, *pairs = by_size
        shown = self.shows_interactions[:, None]
        return [singles, *(np.where(shown, scores, np.nan) for scores in pairs)]

    @cached_property
    def classes_shown(self) -> Integers:
        """The classes that have a column: all but the most frequent, and those without rows."""
        counts = self.by_class.sum(axis=0)
        order = np.argsort(-counts, kind="stable")
        return np.sort(order[1:][counts[order[1:]] > 0])

    def moments(self, terms: Sequence[Term] = (), plain: Floats | None = None) -> Moments:
        """Covariances of the columns of features, terms and classes in every subgroup."""
        # `plain` are those without terms, where they are known.
        widths = [*(self.cards - 1).tolist(), *(term.effects.shape[1] for term in terms)]
        ends = np.cumsum([0, *widths])
        blocks = [np.arange(first, last) for first, last in pairwise(ends)]
        target = int(ends[-1]) + np.arange(len(self.classes_shown))
        own = np.zeros((len(self.missing), *2 * (int(ends[-1]) + len(target),)))
        new = np.arange(own.shape[1])
        if plain is not None:
            new = np.concatenate(blocks[len(self.cards) :])
            old = np.setdiff1d(np.arange(own.shape[1]), new)
            own[:, old[:, None], old] = plain
        self.fill(own, blocks, terms, new)
        variances = np.einsum("kii->ki", own)
        varies = np.stack([variances[:, b].sum(axis=1) > TINY for b in blocks], axis=1)
        # What terms have in common with the target because they were fitted to it. Where one of
        # their features has a single value, there is no interaction; nor of a class without rows.
        for term, columns in zip(terms, blocks[len(self.cards) :], strict=True):
            shown = recorded_all(~self.missing & varies[:, : len(self.cards)], term.features)
            there, never = np.flatnonzero(shown), np.flatnonzero(~shown)
            optimism = term.optimism * (variances[there][:, None, target] > TINY)
            own[np.ix_(there, columns, target)] -= optimism
            own[np.ix_(there, target, columns)] -= optimism.swapaxes(1, 2)
            own[np.ix_(never, columns)] = 0.0
            own.swapaxes(1, 2)[np.ix_(never, columns)] = 0.0
        return Moments(own, self.n_rows, ~self.missing, tuple(blocks), len(target), tuple(terms))


class ProductSumSource(Source):
    """Sums of products of numeric columns: a column a feature, the target last, and no cells."""

    largest_set, work = 1, 1

    def __init__(self, sums: ProductSums) -> None:
        self.sums, self.missing = sums, sums.missing
        self.n_rows = np.maximum(sums.rows.astype(np.float64), 1.0)
        self.cards = np.full(len(sums.features), 2)
        self.classes_shown = np.zeros(1, dtype=np.int64)

    def scales(self) -> tuple[Sequence[Scale], Floats]:
        """R² in all subgroups; the target is one column."""
        varies = (self.sums.products[:, -1, -1] > 0).astype(np.float64)
        return [CorrelationScale()] * len(varies), varies

    def calibration(self, by_size: Sequence[Floats]) -> list[Floats]:
        """None: R² follows from covariances without an approximation."""
        del by_size
        return []

    def fill(self, own: Floats, blocks: Blocks, terms: Sequence[Term], new: Integers) -> None:
        """Scaled to a pooled variance of 1, so that ridges mean the same for each column."""
        del blocks, terms, new
        plain, rows = self.sums.products / self.n_rows[:, None, None], self.n_rows
        seen = np.concatenate([~self.missing, np.ones((len(rows), 1), dtype=bool)], axis=1)
        variances = np.einsum("kii->ki", plain)
        pooled = (rows[:, None] * seen * variances).sum(axis=0) / np.maximum(rows @ seen, 1.0)
        scale = 1.0 / np.sqrt(np.where(pooled > 0, pooled, 1.0))
        own[:] = plain * scale[:, None] * scale * seen[:, :, None] * seen[:, None, :]


class CodedRowSource(Source):
    """Coded rows of all subgroups; the first category of each feature is the most frequent."""

    def __init__(self, cohorts: Cohorts, like: "CodedRowSource | None" = None) -> None:
        # `like` is a table of other rows with the same codes, so that columns are the same.
        self.missing, n_classes = cohorts.missing, len(cohorts.classes)
        self.offsets = cohorts.offsets.astype(np.int64)  # subgroup k owns offsets[k]:offsets[k + 1]
        self.target = cohorts.target_codes.astype(np.int64)
        self.weights = cohorts.counts.astype(np.float64)  # together the effective rows
        cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
        if like is None:
            self.cards = np.empty(len(cohorts.features), dtype=np.int64)
            self._numbers = [self._numbered(cohorts, cohort_of, f) for f in range(len(self.cards))]
        else:
            self.cards, self._numbers = like.cards, like._numbers
            self.classes_shown = like.classes_shown
        # (n_features, n_rows): the rarest categories merged; -1 where a value is missing
        self.codes = np.empty(cohorts.codes.shape, dtype=np.int16)
        for f, values in enumerate(cohorts.codes):
            self.codes[f] = self._numbers[f][values]
            if self.missing[:, f].any():
                self.codes[f, self.missing[cohort_of, f]] = -1
        cells = cohort_of * n_classes + self.target
        by_class = np.bincount(cells, self.weights, minlength=len(cohorts) * n_classes)
        self.by_class = by_class.reshape(-1, n_classes).astype(np.float64, copy=False)
        self.n_rows = self.by_class.sum(axis=1)
        self.usual = np.zeros(len(self.cards), dtype=np.int64)
        self.shows_interactions = np.ones(len(self.missing), dtype=bool)
        self.largest_set, self.work = len(self.cards), len(self.target)  # a look at every row

    def _numbered(self, cohorts: Cohorts, cohort_of: Integers, feature: int) -> Indices:
        """The number of every category of a feature by its code, the last for no value."""
        values, n_labels = cohorts.codes[feature], max(len(cohorts.categories[feature]), 1)
        there = (values >= 0) & ~self.missing[cohort_of, feature]
        counts = np.bincount(values[there], cohorts.counts[there], minlength=n_labels)
        number = np.full(n_labels + 1, -1, dtype=np.int16)
        number[np.argsort(-counts, kind="stable")] = np.minimum(np.arange(n_labels), MOST_COLUMNS)
        self.cards[feature] = max(min(int((counts > 0).sum()), MOST_COLUMNS + 1), 1)
        return number

    def counts(self, sets: Integers, cohorts: Integers) -> Floats:
        """Rows of sets of one size in some subgroups: by set, subgroup, cell and class, in line."""
        n_classes = self.by_class.shape[1]
        found = np.zeros(int(self.cards[sets].prod(axis=1).sum()) * len(cohorts) * n_classes)
        rows = self.target, self.weights, self.offsets
        count_cells(self.codes, self.cards, sets, *rows, cohorts, n_classes, found)
        return found

    def occupied(self, sets: Indices) -> Floats:
        """How many cells of sets of one size have rows, in the rows that are looked at."""
        cells = self.cards[sets].prod(axis=1, dtype=np.float64)
        found = np.repeat(self.n_rows[:, None], len(sets), axis=1)
        some = np.flatnonzero(cells <= MOST_CELLS)
        step, own = 1 + len(self.target) // MOST_LOOKED_AT, np.zeros((len(found), len(some)))
        codes, offsets = self.codes[:, ::step], -(-self.offsets // step)
        occupied_cells(np.ascontiguousarray(codes), self.cards, sets[some], offsets, own)
        found[:, some] = own
        return found

    def fill(self, own: Floats, blocks: Blocks, terms: Sequence[Term], new: Integers) -> None:
        """Covariances in every subgroup; of pairs of columns that rows have both of."""
        width, whole = own.shape[1], len(new) == own.shape[1]
        for k, (start, end) in enumerate(pairwise(self.offsets.tolist())):
            shown = ~self.missing[k] & (self.cards > 1)
            gaps = bool((self.codes[shown, start:end] < 0).any())
            products, sums, theirs, both = (np.zeros((len(new), width)) for _ in range(4))
            total = np.zeros(width)
            for first in range(start, end, ROWS_AT_ONCE):
                rows = slice(first, min(first + ROWS_AT_ONCE, end))
                values, there = self._columns(k, rows, blocks, terms, width, gaps=gaps)
                # Counts are summed as they are: what has one value must not vary by rounding.
                weights = self.weights[rows].astype(values.dtype)
                own_part = values if whole else values[new]
                weighed = own_part if (weights == 1).all() else own_part * weights
                products += weighed @ values.T
                if gaps:
                    sums += weighed @ there.T
                    present = there[new] * weights
                    both += present @ there.T
                    theirs += present @ values.T
                else:
                    total += values @ weights
            if gaps:
                both = np.maximum(both, TINY)
                found = products / both - (sums / both) * (theirs / both)
            else:
                n_rows = max(float(self.n_rows[k]), TINY)
                found = products / n_rows - np.outer(total[new] / n_rows, total / n_rows)
            own[k][new], own[k][:, new] = found, found.T

    def _columns(
        self,
        cohort: int,
        rows: slice,
        blocks: Blocks,
        terms: Sequence[Term],
        width: int,
        *,
        gaps: bool,
    ) -> tuple[Floats, Floats]:
        """The columns of some rows, a line each, and where a row has a value."""
        # Counts below 2²⁴ are sums without rounding in half the memory, too.
        weights = self.weights[rows]
        exact = not terms and weights.sum() < EXACT_BELOW and (weights == np.rint(weights)).all()
        shape = width, rows.stop - rows.start
        values = np.zeros(shape, dtype=np.float32 if exact else np.float64)
        there = np.ones_like(values) if gaps else values[:0]
        for f, columns in enumerate(blocks[: len(self.cards)]):
            if len(columns) and not self.missing[cohort, f]:
                codes = self.codes[f, rows]
                for code, column in enumerate(columns, start=1):
                    np.equal(codes, code, out=values[column])
                if gaps and (gap := codes < 0).any():
                    there[np.ix_(columns, gap)] = 0.0
        for term, columns in zip(terms, blocks[len(self.cards) :], strict=True):
            members = list(term.features)
            if not self.missing[cohort, members].any():
                codes = self.codes[members, rows]
                gap = np.asarray((codes < 0).any(axis=0))
                there_codes = tuple(np.where(gap, 0, codes).astype(np.intp))
                cells = np.ravel_multi_index(there_codes, self.cards[members].tolist())
                values[columns] = term.effects.T[:, cells] * ~gap
                if gaps:
                    there[np.ix_(columns, gap)] = 0.0
        shown = self.classes_shown
        values[width - len(shown) :] = self.target[rows] == shown[:, None]
        return values, there


class CountTableSource(Source):
    """Count tables of up to three features: covariances, and of interactions with a third."""

    work = 1  # almost nothing

    def __init__(self, tables: CountTables) -> None:
        self.tables, self.missing, self.cards = tables, tables.missing, tables.cards
        self.by_class, self.largest_set = tables.by_class, tables.largest
        self.n_rows = tables.effective_rows_of(min(2, max(tables.largest, 1)))
        self.shows_interactions = self.n_rows >= NEARLY_EXACT * self.by_class.sum(axis=1)
        alone = tables.singles.sum(axis=(0, 2))
        self.usual = np.array([np.argmax(alone[i:j]) for i, j in pairwise(tables.starts(1))])

    def counts(self, sets: Integers, cohorts: Integers) -> Floats:
        """Rows of sets of one size in some subgroups: by set, subgroup, cell and class, in line."""
        tables = [self.tables.of(k, members) for members in sets for k in cohorts.tolist()]
        return np.concatenate(tables, axis=None)

    def fill(self, own: Floats, blocks: Blocks, terms: Sequence[Term], new: Integers) -> None:
        """Covariances in every subgroup, block by block; 0 where no table holds both."""
        del new  # tables are small
        target = np.arange(own.shape[1] - len(self.classes_shown), own.shape[1])

        def put(k: int, first: Integers, second: Integers, covariance: Floats) -> None:
            own[k][np.ix_(first, second)] = covariance
            own[k][np.ix_(second, first)] = covariance.T

        members = [(f,) for f in range(len(self.cards))] + [term.features for term in terms]
        values = [
            *(np.delete(np.eye(c), u, axis=1) for c, u in zip(self.cards, self.usual, strict=True)),
            *(term.effects for term in terms),
        ]
        for k, share in enumerate(self.shares()[:, self.classes_shown]):
            put(k, target, target, np.diag(share) - np.outer(share, share))
        for i, first in enumerate(members):
            for k in np.flatnonzero(recorded_all(~self.missing, first)).tolist():
                counts = self.tables.of(k, first)
                whole = max(float(counts.sum()), TINY)
                classes = counts[:, self.classes_shown]
                means = values[i].T @ counts.sum(axis=1) / whole, classes.sum(axis=0) / whole
                put(k, blocks[i], target, values[i].T @ classes / whole - np.outer(*means))
            for j, second in enumerate(members[: i + 1]):
                union = tuple(sorted({*first, *second}))
                if len(union) > self.largest_set:
                    continue
                a, b = (
                    effects[cells_within(self.cards, union, part)]
                    for part, effects in ((first, values[i]), (second, values[j]))
                )
                for k in np.flatnonzero(recorded_all(~self.missing, union)).tolist():
                    share = self.tables.of(k, union).sum(axis=1)
                    share = share / max(float(share.sum()), TINY)
                    covariance = a.T @ (b * share[:, None]) - np.outer(share @ a, share @ b)
                    put(k, blocks[i], blocks[j], covariance)
        if self.tables.noise is not None:
            for k in np.flatnonzero(self.tables.noise > 1.0).tolist():
                own[k] = nearest_covariance(own[k])


def cells_within(cards: Integers, features: Sequence[int], part: Sequence[int]) -> Integers:
    """The cell of some of a set's features, for every cell of the set."""
    codes = np.indices(cards[list(features)].tolist()).reshape(len(features), -1)
    of_part = tuple(codes[features.index(f)] for f in part)
    return np.asarray(np.ravel_multi_index(of_part, cards[list(part)].tolist()))


def nearest_covariance(matrix: Floats) -> Floats:
    """A covariance near a matrix of pairs that were rounded one by one, with its variances."""
    # Negative eigenvalues of the correlations are set to 0.
    varies = np.flatnonzero(np.diag(matrix) > 0)
    block = np.ix_(varies, varies)
    deviation = np.sqrt(np.diag(matrix)[varies])
    values, vectors = np.linalg.eigh(matrix[block] / np.outer(deviation, deviation))
    near = (vectors * np.maximum(values, 0.0)) @ vectors.T
    scale = deviation / np.sqrt(np.maximum(np.diag(near), TINY))
    found = np.zeros_like(matrix)
    found[block] = near * np.outer(scale, scale)
    return found
