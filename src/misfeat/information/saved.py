"""Scores of a measure of one's own after a run was saved: its name and its scores, not its code."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, Setting
from misfeat.information.count_measure import CountMeasure
from misfeat.information.measures import LevelByLevel, OwnMeasure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.information.deals import Deals
    from misfeat.information.measured_noise import ScoreNoise
    from misfeat.information.measures import Measure

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


class SavedScores(LevelByLevel, OwnMeasure):
    """A measure of one's own in a run that was saved: it knows what was asked for before."""

    asked: SavedMeasure

    def __init__(
        self, asked: SavedMeasure, cohorts: Cohorts, *, above_chance: bool = False
    ) -> None:
        super().__init__(asked, cohorts, above_chance=above_chance)
        self.whole = self.ceiling = asked.whole
        self.parts = (self,) * asked.n_grids

    def _of_level(self, cohort: int, size: int, n_jobs: int | None) -> Floats:
        del n_jobs
        sizes = self.asked.sizes
        if self.above_chance or size not in sizes:
            raise self.not_kept()
        counts = [comb(len(self.features), m) for m in sizes[: sizes.index(size) + 1]]
        return self.asked.observed[cohort, sum(counts[:-1]) : sum(counts)]

    def of_rows(self, cohorts: Cohorts) -> Any:  # noqa: ARG002
        """Scores of other rows cannot be worked out: an error says so."""
        raise self.not_kept()

    def noise(self, size: int, n_jobs: int | None = None) -> ScoreNoise:  # noqa: ARG002
        """How scores vary cannot be worked out: an error says so."""
        raise self.not_kept()

    def deals(self, *_: Any) -> Deals:
        """The target cannot be dealt out anew: an error says so."""
        raise self.not_kept()

    def not_kept(self) -> MisfeatError:
        """The error for what only the code of the measure could work out."""
        return MisfeatError(
            "This needs the measure {name!r}, of which a saved run holds the scores of sets of "
            "{sizes} features and not the code.",
            remedy="Fit again for it.",
            name=self.name,
            sizes=", ".join(map(str, self.asked.sizes)) or "no",
        )


class MeasureByName(CountMeasure):
    """What stands for a measure of one's own in a selector that was loaded."""

    def __init__(self, name: str, unit: str, words: str) -> None:
        self.name = name
        self.unit = unit
        self.words = words

    def of_counts(self, counts: Floats) -> Floats:
        """An error: only the name of the measure was saved."""
        del counts
        raise MisfeatError(
            "{measure} was saved by its name, not its code; set it before a fit: "
            "selector.set_params(measure=...).",
            measure=Setting("measure", self.name),
        )


def saved_measure(measure: Measure, sizes: Iterable[int], n_jobs: int | None) -> SavedMeasure:
    """What is saved of a measure of one's own, whose sets of these sizes were completed."""
    if isinstance(measure, SavedScores):
        return measure.asked
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
