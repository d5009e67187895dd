"""Sums of products that a table takes for each combination of group codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.coders import Coder, Reading


@dataclass(frozen=True)
class Variable:
    """A column as a number: its values less a centre, or the code of a value of two."""

    reading: Reading
    centre: float
    """Subtracted from the values, so that squares stay small."""
    coder: Coder | None
    """Gives the number where the column holds none: 0 or 1."""
    has_gaps: bool


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums over the rows of each combination of group codes."""

    codes: NDArray[np.integer]
    """Of shape (n_groupings, n_groups): the codes of each combination, in ascending order."""
    rows: NDArray[np.float64]
    """Of shape (n_groups,): rows of each, or the sums of their weights, as in all other sums."""
    both: NDArray[np.float64]
    """Of shape (n_groups, n, n), as the next two: rows in which both variables are recorded."""
    first: NDArray[np.float64]
    """Sums of variable i over those rows."""
    product: NDArray[np.float64]
    """Sums of products over those rows."""


def sums_wanted(variables: Sequence[Variable]) -> list[tuple[str, int, int]]:
    """Which sums a table must take, as (kind, i, j).

    With x the values (0 where missing) and u flags of being recorded: ``"product"`` sums x_i x_j,
    ``"first"`` x_i u_j, ``"both"`` u_i u_j. The others follow where there are no gaps.
    """
    n = len(variables)
    gaps = [i for i, variable in enumerate(variables) if variable.has_gaps]
    return [
        *(("product", i, j) for i in range(n) for j in range(i, n)),
        *(("first", i, i) for i in range(n)),
        *(("first", i, j) for i in range(n) for j in gaps if i != j),
        *(("both", i, j) for i in gaps for j in gaps if i <= j),
    ]


def group_sums(
    codes: NDArray[np.integer],
    rows: NDArray[np.float64],
    variables: Sequence[Variable],
    found: dict[tuple[str, int, int], NDArray[np.float64]],
) -> GroupSums:
    """Fill in the sums that were not taken because they follow from others."""
    n = len(variables)
    shape = (len(rows), n, n)
    product, first, both = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    recorded = [found["both", i, i] if v.has_gaps else rows for i, v in enumerate(variables)]
    for i in range(n):
        for j in range(n):
            product[:, i, j] = found["product", min(i, j), max(i, j)]
            first[:, i, j] = found.get(("first", i, j), found["first", i, i])
            if variables[i].has_gaps and variables[j].has_gaps:
                both[:, i, j] = found["both", min(i, j), max(i, j)]
            else:
                both[:, i, j] = recorded[i] if variables[i].has_gaps else recorded[j]
    return GroupSums(codes, rows, both, first, product)
