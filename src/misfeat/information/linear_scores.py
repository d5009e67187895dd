"""Linear scores of sets when the target is permuted: few degrees of freedom for every feature.

Features whose values have an order count by their midranks, and so does the target where its values
have one; few values without order count by an indicator each. So do classes without order, over the
root of their share (Pearson's chi-square), and times to an event by their log-rank scores. With Z
the columns of a set and t the target, both centred in every stratum, the score of the set is

    t' Z (Z' Z)⁻¹ Z' t / 2 t' t,

about the information of a weak set, summed over the columns of the target: the score test of a
linear model (the tests of Cochran and Armitage, and of Mantel and Haenszel, the log-rank test),
which finds what features add to others in far fewer rows than a score of cells does.
"""

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.cohorts.cohort_data import Cohorts
from misfeat.cohorts.survival import counts_of, log_rank_scores
from misfeat.information.kernels.permuted_scores import shuffled
from misfeat.runtime.array_types import Array, Floats, Indices, Integers
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from misfeat.information.permuted_scores import Permutations, PermutedSets

IN_ORDER = ("number", "date", "flag", "category, in order")  # what such values are taken for
COPY = 1e-9  # what varies by a smaller share does not, but for rounding
TOGETHER = 2**20  # scores, or sums of rows, of permutations that are scored together
FEW_ALIKE = 1.5  # rows for each distinct one, up to which they are not summed first
MOST_INDICATORS = 5  # of a feature without order; more would have as many columns as cells
LARGEST_INVERSES = 2**25  # numbers of all inverses; beyond, indicators are left out
TINY = 1e-300  # stands for a sum of nothing in a denominator


class Orders(NamedTuple):
    """The rows of a cohort as numbers."""

    features: Floats  # (n_lines, n_rows): midranks or indicators, NaN where a value is missing
    values: Integers  # (n_rows,): which value of the target each row has
    scores: Floats  # (n_values, n_columns): what each of these values counts
    lines: Integers  # (n_features, width): which lines are of a feature, -1 beyond them


def orders_of(cohorts: Cohorts, number: int) -> Orders:
    """What the features and the target of a cohort count, as far as they have an order."""
    rows, own = cohorts.at(number), slice(cohorts.offsets[number], cohorts.offsets[number + 1])
    kinds = {audit.column: audit.taken_for for audit in cohorts.columns}
    of_features: list[Floats] = []
    lines = np.full((len(rows.codes), MOST_INDICATORS), -1)
    for feature, codes in enumerate(rows.codes):
        there = (codes >= 0) & ~np.isin(codes, cohorts.gap_codes[feature])
        some = codes[there]
        kind, found = kinds.get(cohorts.features[feature], ""), np.unique(some)
        numbers: list[Floats] = []
        if kind.startswith(IN_ORDER) or len(found) == 2:
            numbers = [midranks(some, rows.counts[there])[some]]
        elif len(found) <= MOST_INDICATORS + 1:
            numbers = [(some == code).astype(np.float64) for code in found[1:]]
        for place, column in enumerate(numbers):
            lines[feature, place] = len(of_features)
            of_features.append(np.full(len(codes), np.nan))
            of_features[-1][there] = column
    features = np.array(of_features).reshape(-1, rows.codes.shape[1])
    lines = lines[:, : max(1, int((lines >= 0).sum(axis=1).max(initial=0)))]
    if cohorts.horizons:
        counts = counts_of(cohorts.ranks[own], rows.counts, cohorts.grids.shape[1])
        scores = log_rank_scores(counts, cohorts.last_bin(-1))
        ranks = cohorts.ranks[own].astype(np.int64)
        return Orders(features, ranks, scores.reshape(-1, 1), lines)
    values = (cohorts.ranks[own] if cohorts.is_number else rows.target).astype(np.int64)
    if kinds.get(cohorts.target, "").startswith(IN_ORDER):
        return Orders(features, values, midranks(values, rows.counts)[:, None], lines)
    # The indicator of the last class is 1 less those of the others: as many columns say the same.
    shares = np.bincount(values, rows.counts) / rows.counts.sum()
    *others, last = 1.0 / np.where(shares > 0, shares, 1.0)
    columns = np.linalg.cholesky(np.diag(others) + last)
    return Orders(features, values, np.vstack([columns, np.zeros((1, len(others)))]), lines)


