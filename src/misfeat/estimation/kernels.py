"""Joint tables of a few features, and what they say about interactions (compiled)."""

from __future__ import annotations

import numpy as np

from misfeat.runtime.compilation import compiled

CHUNK = 1024  # rows whose cells are numbered together, so that these stay in the first-level cache
GAP = np.int32(-1)


@compiled
def count_cells(codes, cards, features, target, weights, offsets, cohorts, counts):
    """Add the weights of rows without gaps to `counts`, (len(cohorts), n_cells, n_classes)."""
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


@compiled
def residual_sums(counts, fitted, targets):
    """Rows of cells; sums and squares of the target less what is fitted, centred by subgroup."""
    n_cohorts, n_cells, n_classes = counts.shape
    n_targets = targets.shape[1]
    n_rows = np.zeros(n_cells)
    sums, squares = np.zeros((n_cells, n_targets)), np.zeros((n_cells, n_targets))
    centre = np.empty(n_targets)
    for k in range(n_cohorts):
        whole = 0.0
        centre[:] = 0.0
        for cell in range(n_cells):
            for y in range(n_classes):
                count = counts[k, cell, y]
                if count > 0.0:
                    whole += count
                    for t in range(n_targets):
                        centre[t] += count * (targets[y, t] - fitted[cell, t])
        if whole == 0.0:
            continue
        centre /= whole
        for cell in range(n_cells):
            for y in range(n_classes):
                count = counts[k, cell, y]
                if count > 0.0:
                    n_rows[cell] += count
                    for t in range(n_targets):
                        left = targets[y, t] - fitted[cell, t] - centre[t]
                        sums[cell, t] += count * left
                        squares[cell, t] += count * left * left
    return n_rows, sums, squares


@compiled
def interaction_statistic(n_rows, sums, squares, n_fitted):
    """U of `residual_sums`, and its standard deviation (step 4); 0 where rows are too few."""
    n_cells, n_targets = sums.shape
    several = 0
    for cell in range(n_cells):
        several += n_rows[cell] > 1.0
    if several - 1 <= n_fitted:
        return 0.0, 0.0
    whole, effect, deviation = n_rows.sum(), 0.0, 0.0
    for t in range(n_targets):
        variance = squares[:, t].sum() / whole
        effect += n_fitted * variance  # the additive part was fitted
        for cell in range(n_cells):
            if n_rows[cell] > 1.0:
                share = 1.0 / n_rows[cell]
                effect += (sums[cell, t] ** 2 - squares[cell, t]) * share
                most = max(squares[cell, t], n_rows[cell] * variance)
                deviation += (most * share) ** 2 * (1.0 - share)
    return effect, np.sqrt(2.0 * deviation)
