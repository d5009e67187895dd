"""Which measure is asked for: one that misfeat comes with, by its name, or one of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.information.grids import information_of
from misfeat.information.measured import CountedGrids, CountedMeasure
from misfeat.information.measures import SquaredCorrelation

if TYPE_CHECKING:
    from misfeat.cohorts.model import Cohorts
    from misfeat.cohorts.product_sums import ProductSums
    from misfeat.information.count_measure import CountMeasure
    from misfeat.information.measures import Measure


def measure_of(
    asked: str | CountMeasure,
    cohorts: Cohorts,
    sums: ProductSums | None = None,
    *,
    above_chance: bool = False,
) -> Measure:
    """The measure that a name or an instance stands for, of the rows of a table.

    `sums` of products are for ``"r2"``.
    """
    if isinstance(asked, str):
        if sums is not None:
            return SquaredCorrelation(sums, above_chance=above_chance)
        return information_of(cohorts, above_chance=above_chance)
    kind = CountedGrids if cohorts.is_number else CountedMeasure
    return kind(asked, cohorts, above_chance=above_chance)
