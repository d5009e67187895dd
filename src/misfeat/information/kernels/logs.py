"""What counts and totals of cells are worth in a sum, looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.runtime.compilation import compiled_fast

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Logs(NamedTuple):
    """Tables of f(c) = c log c, and of g, which stands for f where a cell is taken as a whole.

    Attributes
    ----------
    f : ndarray of shape (n_counts,)
        f of counts of one class, as far as a table is worth its memory.
    g : ndarray of shape (n_totals,)
        For totals of cells: f again, or what chance would give (`misfeat.information.chance`).
    by_class : ndarray of shape (n_classes,) or (0,)
        Rows of each class, which say what chance gives beyond the table; empty where g is f.
    small : ndarray of shape (2**16,) or (0,)
        Sums over the lanes of a machine word whose counts are small, looked up as a whole
        (`misfeat.information.logs.small_cells`); empty where lanes have more than 16 bits.
    unit, shift : float
        What a row of equal weight weighs, and how many more of them a cell is worth, where g is
        chance and cells hold weights (`misfeat.information.kernels.chance`); 1 and 0 for rows.
    entropies : ndarray of shape (n_rows,) or (0,)
        The mean entropy of the classes in a cell of so many rows of equal weight, by chance alone.
    """

    f: NDArray[np.float64]
    g: NDArray[np.float64]
    by_class: NDArray[np.float64]
    small: NDArray[np.float64]
    unit: float
    shift: float
    entropies: NDArray[np.float64]


@compiled_fast
def f_of(count, f):
    """C log c, from the table as far as it reaches."""
    if count < len(f):
        return f[count]
    return count * np.log(np.float64(count))
