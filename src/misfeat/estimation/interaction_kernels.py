"""Joint tables of a few features, interactions in them, and regressions on sets (compiled)."""

import numpy as np

from misfeat.runtime.compilation import compiled

CHUNK = 1024  # rows whose cells are numbered together, so that these stay in the first-level cache
GAP = np.int32(-1)
TINY = 1e-300
LEAST_UNEXPLAINED = 1e-9  # below, eigenvalues are clipped one by one


@compiled
def cells_of(features, cards):
    """How many cells the table of some features has."""
    n_cells = 1
    for f in features:
        n_cells *= cards[f]
    return n_cells


@compiled
def number_cells(codes, cards, features, keys):
    """Write which cell each row is in; a gap makes the number negative, and it stays so."""
    keys[:] = 0
    for f in features:
        card = np.int32(cards[f])
        for i in range(codes.shape[1]):
            code = np.int32(codes[f, i])
            keys[i] = GAP if (code < 0) | (keys[i] < 0) else keys[i] * card + code


@compiled
def count_cells(codes, cards, sets, target, weights, offsets, cohorts, n_classes, counts):
    """Add the weights of rows without gaps to `counts`: by set, cohort, cell and class."""
    keys = np.empty(CHUNK, dtype=np.int32)
    begin = 0
    for features in sets:
        length = n_classes * cells_of(features, cards)
        for cohort in cohorts:
            table = counts[begin : begin + length]
            begin += length
            end = offsets[cohort + 1]
            for first in range(offsets[cohort], end, CHUNK):
                n_rows = min(CHUNK, end - first)
                number_cells(codes[:, first : first + n_rows], cards, features, keys)
                for i in range(n_rows):
                    if keys[i] >= 0:
                        table[keys[i] * n_classes + target[first + i]] += weights[first + i]


@compiled
def occupied_cells(codes, cards, sets, offsets, found):
    """How many cells of sets have rows without gaps in every cohort."""
    largest = 1
    for features in sets:
        largest = max(largest, cells_of(features, cards))
    last = np.zeros(largest, dtype=np.int32)  # the set and cohort that last had a row there
    keys = np.empty(CHUNK, dtype=np.int32)
    stamp = np.int32(0)
    for s in range(len(sets)):
        for cohort in range(len(offsets) - 1):
            stamp += np.int32(1)
            end = offsets[cohort + 1]
            for first in range(offsets[cohort], end, CHUNK):
                n_rows = min(CHUNK, end - first)
                number_cells(codes[:, first : first + n_rows], cards, sets[s], keys)
                for i in range(n_rows):
                    if keys[i] >= 0 and last[keys[i]] != stamp:
                        last[keys[i]] = stamp
                        found[cohort, s] += 1.0


@compiled
def add_main_effects(sets, cards, usual, slopes, fitted):
    """Add what each feature alone gives to `fitted`, of shape (cells of all sets, n_targets)."""
    begin = 0
    for s in range(len(sets)):
        n_cells = cells_of(sets[s], cards)
        inner, column = n_cells, 0
        for f in sets[s]:
            inner //= cards[f]
            for cell in range(n_cells):
                code = cell // inner % cards[f]
                if code != usual[f]:  # which has no column
                    own = slopes[s, column + code - (code > usual[f])]
                    for t in range(len(own)):
                        fitted[begin + cell, t] += own[t]
            column += cards[f] - 1
        begin += n_cells


@compiled
def residual_sums(counts, fitted, targets):
    """Rows of cells; sums and squares of the target less what is fitted, centred by subgroup."""
    n_cohorts, n_cells, n_classes = counts.shape
    n_targets = targets.shape[1]
    n_rows = np.zeros(n_cells)
    sums, squares = np.zeros((n_cells, n_targets)), np.zeros((n_cells, n_targets))
    own, first, second = np.empty(n_cells), np.empty_like(sums), np.empty_like(sums)
    centre = np.empty(n_targets)
    for k in range(n_cohorts):
        own[:], first[:], second[:], centre[:], whole = 0.0, 0.0, 0.0, 0.0, 0.0
        for cell in range(n_cells):
            for y in range(n_classes):
                count = counts[k, cell, y]
                if count > 0.0:
                    own[cell] += count
                    for t in range(n_targets):
                        first[cell, t] += count * targets[y, t]
                        second[cell, t] += count * targets[y, t] ** 2
            whole += own[cell]
            for t in range(n_targets):
                centre[t] += first[cell, t] - own[cell] * fitted[cell, t]
        centre /= max(whole, TINY)
        for cell in range(n_cells):
            n_rows[cell] += own[cell]
            for t in range(n_targets):
                left = fitted[cell, t] + centre[t]
                sums[cell, t] += first[cell, t] - own[cell] * left
                squares[cell, t] += second[cell, t] - left * (2 * first[cell, t] - own[cell] * left)
    return n_rows, sums, squares


