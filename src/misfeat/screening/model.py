"""Screened: which features of a wide table were kept, and how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Looked:
    """How many sets of one size were looked at.

    Attributes
    ----------
    size : int
        Features per set.
    sets : int
        Those that were scored.
    of : int
        Those that there are.
    whole : bool
        Whether all were scored that some subgroup recorded.
    """

    size: int
    sets: int
    of: int
    whole: bool


@dataclass(frozen=True, eq=False)
class Screened:
    """What a search through a wide table kept, and what it left.

    Attributes
    ----------
    left_out : tuple of str
        The features that were not kept, blocks by their names.
    looked : tuple of Looked
        What was searched, by size from 1 on.
    telling : int or None
        Features that were not kept for want of places, though they tell alone, or in a set that
        tells beyond its parts, more than chance explains. None where chance was not taken off.
    rows : int
        Rows of the table in which it was searched.
    at_most : ndarray of shape (n_cohorts,)
        No set of the size that was asked for, whether it was looked at or not, scores more in the
        rows of a cohort.
    held_back : ndarray of int64 of shape (n_rows,)
        How many rows of the table each coded row stands for that were not looked at. They know
        nothing of the choice, and serve for tests against chance. Empty where no rows are kept.
    """

    left_out: tuple[str, ...]
    looked: tuple[Looked, ...]
    telling: int | None
    rows: int
    at_most: NDArray[np.float64]
    held_back: NDArray[np.int64]

    @property
    def exhaustive(self) -> int:
        """The largest size of which every set was looked at that any subgroup recorded."""
        return max((one.size for one in self.looked if one.whole), default=0)
