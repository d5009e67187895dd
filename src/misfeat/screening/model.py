"""Screened: which features of a wide table were kept, and how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Looked:
    """How many sets of one size were looked at."""

    size: int
    sets: int
    """Those that were scored."""
    of: int
    """Those that there are."""
    whole: bool
    """Whether all were scored that some subgroup recorded."""


@dataclass(frozen=True, eq=False)
class Screened:
    """What a search through a wide table kept, and what it left."""

    left_out: tuple[str, ...]
    """The features that were not kept, blocks by their names."""
    looked: tuple[Looked, ...]
    """What was searched, by size from 1 on."""
    telling: int | None
    """Features that were not kept for want of places, though they tell alone, or in a set that
    tells beyond its parts, more than chance explains. None where chance was not taken off."""
    rows: int
    """Rows of the table in which it was searched."""
    at_most: NDArray[np.float64]
    """Of shape (n_cohorts,): no set of the size that was asked for, whether it was looked at or
    not, scores more in the rows of a cohort."""
    held_back: NDArray[np.int64]
    """Of shape (n_rows,): how many rows of the table each coded row stands for that were not looked
    at. They know nothing of the choice, and serve for tests against chance. Empty where no rows
    are kept."""

    @property
    def exhaustive(self) -> int:
        """The largest size of which every set was looked at that any subgroup recorded."""
        return max((one.size for one in self.looked if one.whole), default=0)
