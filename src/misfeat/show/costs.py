"""What the steps of a run cost, in seconds of one core and in bytes, from how much there is to do.

The constants are fitted to runs of generated tables by benchmarks/sizing/fit.py;
docs/how_to/sizing.md says how far they were off on others.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from misfeat.estimation.significance import PILOTS
from misfeat.selection.against_chance import STEP_PERMUTATIONS
from misfeat.selection.enough import AHEAD
from misfeat.selection.leaving_out import MOST_JUDGED
from misfeat.selection.resampled import RESAMPLES

BYTES = 8
"""Of a number."""
MOST_CELLS = 4096.0
"""Sets of more cells are searched row by row, so that their cells do not count."""


@dataclass(frozen=True)
class Shape:
    """How much there is to do."""

    rows: float
    """Different rows, of all subgroups together."""
    features: int
    subgroups: int
    size: int
    """Features of the table, its subgroups, and features per set."""
    values: float = 5.0
    classes: float = 2.0
    """Values of a feature, on the mean, and of the target."""
    unrecorded: float = 0.0
    """The share of the features that a subgroup never recorded, on the mean."""
    tested: int = 0
    deals: int = 0
    """The largest sets that are tested against chance, and by how many deals of the target."""
    enough: int = 0
    step_deals: int = STEP_PERMUTATIONS
    """The largest sets that are looked at to see how many features are enough, and how many deals
    of the target are made for each size.
    """
    first_known: bool = True
    """Whether the first size takes no deals where the test against chance made the same."""
    redrawn: bool = False
    """Whether rows are drawn anew."""
    grids: int = 1
    """How often all sets are scored: for a numeric target, once a grid."""
    budget: float = 1.0
    """The share of the sets that are scored."""
    gaps: bool = False
    """Whether rows lack values of features that their subgroup recorded."""

    @property
    def recorded(self) -> int:
        """Features that a subgroup recorded, on the mean."""
        return round(self.features * (1 - self.unrecorded))

    def cells(self, size: int) -> float:
        """Cells of a set's table, counted up to a limit."""
        return min(self.values**size * self.classes, MOST_CELLS)

    def sets(self, largest: int) -> int:
        """Sets of at most so many features."""
        return sum(comb(self.features, m) for m in range(1, largest + 1))

    def table_cells(self, largest: int) -> float:
        """Cells of all sets of at most so many features, together."""
        return sum(comb(self.features, m) * self.cells(m) for m in range(1, largest + 1))


