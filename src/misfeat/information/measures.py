"""Measures: what a feature set tells about the target, behind one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from misfeat.information.correlation import adjusted_correlation, squared_correlation
from misfeat.information.mutual_info import joint_mutual_info, level_mutual_info
from misfeat.information.shannon import target_entropy
from misfeat.lattice.levels import level, rank

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.cohorts.product_sums import ProductSums
    from misfeat.information.count_tables import CountTables

    Progress = Callable[[int, int], None]
    Scores = NDArray[np.float64]


class Measure(ABC):
    """Scores of feature sets in the cohorts of one table.

    Attributes
    ----------
    name : str
        What users call it.
    unit : str
        The unit of a score.
    words : str
        What a score is, as in "the ... with the target".
    features : tuple of str
        The features that sets are made of.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features each cohort never recorded.
    ceiling : ndarray of shape (n_cohorts,)
        What no score can exceed.
    whole : ndarray of shape (n_cohorts,)
        What there is to tell about the target: its entropy in each cohort, or 1 for R².
    closed : bool
        Whether a larger set never scores lower (upward closure).
    above_chance : bool
        Whether what chance alone would score was taken off.
    rows : Cohorts or None
        The coded rows that scores were counted from, where they were.
    parts : tuple of Measure
        The measures of the grids of a numeric target, whose mean it is.
    sums : ProductSums or None
        The sums of products that scores come from, where they do.
    tables : CountTables or None
        The count tables that scores come from, where there are no rows.
    """

    name: str
    unit: str
    words: str
    features: tuple[str, ...]
    missing: NDArray[np.bool_]
    ceiling: Scores
    whole: Scores
    closed: bool
    above_chance: bool
    rows: Cohorts | None = None
    parts: tuple[Any, ...] = ()
    sums: ProductSums | None = None
    tables: CountTables | None = None
    # Made at once: what is asked in one thread must not change what another one saves.
    _plain: Any = None

    @property
    def plug_in(self) -> Self:
        """The same measure of the rows as they are, nothing taken off for chance."""
        plain: Self = self if self._plain is None else self._plain
        return plain

    @abstractmethod
    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Scores]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Scores:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        size = subsets.shape[1]
        return self.of_levels(cohort, size, size, n_jobs)[0][rank(subsets)]


class LevelByLevel(Measure):
    """A measure that scores one size after the other."""

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Scores]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        scores = []
        for size in range(low, high + 1):
            scores.append(self._of_level(cohort, size, n_jobs))
            if progress is not None:
                progress(size - low + 1, high - low + 1)
        return scores

    @abstractmethod
    def _of_level(self, cohort: int, size: int, n_jobs: int | None) -> Scores:
        """Scores of every set of one size, by rank."""


class InformationOfRows(Measure):
    """Joint mutual information with the target, in nats, counted from coded rows.

    Parameters
    ----------
    cohorts : Cohorts
        Coded rows.
    above_chance : bool, default=False
        Whether to take off what the set would score on the mean if the target were dealt out at
        random over the rows. Such scores may be negative, and a larger set may score lower.
    """

    name, unit, words = "mutual_info", "nats", "joint mutual information"
    rows: Cohorts

    def __init__(self, cohorts: Cohorts, *, above_chance: bool = False) -> None:
        self.above_chance = above_chance
        self.rows, self.features, self.missing = cohorts, cohorts.features, cohorts.missing
        self._plain = type(self)(cohorts) if above_chance else None

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), above_chance=self.above_chance), (self.rows,)


class MutualInformation(InformationOfRows):
    """Information about a target of classes.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    >>> MutualInformation(build_cohorts(table, "y")).of_levels(0, 1, 1, None)[0].round(4)
    array([0.6931, 0.    ])
    >>> chosen = MutualInformation(build_cohorts(table, "y"), above_chance=True)
    >>> chosen.of_levels(0, 1, 1, None)[0].round(4)
    array([ 0.4621, -0.231 ])
    """

    def __init__(self, cohorts: Cohorts, *, above_chance: bool = False) -> None:
        super().__init__(cohorts, above_chance=above_chance)
        self._cohorts = list(cohorts)
        same_rows = not any((c.codes[c.recorded] < 0).any() for c in self._cohorts)
        self.closed = same_rows and not above_chance
        self.whole = np.array([target_entropy(c) for c in self._cohorts])
        # Where rows differ between sets, H(Y) of all rows bounds nothing; log of the classes does.
        most = np.array([np.log(c.n_classes) for c in self._cohorts])
        self.ceiling = self.whole if same_rows else most

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Scores]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        found = level_mutual_info(
            self._cohorts[cohort],
            low,
            high,
            above_chance=self.above_chance,
            n_jobs=n_jobs,
            progress=progress,
        )
        return [self.bounded(scores, cohort) for scores in found]

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Scores:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        found = joint_mutual_info(
            self._cohorts[cohort],
            subsets,
            above_chance=self.above_chance,
            n_jobs=n_jobs,
        )
        return self.bounded(found, cohort)

    def bounded(self, scores: Scores, cohort: int) -> Scores:
        """At most what there is to tell, which rounding may leave a trace above."""
        return scores if self.above_chance else np.minimum(scores, self.ceiling[cohort])


class SquaredCorrelation(LevelByLevel):
    """The squared multiple correlation of numeric features with a numeric or binary target.

    Parameters
    ----------
    sums : ProductSums
        Sums of products of numeric columns.
    above_chance : bool, default=False
        Whether to adjust scores for what features that tell nothing would explain by chance
        (adjusted R²). Such scores may be negative, and a larger set may score lower.
    """

    name, unit, words = "r2", "R²", "squared multiple correlation"
    sums: ProductSums

    def __init__(self, sums: ProductSums, *, above_chance: bool = False) -> None:
        self.above_chance, self.closed = above_chance, not above_chance
        self.sums, self.features, self.missing = sums, sums.features, sums.missing
        self.ceiling = self.whole = np.ones(len(sums.names))
        self._plain = SquaredCorrelation(sums) if above_chance else None

    def _of_level(self, cohort: int, size: int, n_jobs: int | None) -> Scores:
        recorded = np.flatnonzero(~self.missing[cohort])
        found = np.full(comb(len(self.features), size), np.nan)
        subsets = recorded[level(len(recorded), size)]
        found[rank(subsets)] = self.of_subsets(cohort, subsets, n_jobs)
        return found

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Scores:
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
