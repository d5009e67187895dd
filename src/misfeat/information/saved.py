"""Scores of a measure of one's own after a run was saved: its name and its scores, not its code."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, Setting
from misfeat.information.count_measure import CountMeasure
from misfeat.lattice.levels import rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.cohorts.product_sums import ProductSums
    from misfeat.information.count_tables import CountTables
    from misfeat.information.deals import Deals
    from misfeat.information.measured_noise import ScoreNoise
    from misfeat.information.measures import Measure
    from misfeat.information.own_scores import OwnScores
    from misfeat.information.scores_alone import ScoresAlone

    Progress = Callable[[int, int], None]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SavedMeasure:
    """What is saved of a measure of one's own.

    Attributes
    ----------
    name, unit, words : str
        As in `CountMeasure`.
    whole : ndarray of shape (n_cohorts,)
        What there is to tell about the target.
    sizes : tuple of int
        Sizes of sets whose scores in the rows as they are were kept.
    observed : ndarray of shape (n_cohorts, n_sets)
        These scores, size by size in the order of ranks; NaN where a cohort did not record a set.
    n_grids : int
        Grids of a numeric target; 0 for classes.
    """

    name: str
    unit: str
    words: str
    whole: Floats
    sizes: tuple[int, ...]
    observed: Floats
    n_grids: int = 0


class SavedScores:
    """A measure of one's own in a run that was saved: it knows what was asked for before.

    Parameters
    ----------
    saved : SavedMeasure
        What was saved of it.
    cohorts : Cohorts
        The features, and which of them were not recorded.
    above_chance : bool, default=False
        Whether chance was taken off the scores.
    """

    device = "cpu"
    rows: Cohorts | None = None
    sums: ProductSums | None = None
    tables: CountTables | None = None
    alone: ScoresAlone | None = None

    def __init__(
        self, saved: SavedMeasure, cohorts: Cohorts, *, above_chance: bool = False
    ) -> None:
        self.saved, self.above_chance = saved, above_chance
        self.name, self.unit, self.words = saved.name, saved.unit, saved.words
        self.features, self.missing = cohorts.features, cohorts.missing
        self.closed = not above_chance
        self.whole = self.ceiling = saved.whole
        self.parts: tuple[Any, ...] = (self,) * saved.n_grids
        self._plain = SavedScores(saved, cohorts) if above_chance else None

    @property
    def own(self) -> OwnScores | None:
        """Itself: no measure that misfeat comes with."""
        return self

    @property
    def plug_in(self) -> SavedScores:
        """The same measure of the rows as they are, nothing taken off for chance."""
        return self if self._plain is None else self._plain

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Scores of every set of sizes low to high, by rank; an error where they were not kept."""
        del n_jobs
        if self.above_chance or not set(range(low, high + 1)) <= set(self.saved.sizes):
            raise self.not_kept()
        n_features = len(self.features)
        ends = np.cumsum([0, *(comb(n_features, size) for size in self.saved.sizes)])
        first = {size: int(ends[place]) for place, size in enumerate(self.saved.sizes)}
        if progress is not None:
            progress(1, 1)
        kept = self.saved.observed[cohort]
        return [kept[first[m] : first[m] + comb(n_features, m)] for m in range(low, high + 1)]

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Floats:
        """Scores of listed sets of one size; an error where they were not kept."""
        found: Floats = self.of_levels(cohort, subsets.shape[1], subsets.shape[1], n_jobs)[0]
        return found[rank(subsets)]

    def of_rows(self, cohorts: Cohorts) -> Any:  # noqa: ARG002
        """Scores of other rows cannot be worked out: an error says so."""
        raise self.not_kept()

    def noise(self, size: int, n_jobs: int | None = None) -> ScoreNoise:  # noqa: ARG002
        """How scores vary cannot be worked out: an error says so."""
        raise self.not_kept()

    def deals(
        self,
        cohort: int,  # noqa: ARG002
        largest: int,  # noqa: ARG002
        held: tuple[int, ...],  # noqa: ARG002
        within: int | None,  # noqa: ARG002
        seed: np.random.SeedSequence,  # noqa: ARG002
    ) -> Deals:
        """The target cannot be dealt out anew: an error says so."""
        raise self.not_kept()

    def not_kept(self) -> MisfeatError:
        """The error for what only the code of the measure could work out."""
        return MisfeatError(
            "This needs the measure {name!r}, of which a saved run holds the scores of sets of "
            "{sizes} features and not the code.",
            remedy="Fit again for it.",
            name=self.name,
            sizes=", ".join(map(str, self.saved.sizes)) or "no",
        )


class MeasureByName(CountMeasure):
    """What stands for a measure of one's own in a selector that was loaded.

    Parameters
    ----------
    name, unit, words : str
        Of the measure that was saved.
    """

    def __init__(self, name: str, unit: str, words: str) -> None:
        self.name = name
        self.unit = unit
        self.words = words

    def of_counts(self, counts: Floats) -> Floats:
        """An error: only the name of the measure was saved.

        Parameters
        ----------
        counts : ndarray
            Rows of every cell and class.
        """
        del counts
        raise MisfeatError(
            "{measure} was saved by its name, not its code; set it before a fit: "
            "selector.set_params(measure=...).",
            measure=Setting("measure", self.name),
        )


def saved_measure(measure: Measure, sizes: Iterable[int], n_jobs: int | None) -> SavedMeasure:
    """What is saved of a measure of one's own.

    Parameters
    ----------
    measure : Measure
        Of which ``own`` is not None.
    sizes : iterable of int
        Features of sets whose scores were completed.
    n_jobs : int or None
        Threads, as joblib reads it.
    """
    if isinstance(measure, SavedScores):
        return measure.saved
    wanted = tuple(sorted(sizes))
    by_cohort = [
        np.concatenate(
            [np.zeros(0), *(measure.plug_in.of_levels(i, m, m, n_jobs)[0] for m in wanted)]
        )
        for i in range(len(measure.missing))
    ]
    return SavedMeasure(
        name=measure.name,
        unit=measure.unit,
        words=measure.words,
        whole=measure.whole,
        sizes=wanted,
        observed=np.array(by_cohort),
        n_grids=len(measure.parts),
    )
