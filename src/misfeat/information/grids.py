"""Information about a numeric target: the mean over several grids of its values.

One grid of bins loses what happens within a bin, and finer bins lose more to chance than they gain.
The mean over a few grids with the same number of bins, moved against each other, varies less with
where cuts happen to lie (benchmarks/numbers/five_best.py compares them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.information.measures import MutualInformation, measure_of_rows
from misfeat.information.shannon import target_entropy

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.cohorts.product_sums import ProductSums
    from misfeat.information.count_tables import CountTables
    from misfeat.information.own_scores import OwnScores
    from misfeat.information.scores_alone import ScoresAlone

    Progress = Callable[[int, int], None]
    Scores = NDArray[np.float64]


class MeanOfGrids:
    """Scores with a numeric target: the mean over those with the classes of each grid.

    Attributes
    ----------
    parts : tuple of Measure
        The measure of every grid.
    """

    parts: tuple[Any, ...]

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Scores]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        found = [part.of_levels(cohort, low, high, n_jobs, progress) for part in self.parts]
        return [np.mean(scores, axis=0) for scores in zip(*found, strict=True)]

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Scores:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        found = [part.of_subsets(cohort, subsets, n_jobs) for part in self.parts]
        return np.asarray(np.mean(found, axis=0))


class GridInformation(MeanOfGrids):
    """Joint mutual information with a numeric target, in nats: the mean over its grids.

    Parameters
    ----------
    cohorts : Cohorts
        Coded rows with the grids of a numeric target.
    above_chance : bool, default=False
        Whether to take off what chance alone would give, as in `MutualInformation`.
    device : str, default="auto"
        Whether a CUDA device may count, as in `MutualInformation`.

    Attributes
    ----------
    parts : tuple of MutualInformation
        The measure of every grid.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> cohorts = build_cohorts({"a": [0, 1] * 20, "b": [0] * 20 + [1] * 20, "y": range(40)}, "y")
    >>> measure = GridInformation(cohorts)
    >>> measure.of_levels(0, 1, 1, None)[0].round(2), measure.whole.round(2)
    (array([0. , 0.6]), array([1.7]))
    """

    name, unit, words = "mutual_info", "nats", "joint mutual information"
    sums: ProductSums | None = None
    tables: CountTables | None = None
    alone: ScoresAlone | None = None
    own: OwnScores | None = None

    def __init__(
        self, cohorts: Cohorts, *, above_chance: bool = False, device: str = "auto"
    ) -> None:
        self.above_chance = above_chance
        self.device = device
        self.rows: Cohorts | None = cohorts
        self.features = cohorts.features
        self.missing = cohorts.missing
        self.parts = tuple(
            MutualInformation(grid, above_chance=above_chance, device=device)
            for grid in cohorts.by_grid()
        )
        self.closed = all(part.closed for part in self.parts)
        self.whole = np.mean([part.whole for part in self.parts], axis=0)
        self.ceiling = np.mean([part.ceiling for part in self.parts], axis=0)
        self._plain = GridInformation(cohorts, device=device) if above_chance else None

    def __reduce__(self) -> tuple[Any, ...]:
        return measure_of_rows, (type(self), self.rows, self.above_chance, self.device)

    @property
    def plug_in(self) -> GridInformation:
        """The same measure of the rows as they are, nothing taken off for chance."""
        return self if self._plain is None else self._plain


def information_of(
    cohorts: Cohorts, *, above_chance: bool = False, device: str = "auto"
) -> MutualInformation | GridInformation:
    """What scores sets by their information: with classes, or with a number.

    Parameters
    ----------
    cohorts : Cohorts
        Coded rows.
    above_chance : bool, default=False
        Whether to take off what chance alone would give.
    device : str, default="auto"
        Whether a CUDA device may count, as in `MutualInformation`.
    """
    if cohorts.is_number:
        return GridInformation(cohorts, above_chance=above_chance, device=device)
    return MutualInformation(cohorts, above_chance=above_chance, device=device)


def target_entropies(cohorts: Cohorts) -> list[float]:
    """H(Y) of every cohort, the mean over the grids of a numeric target.

    Parameters
    ----------
    cohorts : Cohorts
        Coded rows.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> round(target_entropies(build_cohorts({"a": [0, 1], "y": [0, 1]}, "y"))[0], 4)
    0.6931
    """
    found = [[target_entropy(cohort) for cohort in grid] for grid in cohorts.by_grid()]
    means: list[float] = np.mean(found, axis=0).tolist()
    return means
