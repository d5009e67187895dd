"""What the explorer of the report holds: packed scores of the lattice, and cells of small sets."""

from __future__ import annotations

import base64
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores
    from misfeat.selection.cell_counts import CellCounts
    from misfeat.selection.selection import Selection

    Cells = dict[tuple[int, tuple[int, ...]], CellCounts]

MOST_SCORES = 150_000
"""Scores that the page holds at most, over all cohorts: about 2.5 MB of it."""
MOST_LARGER = 30_000
"""Scores of sets with one feature more that are estimated only to be looked at."""
MOST_TABLES = 1_200
"""Sets, over all subgroups, whose cells the page holds besides those of its answers."""
MOST_CLASSES = 12
"""A target with more classes has too large tables."""


def sizes_that_fit(n_cohorts: int, n_features: int, size: int) -> list[int]:
    """The sizes of sets that the explorer holds: from 1 up, as long as there is room.

    One more than `size`, that of the report, is held too, so that a set can be seen to grow, where
    that is worth the time.

    Examples
    --------
    >>> sizes_that_fit(20, 30, 3)
    [1, 2, 3]
    >>> sizes_that_fit(4, 8, 3)
    [1, 2, 3, 4]
    """
    held: list[int] = []
    room = MOST_SCORES
    larger = size < n_features and comb(n_features, size + 1) * n_cohorts <= MOST_LARGER
    for one in range(1, size + 1 + larger):
        room -= comb(n_features, one) * n_cohorts
        if room < 0:
            break
        held.append(one)
    return held


def packed_lattice(by_size: Mapping[int, CompletedScores], sizes: Sequence[int]) -> dict[str, Any]:
    """Scores, bounds and what they rest on, by size: cohort after cohort, sets by their rank.

    Arrays are Base64 text, of 32-bit floats where they are not of single bytes.
    """
    kinds = {"score": "<f4", "low": "<f4", "high": "<f4", "predicted": "u1", "support": "u1"}
    return {
        "levels": [
            {"size": size}
            | {name: _base64(getattr(by_size[size], name), kind) for name, kind in kinds.items()}
            for size in sizes
            if size in by_size
        ]
    }


def _base64(array: NDArray[Any], kind: str) -> str:
    return base64.b64encode(array.astype(kind).tobytes()).decode("ascii")


def cells_that_fit(selection: Selection, answers: Sequence[Sequence[str]]) -> Cells:
    """Rows by cell and class of all single features and all pairs, as long as there is room.

    Those of `answers`, the set that answers for every subgroup, are always held where they may be.
    """
    measure = selection.book.measure
    counted = measure.rows is not None or measure.tables is not None
    if not counted or len(selection.cohorts.classes) > MOST_CLASSES:
        return {}
    number = {name: at for at, name in enumerate(selection.feature_names)}

    def members(features: Sequence[str]) -> tuple[int, ...]:
        return tuple(sorted(number[name] for name in features))

    if selection.book.rows_withheld and measure.tables is None:
        return {
            (selection.cohorts.position(subgroup), members(features)): cells
            for (subgroup, features), cells in selection.kept_cells.items()
        }
    wanted = [(cohort, members(answer)) for cohort, answer in enumerate(answers) if answer]
    cohorts = range(len(selection.cohorts))
    room = MOST_TABLES
    for size in (1, 2):
        room -= comb(len(number), size) * len(cohorts)
        if room < 0:
            break
        wanted += product(cohorts, combinations(range(len(number)), size))
    return selection.counts_of(wanted)
