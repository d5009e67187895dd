"""Joint tables of a few features by subgroup and class, counted from coded rows (compiled)."""

from __future__ import annotations

import numpy as np

from misfeat.machine.compiling import compiled

CHUNK = 1024
"""Rows whose cells are numbered together, so that these stay in the first-level cache."""
GAP = np.int32(-1)


@compiled
def count_cells(codes, cards, features, target, weights, offsets, cohorts, counts):
    """Add the weights of rows to their cells, in the order of rows; rows with a gap are left out.

    Parameters
    ----------
    codes : ndarray of int16 of shape (n_features, n_rows)
        Categories; -1 where a value is missing.
    cards : ndarray of int64 of shape (n_features,)
        How many categories each feature has.
    features : ndarray of int64 of shape (size,)
        The features of the table, the last of which changes fastest.
    target : ndarray of int64 of shape (n_rows,)
        Classes.
    weights : ndarray of float64 of shape (n_rows,)
        What each row counts.
    offsets : ndarray of int64 of shape (n_cohorts + 1,)
        Subgroup k owns the rows ``offsets[k]:offsets[k + 1]``.
    cohorts : ndarray of int64
        The subgroups that are counted.
    counts : ndarray of float64 of shape (len(cohorts), n_cells, n_classes)
        What is added to.
    """
    n_classes = counts.shape[2]
    keys = np.empty(CHUNK, dtype=np.int32)
    for place in range(len(cohorts)):
        table = counts[place].ravel()
        end = offsets[cohorts[place] + 1]
        for first in range(offsets[cohorts[place]], end, CHUNK):
            n_rows = min(CHUNK, end - first)
            keys[:] = 0
            for f in features:
                card, line = np.int32(cards[f]), codes[f, first : first + n_rows]
                for i in range(n_rows):  # a gap makes the key negative, and it stays so
                    code = np.int32(line[i])
                    keys[i] = GAP if (code < 0) | (keys[i] < 0) else keys[i] * card + code
            for i in range(n_rows):
                if keys[i] >= 0:
                    table[keys[i] * n_classes + target[first + i]] += weights[first + i]
