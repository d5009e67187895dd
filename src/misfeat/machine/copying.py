"""Copying within kernels, value by value.

To assign an array to a part of another one, Numba compiles the words of an error as well, for
arrays whose shapes differ: numbers become text in every kernel that does so, which takes longer to
compile than most kernels do.
"""

from __future__ import annotations

from misfeat.machine.compiling import compiled


@compiled
def copy_values(source, target):
    """Copy an array to the beginning of another one.

    Examples
    --------
    >>> import numpy as np
    >>> target = np.zeros(3)
    >>> copy_values(np.array([4.0, 5.0]), target)
    >>> target.tolist()
    [4.0, 5.0, 0.0]
    """
    for i in range(len(source)):
        target[i] = source[i]


@compiled
def copy_lines(source, target):
    """Copy the lines of a table to the beginning of another one.

    Examples
    --------
    >>> import numpy as np
    >>> target = np.zeros((2, 2))
    >>> copy_lines(np.array([[4.0, 5.0]]), target)
    >>> target.tolist()
    [[4.0, 5.0], [0.0, 0.0]]
    """
    for i in range(len(source)):
        copy_values(source[i], target[i])