def midranks(codes: Indices, counts: Floats) -> Floats:
    """The share of rows below each code, and half of those of it."""
    rows = np.bincount(codes, counts)
    return np.asarray((np.cumsum(rows) - rows / 2.0) / rows.sum())


class WithTrends:
    """Permutations with two scores of every set: that of its cells, then the linear one."""

    def __init__(self, cells: "Permutations", sets: "PermutedSets", orders: Orders) -> None:
        self._cells, self._sets, self.subsets = cells, sets, cells.subsets
        order, times, self._starts = sets.by_stratum
        self._rows = np.repeat(order, times)
        self._values = orders.values[self._rows].astype(np.uint16)
        weights = sets.rows.weights if sets.rest is None else sets.rest
        strata = sets.strata
        # A last line of zeros stands for those that features of few values do not have.
        features = np.vstack([_centred(orders.features, weights, strata), np.zeros(len(strata))])
        products = (features * weights) @ features.T
        variances = np.diag(products)
        varies = variances > COPY * weights.sum()
        scale = 1.0 / np.sqrt(np.where(varies, variances, np.inf))
        self._lines = features * scale[:, None] * (1.0 if sets.rest is None else weights)
        self._one_by_one = len(self._rows) <= FEW_ALIKE * len(strata)
        if self._one_by_one:
            self._lines = self._lines[:, self._rows]
        target = orders.scores[orders.values].T
        whole, left = ((t**2 @ weights).sum() for t in (target, _centred(target, weights, strata)))
        left = left if left > COPY * whole else np.inf  # a single value in every stratum
        self._scores = orders.scores.T * np.sqrt(len(target) / left / 2.0)
        correlations = products * scale * scale[:, None]
        lines = orders.lines
        numbers = sum(len(m) * (m.shape[1] * lines.shape[1]) ** 2 for m in self.subsets)
        if numbers > LARGEST_INVERSES:
            lines = np.where((lines >= 0).sum(axis=1, keepdims=True) == 1, lines[:, :1], -1)
        counted = varies[lines].any(axis=1) | np.isin(np.arange(len(lines)), sets.held)
        self._columns = [lines[members].reshape(len(members), -1) for members in self.subsets]
        self._inverses = [
            np.linalg.pinv(correlations[columns[:, :, None], columns[:, None]], COPY, True)
            * counted[members].all(axis=1)[:, None, None]
            for members, columns in zip(self.subsets, self._columns, strict=True)
        ]

    def scores(self, first: int, last: int, work: Work) -> Floats:
        """Scores of permutations ``first`` to ``last - 1``: those of cells, then linear ones."""
        cells = self._cells.scores(first, last, work)
        found = np.zeros_like(cells)
        values, n_rows = self._values, self._lines.shape[1]

        def score(begin: int, end: int) -> None:
            seeds = self._sets.seeds[first + begin : first + end]
            permuted = np.array(
                [shuffled(values, self._starts, seed) if seed else values for seed in seeds]
            )
            for scores in self._scores:
                sums = scores[permuted]
                if not self._one_by_one:
                    sums = np.array([np.bincount(self._rows, own, n_rows) for own in sums])
                shared = self._lines @ sums.T
                by_size = [
                    ((inverse @ shared[columns]) * shared[columns]).sum(axis=1)
                    for columns, inverse in zip(self._columns, self._inverses, strict=True)
                ]
                found[begin:end] += np.concatenate(by_size).T

        n_sums = max(sum(columns.size for columns in self._columns) // 3, cells.shape[1])
        together = max(1, TOGETHER // max(n_sums, n_rows, 1))
        bounds = [*range(0, last - first, together), last - first]
        work.run([partial(score, begin, end) for begin, end in pairwise(bounds)])
        return np.hstack([cells, found])


def _centred(lines: Floats, weights: Array, strata: Integers) -> Floats:
    """Lines less their means in every stratum; a gap counts as that mean."""
    found = np.zeros_like(lines)
    for line, numbers in zip(found, lines, strict=True):
        there = ~np.isnan(numbers)
        values, counts, of = numbers[there], weights[there], strata[there]
        means = np.bincount(of, values * counts) / np.maximum(np.bincount(of, counts), TINY)
        line[there] = values - means[of]
    return found