@compiled
def interaction_statistic(n_rows, sums, squares, n_fitted):
    """U of `residual_sums`, and its standard deviation (step 4); 0 where rows are too few."""
    n_cells, n_targets = sums.shape
    several, whole, effect, deviation = 0, 0.0, 0.0, 0.0
    for cell in range(n_cells):
        several += n_rows[cell] > 1.0
        whole += n_rows[cell]
    if several - 1 <= n_fitted:
        return 0.0, 0.0
    for t in range(n_targets):
        variance = 0.0
        for cell in range(n_cells):
            variance += squares[cell, t]
        variance /= whole
        effect += n_fitted * variance  # the additive part was fitted
        for cell in range(n_cells):
            if n_rows[cell] > 1.0:
                share = 1.0 / n_rows[cell]
                effect += (sums[cell, t] ** 2 - squares[cell, t]) * share
                most = max(squares[cell, t], n_rows[cell] * variance)
                deviation += (most * share) ** 2 * (1.0 - share)
    return effect, np.sqrt(2.0 * deviation)


@compiled
def interaction_statistics(sets, cards, counts, fitted, targets, n_fitted, found):
    """The statistic of every set, and its standard deviation, as lines of `found`."""
    n_classes, begin = len(targets), 0
    n_cohorts = len(counts) // (n_classes * len(fitted))
    for s in range(len(sets)):
        n_cells = cells_of(sets[s], cards)
        end = begin + n_cells
        width = n_cohorts * n_classes
        table = counts[begin * width : end * width].reshape((n_cohorts, n_cells, n_classes))
        n_rows, sums, squares = residual_sums(table, fitted[begin:end], targets)
        found[s, 0], found[s, 1] = interaction_statistic(n_rows, sums, squares, n_fitted[s])
        begin = end


@compiled
def _factor(covariance, columns, ridge, root, inverse, pivots):
    """Write L, D and the inverse of L of a covariance of columns; whether all of D is positive."""
    positive = True
    for i in range(len(columns)):
        line = covariance[columns[i]]
        for j in range(i + 1):
            value = line[columns[j]]
            if i == j:
                value += ridge
            for k in range(j):
                value -= root[i, k] * root[j, k] * pivots[k]
            if i == j:
                pivots[i] = value if value != 0.0 else TINY
            else:
                root[i, j] = value / pivots[j]
        positive &= pivots[i] > 0.0
        # The inverse of the root, a line after the other.
        for j in range(i):
            value = root[i, j]
            for k in range(j + 1, i):
                value += root[i, k] * inverse[k, j]
            inverse[i, j] = -value
        inverse[i, i] = 1.0
    return positive


@compiled
def _unexplained(scaled, pivots, left):
    """What columns leave of the target, det(I - R), which is at most its least eigenvalue."""
    unexplained = 1.0
    for t in range(scaled.shape[1]):
        for u in range(t + 1):
            value = 1.0 if t == u else 0.0
            for i in range(len(scaled)):
                value -= scaled[i, t] * scaled[i, u] * pivots[i]
            for k in range(u):
                value -= left[t, k] * left[u, k] * left[k, k]
            left[t, u] = value if t == u else value / left[u, u]
        unexplained *= max(left[t, t], 0.0)
        if unexplained < LEAST_UNEXPLAINED:
            break
    return unexplained


@compiled
def solve_sets(covariance, across, columns, ridge, slopes, scores, diagonals):
    """Regress the target on the columns of every set, those that are not -1 (L D Lᵀ of each)."""
    # Slopes are left out where there is no room for them. Scores are -½ log det(I - R), NaN where
    # an eigenvalue of R may lie outside of 0 to 1 - 1e-9: covariances of rows with gaps may have
    # negative eigenvalues, so that there is no root, either.
    n_sets, width = columns.shape
    n_targets = across.shape[1]
    root, inverse = np.zeros((width, width)), np.zeros((width, width))
    pivots, scaled = np.empty(width), np.empty((width, n_targets))
    left = np.empty((n_targets, n_targets))  # I - R
    places, own = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    for s in range(n_sets):
        n_columns = 0
        for j in range(width):
            if columns[s, j] >= 0:
                places[n_columns], own[n_columns] = j, columns[s, j]
                n_columns += 1
        positive = _factor(covariance, own[:n_columns], ridge, root, inverse, pivots)
        for i in range(n_columns):
            for t in range(n_targets):
                value = across[own[i], t]
                for k in range(i):
                    value += inverse[i, k] * across[own[k], t]
                scaled[i, t] = value / pivots[i]
        for j in range(n_columns):
            diagonal = 0.0
            for i in range(j, n_columns):
                diagonal += inverse[i, j] ** 2 / pivots[i]
                for t in range(n_targets if len(slopes) else 0):
                    slopes[s, places[j], t] += inverse[i, j] * scaled[i, t]
            diagonals[s, places[j]] = diagonal
        unexplained = _unexplained(scaled[:n_columns], pivots, left) if positive else 0.0
        kept = unexplained >= LEAST_UNEXPLAINED
        scores[s] = -0.5 * np.log(unexplained) if kept else np.nan
