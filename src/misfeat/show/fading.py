"""What is faded: sets that tell no more than chance, where that was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.selection.selection import Selection


def p_values(selection: Selection, size: int) -> NDArray[np.float64] | None:
    """The p-values of all sets of a size; None where `significance` was not asked for it.

    Of shape (n_cohorts, n_sets), NaN where a subgroup did not record a set.
    """
    tests = selection.known_tests
    return None if tests is None else tests.p_values.get(size)


def no_more_than_chance(selection: Selection, size: int) -> NDArray[np.bool_]:
    """Which sets of a size were tested, and found to tell no more than chance.

    A subgroup in which nothing tells, counted with all others, has no set that does.

    Of shape (n_cohorts, n_sets), False where it was not asked.
    """
    tests, found = selection.known_tests, p_values(selection, size)
    if tests is None or found is None:
        return np.zeros(selection.completed(size).score.shape, dtype=bool)
    level = tests.asked[-1]
    nothing = np.array([not one.more_than_chance for one in tests.subgroups])
    tells_nothing: NDArray[np.bool_] = (found > level) | nothing[:, None]
    return np.isfinite(found) & tells_nothing