@dataclass(frozen=True)
class Costs:
    """Seconds of one core, and bytes, of a unit of every kind of work."""

    coded: float = 3.15e-08
    """To code a value of a table in memory."""
    scored: float = 9.59e-10
    scored_subgroup: float = 0.00355
    """To score a set, for every row; and for every subgroup, whatever it holds."""
    estimated: float = 1.29e-05
    estimated_cell: float = 1.23e-07
    fitted_cell: float = 2.29e-08
    """To estimate what a set tells in the population of a subgroup; for every cell of its table;
    and more where it has four features or more.
    """
    dealt: float = 1.54e-10
    dealt_cell: float = 2.61e-09
    dealt_one_by_one: float = 1.2e-08
    """To score a set for one deal of the target, for every row, and for every cell; for every row
    where rows count only for sets that they have in full.
    """
    validated: float = 4.75
    redrawn: float = 0.578
    """How many times a fit is made again to validate, and for a draw of rows."""
    redrawn_subgroup: float = 0.0162
    """For a subgroup and a draw, whatever it holds."""
    reported: float = 0.0828
    reported_subgroup: float = 0.0604
    reported_row: float = 6.15e-05
    """To write the report, for a feature and a row of the table."""
    once: float = 0.1
    """For a fit, however small it is."""
    held_once: float = 5.16e7
    held_value: float = 18.0
    held_score: float = 17.0
    held_cell: float = 2.08
    """Bytes of any run; of a value of the table while it is coded; times a score is held; and times
    a cell of the tables of pairs, or of triples where sets are larger, is.
    """

    def coding(self, shape: Shape) -> float:
        """Seconds to code a table in memory."""
        return self.coded * shape.rows * (shape.features + 2)

    def scoring(self, shape: Shape, largest: int) -> float:
        """Seconds to score all sets of at most so many features."""
        each = self.scored * shape.sets(largest) * shape.rows * shape.budget
        return shape.grids * (each + self.scored_subgroup * shape.subgroups)

    def estimating(self, shape: Shape, largest: int) -> float:
        """Seconds to estimate what they tell in populations."""
        each = self.estimated * shape.sets(largest)
        each += self.estimated_cell * shape.table_cells(largest)
        for size in range(4, largest + 1):
            each += self.fitted_cell * comb(shape.features, size) * shape.cells(size)
        return shape.grids * shape.subgroups * each

    def dealing(self, shape: Shape, largest: int) -> float:
        """Seconds to score all recorded sets of at most so many features for all deals."""
        return shape.deals * self._dealing_once(shape, largest)

    def _dealing_once(self, shape: Shape, largest: int, held: int = 0) -> float:
        """Seconds of one deal, in which every set holds some features besides."""
        free = max(shape.recorded - held, 0)
        sets = [comb(free, m) for m in range(1, largest + 1)]
        cells = sum(count * shape.cells(m + held) for m, count in enumerate(sets, 1))
        a_row = self.dealt_one_by_one if shape.gaps else self.dealt
        return a_row * sum(sets) * shape.rows + self.dealt_cell * cells * shape.subgroups

    def seeing_enough(self, shape: Shape) -> float:
        """Seconds to see how many features are enough: every size deals sets of two more."""
        known = shape.first_known and shape.tested == AHEAD
        steps = range(int(known), shape.enough)
        each = sum(self._dealing_once(shape, AHEAD, held) for held in steps)
        found = (PILOTS + shape.step_deals) * each
        if shape.enough > shape.size:
            found += self.scoring(shape, shape.enough) + self.estimating(shape, shape.enough)
        return found

    def fitting(self, shape: Shape) -> float:
        """Seconds to score and estimate, without what comes once."""
        return self.scoring(shape, shape.size) + self.estimating(shape, shape.size)

    def validating(self, shape: Shape) -> float:
        """Seconds to leave parts of the table out; of very many sets some are judged."""
        judged = min(1.0, MOST_JUDGED / (comb(shape.features, shape.size) * shape.subgroups))
        return self.validated * self.fitting(shape) * judged

    def redrawing(self, shape: Shape) -> float:
        """Seconds to draw rows anew and answer again."""
        each = self.redrawn * self.fitting(shape) + self.redrawn_subgroup * shape.subgroups
        return RESAMPLES * each

    def reporting(self, shape: Shape) -> float:
        """Seconds to write the report, once all is answered."""
        each = self.reported + self.reported_subgroup * shape.subgroups
        return each + self.reported_row * shape.rows

    def memory(self, shape: Shape) -> float:
        """Bytes that a run takes at most, beyond Python, its libraries and the table itself."""
        values = self.held_value * shape.rows * (shape.features + 2)
        scores = self.held_score * BYTES * shape.sets(shape.size) * shape.subgroups
        order = 2 if shape.size <= 3 else 3
        cells = comb(shape.features, order) * shape.values**order * shape.classes
        tables = self.held_cell * BYTES * cells * shape.subgroups
        return self.held_once + values + scores + tables


MEASURED = Costs()
"""What was measured on two cores (x86-64, 2.1 GHz)."""
ALONE = {
    "coding": 1.0,
    "scores of own rows": 0.78,
    "population": 0.06,
    "significance": 0.47,
    "enough features": 0.66,
    "validation": 0.15,
    "stability": 0.26,
    "report": 0.99,
}
"""The share of every step that one core does while others wait."""


def passing(step: str, seconds: float, cores: int) -> float:
    """Seconds that pass on several cores, of a step (of `ALONE`) that takes some seconds of one."""
    return seconds * (ALONE[step] + (1 - ALONE[step]) / cores)
