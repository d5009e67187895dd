"""f(c) = c log c of counts, looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.machine.compiling import compiled_fast

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Logs(NamedTuple):
    """Tables of f(c) = c log c.

    Attributes
    ----------
    f : ndarray of shape (n_counts,)
        f of counts, as far as a table is worth its memory.
    small : ndarray of shape (2**16,) or (0,)
        Sums of f over the lanes of a machine word whose counts are small, looked up as a whole
        (`misfeat.information.plan.small_cells`); empty where lanes have more than 16 bits.
    """

    f: NDArray[np.float64]
    small: NDArray[np.float64]


@compiled_fast
def f_of(count, f):
    """C log c, from the table as far as it reaches."""
    if count < len(f):
        return f[count]
    return count * np.log(np.float64(count))
