"""Rows by cell and class of small sets, for the explorer to say why they tell."""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.selection.cell_counts import CellCounts
    from misfeat.selection.selection import Selection

    Cells = dict[tuple[int, tuple[int, ...]], CellCounts]

MOST_TABLES = 1_200
"""Sets, over all subgroups, whose cells the page holds besides those of its answers."""
MOST_CLASSES = 12
"""A target with more classes has too large tables."""


def cells_that_fit(selection: Selection, answers: Sequence[Sequence[str]]) -> Cells:
    """The cells of all single features and all pairs, as long as there is room.

    Those of `answers`, the set that answers for every subgroup, are always held where they may be.
    """
    measure = selection.book.measure
    counted = measure.rows is not None or measure.tables is not None
    withheld = selection.book.rows_withheld and measure.tables is None
    if not counted or len(selection.cohorts.classes) > MOST_CLASSES:
        return {}
    number = {name: at for at, name in enumerate(selection.feature_names)}
    found: Cells = {}
    if withheld:
        for (subgroup, features), cells in selection.kept_cells.items():
            members = tuple(sorted(number[name] for name in features))
            found[selection.cohorts.position(subgroup), members] = cells
        return found
    cohorts = range(len(selection.cohorts))
    wanted = [
        (cohort, tuple(sorted(number[name] for name in answer)))
        for cohort, answer in zip(cohorts, answers, strict=True)
        if answer
    ]
    room = MOST_TABLES
    for size in (1, 2):
        room -= comb(len(number), size) * len(cohorts)
        if room < 0:
            break
        wanted += product(cohorts, combinations(range(len(number)), size))
    return selection.counts_of(wanted)
