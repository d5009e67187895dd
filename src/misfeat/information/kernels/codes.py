"""Codes without gaps: values that do not occur in a cohort take no room in its tables."""

from __future__ import annotations

import numpy as np

from misfeat.runtime.compilation import compiled


@compiled
def squeeze(lines, most, cardinalities):
    """Renumber the codes of every line, in place, so that none is idle; negative codes stay.

    `most` is above every code. The number of codes that are left goes to `cardinalities`.
    """
    renumbered = np.empty(most, dtype=np.int64)
    for j in range(len(lines)):
        line = lines[j]
        renumbered[:] = 0
        for i in range(len(line)):
            code = np.int64(line[i])
            if code >= 0:
                renumbered[code] = 1
        n_codes = 0
        idle = False
        for code in range(most):
            if renumbered[code]:
                idle = idle or n_codes < code
                renumbered[code] = n_codes
                n_codes += 1
        if idle:
            for i in range(len(line)):
                code = np.int64(line[i])
                if code >= 0:
                    line[i] = renumbered[code]
        cardinalities[j] = max(n_codes, 1)
