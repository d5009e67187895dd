"""Step B1: how unrecorded features are distributed, through features that stand in for them.

A proxy is a feature z that both cohorts recorded and that stands in for the unrecorded q. Its
strength is R(q,z) = I(q;z|y) / H(q|y), averaged over the cohorts that recorded both; donors weigh
(1 - R)^-2 by it. See docs/explanation/completion.md (the transfer).
"""

import numpy as np

from misfeat.runtime.compilation import compiled, copy_lines

LEAST_STRENGTH = 0.02  # A weaker proxy is not used
MOST_STRENGTH = 0.95  # the strength that a donor's weight is capped at
PROXY_BACK_OFF = 1.0  # so many rows of p(q|y) are added to every p(q|z,y)


@compiled
def proxy_strengths(rows, pairs, strengths, first, last):
    """R(q,z) for the features q first to last and every z; -1 where no cohort recorded both."""
    cards, missing = rows.cards, rows.missing
    for q in range(first, last):
        for z in range(len(cards)):
            if z == q or min(cards[q], cards[z]) < 2:
                continue
            total, weight = 0.0, 0.0
            for j in range(len(missing)):
                if not missing[j, q] and not missing[j, z]:
                    table = _pair_table(pairs, j, cards, q, z)
                    total += table.sum() * _explained(table)
                    weight += table.sum()
            if weight > 0:
                strengths[q, z] = total / weight


@compiled
def _explained(table):
    """I(q;z|y) / H(q|y) in a table of (q, z, class)."""
    by_q, by_z = table.sum(axis=1), table.sum(axis=0)
    by_class = by_z.sum(axis=0)
    information, entropy = 0.0, 0.0
    for x in range(table.shape[0]):
        for y in range(table.shape[2]):
            if by_q[x, y] > 0:
                entropy -= by_q[x, y] * np.log(by_q[x, y] / by_class[y])
            for v in range(table.shape[1]):
                n = table[x, v, y]
                if n > 0:
                    information += n * np.log(n * by_class[y] / (by_q[x, y] * by_z[v, y]))
    total = table.sum()
    return information / total / max(entropy / total, 1e-9)


@compiled
def predict_margins(rows, counts, singles, pairs, strengths, margins, first, last):
    """p̂(q|y) of every feature q that the cohorts first to last never recorded, to `margins`."""
    cards, missing = rows.cards, rows.missing
    for i in range(first, last):
        for q in range(len(cards)):
            if not missing[i, q]:
                continue
            total = np.zeros((cards[q], margins.shape[3]))
            for j in range(len(missing)):
                if missing[j, q]:
                    continue
                # R(q,z*) and z* = argmax R(q,z) over the z that both cohorts recorded.
                both = np.where(missing[i] | missing[j], -1.0, strengths[q])
                proxy = np.argmax(both)
                strength = both[proxy]
                if strength > LEAST_STRENGTH:
                    strength = min(strength, MOST_STRENGTH)
                    own = counts[i, singles.starts[proxy] : singles.starts[proxy + 1]]
                    # Σ_z n_i(z|y) [T(q,z,y) + ε T(q|y)] / [T(z,y) + ε]
                    table = _pair_table(pairs, j, cards, q, proxy)
                    by_q, by_z = table.sum(axis=1), table.sum(axis=0)
                    prior = (by_q + 1e-6 / len(table)) / (by_z.sum(axis=0) + 1e-6)
                    shares = own / np.maximum(own.sum(axis=0), 1e-300) / (by_z + PROXY_BACK_OFF)
                    said = np.zeros(by_q.shape)
                    for v in range(len(own)):
                        said += shares[v] * (table[:, v] + PROXY_BACK_OFF * prior)
                else:
                    strength = 0.0
                    alone = singles.tables[j, singles.starts[q] : singles.starts[q + 1]]
                    said = alone / np.maximum(alone.sum(axis=0), 1e-300)  # T_j(q|y)
                total += rows.sizes[j] * (1.0 - strength) ** -2 * said
            # Shares of one for every class, none of them zero.
            whole = total.sum(axis=0)
            there = np.where(whole > 1e-300, 1.0, 0.0)
            share = total / np.maximum(whole, 1e-300) + 1e-6 / cards[q]
            copy_lines(share / (there + 1e-6), margins[i, q])


@compiled
def _pair_table(pairs, cohort, cards, q, z):
    """A donor's table of two features as (q, z, class), whichever of them comes first."""
    a, b = min(q, z), max(q, z)
    start = pairs.starts[b * (b - 1) // 2 + a]
    lines = pairs.tables[cohort, start : start + cards[a] * cards[b]]
    table = lines.copy().reshape((cards[a], cards[b], lines.shape[1]))
    return table if q < z else table.transpose(1, 0, 2).copy()
