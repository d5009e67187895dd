"""What merging categories takes from predicted scores.

The transfer counts with rare categories merged and gaps as a category, so that tables stay small.
Scores of recorded sets are those of the categories as they are. A predicted score gains as much as
merging took from the part of the set that the cohort recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.parts import recorded_part_scores
from misfeat.information.chance import chance_of_counts, n_log_n

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.transfer.model import CompletedTables

    Floats = NDArray[np.float64]


def scores_of_tables(stretch: CompletedTables, by_class: Floats) -> Floats:
    """Scores above chance of counted tables; NaN where a cohort did not record a set."""
    scores = np.full(stretch.above_chance.shape, np.nan)
    n_lines = np.diff(stretch.starts, append=stretch.tables.shape[1])
    for i, table in enumerate(stretch.tables):
        recorded = np.isnan(stretch.above_chance[i])
        counts = table * np.repeat(recorded, n_lines)[:, None]
        chance = chance_of_counts(counts.sum(axis=1), by_class[i])
        cells = n_log_n(counts).sum(axis=1) - chance
        of_sets = np.add.reduceat(cells, stretch.starts) / by_class[i].sum()
        scores[i, recorded] = of_sets[recorded]
    return scores


def lost_by_merging(
    above_chance: Sequence[Floats],
    merged: Sequence[Floats],
    subsets: NDArray[np.integer],
    missing: NDArray[np.bool_],
) -> Floats:
    """By how much the recorded part of every set scores higher with the categories as they are.

    0 where one of the two scores is not known.

    Examples
    --------
    >>> without = [np.zeros((1, 1)), np.array([[0.2, np.nan]]), np.array([[np.nan]])]
    >>> merged = [np.zeros((1, 1)), np.array([[0.15, np.nan]]), np.array([[np.nan]])]
    >>> lost_by_merging(without, merged, np.array([[0, 1]]), np.array([[False, True]])).round(2)
    array([[0.05]])
    """
    lost = [
        recorded_part_scores(above_chance, cohort, subsets, lacks)
        - recorded_part_scores(merged, cohort, subsets, lacks)
        for cohort, lacks in enumerate(missing)
    ]
    return np.nan_to_num(lost)
