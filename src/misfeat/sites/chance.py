"""Chance by which counts are rounded: that of a line of a table comes from the line alone.

Whoever could have the same rows rounded again and again, each time by other chance, would find the
counts by averaging. So chance depends on nothing that can be asked for anew: not on which other
columns a codebook holds, nor on their order, on how codes are called, on codes that no row has, or
on the multiple that counts are rounded to. It is drawn from the columns of the table, the exact
counts of the line, and a secret of the site.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BYTES = 8
"""Bytes that a number between 0 and 1 is made of."""


def chance_of(counts: NDArray[np.integer], columns: Sequence[str], secret: bytes) -> Floats:
    """A number between 0 and 1 for every count of a table.

    Counts have an axis a column, named in `columns`, and one of classes.

    Examples
    --------
    >>> table = np.array([[3, 1], [0, 4]])
    >>> one, other = chance_of(table, ["a"], b""), chance_of(table[::-1], ["a"], b"")
    >>> bool((one == other[::-1]).all()), bool((one == chance_of(table, ["b"], b"")).any())
    (True, False)
    """
    order = np.argsort(columns, kind="stable").tolist()
    lines = counts.transpose(*order, -1).reshape(-1, counts.shape[-1])
    name = repr(sorted(columns)).encode()
    found = np.zeros(lines.shape)
    seen: Counter[bytes] = Counter()
    for place in np.flatnonzero(lines.any(axis=1)).tolist():
        line = lines[place].astype("<i8").tobytes()
        found[place] = _numbers(name + line + seen[line].to_bytes(BYTES), len(lines.T), secret)
        seen[line] += 1
    ordered = found.reshape(*(counts.shape[axis] for axis in order), counts.shape[-1])
    return ordered.transpose(*np.argsort(order).tolist(), -1)


def _numbers(about: bytes, many: int, secret: bytes) -> Floats:
    drawn = hashlib.shake_256(len(secret).to_bytes(BYTES) + secret + about).digest(BYTES * many)
    found: Floats = np.frombuffer(drawn, dtype="<u8") / 2.0**64
    return found
